"""Kernels side by side: they hold no GIL, so a few threads share the cores."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

T = TypeVar("T")

WORTH_THREADS = 100_000
"""Fewer rows than this are done before a second thread has started."""


def together(threads: int, calls: Sequence[Callable[[], T]]) -> list[T]:
    """Run calls at once, as many as there are threads; return what they return.

    The caller's thread is one of them and takes, after the first call, the last ones that nobody has begun. A thread
    that waits would have to be woken, and may then stand behind another on one core while the next core idles. Where
    a call fails, nothing of the others runs on behind its error.
    """
    if threads == 1 or len(calls) <= 1:
        return [call() for call in calls]
    others = [_pool(threads - 1).submit(call) for call in calls[1:]]
    try:
        first, last = calls[0](), []
        while others and others[-1].cancel():
            last.append(calls[len(others)]())
            others.pop()
        return [first, *(own.result() for own in others), *reversed(last)]
    except BaseException:
        wait([own for own in others if not own.cancel()])
        raise


def in_turn(threads: int, calls: Sequence[Callable[[], T]]) -> Iterator[T]:
    """Run calls at once, a few ahead of whoever takes what they return; it comes in the order of the calls."""
    if threads == 1 or len(calls) == 1:
        yield from (call() for call in calls)
        return
    running: deque[Future[T]] = deque()
    for call in calls:
        running.append(_pool(threads).submit(call))
        if len(running) > 2 * threads:
            yield running.popleft().result()
    yield from (own.result() for own in running)


def shares(size: int, threads: int) -> list[slice]:
    """Even shares of some rows, one per thread if they are worth it."""
    number = threads if size >= WORTH_THREADS else 1
    edges = [size * i // number for i in range(number + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """One pool per number of threads, kept: starting threads costs more than a short kernel."""
    return ThreadPoolExecutor(threads, thread_name_prefix="dovetail")


if hasattr(os, "register_at_fork"):  # a forked process has the pool, but none of its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
