"""What Spark's analysis refuses, told in one line."""

from __future__ import annotations

from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING

from pyspark.logger import PySparkLogger

if TYPE_CHECKING:
    from collections.abc import Iterator
    from logging import LogRecord

LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Where Spark logs, as some kilobytes of JSON, whatever it raises of a query."""


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep what Spark raises in this thread out of its log: the caller catches it and tells it in one line."""
    here = get_ident()

    def from_elsewhere(record: LogRecord) -> bool:
        return record.thread != here

    loggers = [PySparkLogger.getLogger(name) for name in LOGGERS]
    for own in loggers:
        own.addFilter(from_elsewhere)
    try:
        yield
    finally:
        for own in loggers:
            own.removeFilter(from_elsewhere)


def first_line(error: Exception) -> str:
    """What a Spark exception says, in one line."""
    return " ".join(str(error).split(" SQLSTATE:")[0].split())
