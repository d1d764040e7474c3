"""Two jobs of a session at once: what one leaves idle, the other can use."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from pyspark.util import inheritable_thread_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

First = TypeVar("First")
Second = TypeVar("Second")


def at_once(session: SparkSession, first: Callable[[], First], second: Callable[[], Second]) -> tuple[First, Second]:
    """What both return; the first runs in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(inheritable_thread_target(session)(first))
        found = second()
        return begun.result(), found
