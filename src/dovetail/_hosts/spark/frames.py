"""The caller's DataFrames, checked before anything runs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from dovetail._core.condition.dialect import AsWritten, DoubleQuoted, Unescaped, UnescapedDoubleQuoted
from dovetail._core.condition.inputs import Input
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


MANY_ROWS = 1 << 20
LOOPBACK = "127.0.0.1"
_CHAR_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
"""Where Spark keeps the type that a column of strings was declared with."""
_NO_CHAR = "spark.sql.legacy.charVarcharAsString"
_FILLED_AS_READ, _NEVER_FILLED = "spark.sql.readSideCharPadding", "spark.sql.legacy.noCharPaddingInPredicate"


_CORES: dict[str, int] = {}
"""What was found of sessions of Connect, by their ids."""


@dataclass(frozen=True, slots=True)
class SparkFrame:
    """A DataFrame and its name in the condition."""

    name: str
    frame: DataFrame

    @property
    def session(self) -> Any:
        """The session that the frame belongs to."""
        return self.frame.sparkSession

    @property
    def input(self) -> Input:
        """What a condition may speak of, names told apart as the session does."""
        case_sensitive = is_set(self.session, "spark.sql.caseSensitive")
        own = Input(self.name, tuple(self.frame.columns), case_sensitive, dialect_of(self.session))
        lengths = tuple(_fixed_lengths(self.frame.schema))
        if not lengths or is_set(self.session, _NO_CHAR):
            return own
        unfilled = not is_set(self.session, _FILLED_AS_READ) and not is_set(self.session, _NEVER_FILLED)
        return replace(own, lengths=lengths, unfilled=unfilled)


def _fixed_lengths(schema: StructType) -> Iterator[tuple[str, int]]:
    """The columns of type CHAR, which Spark calls strings, and their lengths."""
    for own in schema:
        found = re.fullmatch(r"char\((\d+)\)", str(own.metadata.get(_CHAR_TYPE)))
        if found:
            yield own.name, int(found[1])


def open_frames(frames: dict[str, Any]) -> tuple[SparkFrame, ...]:
    """Refuse what cannot be joined: stopped sessions, frames of two sessions."""
    opened = tuple(SparkFrame(name, frame) for name, frame in frames.items())
    for own in opened:
        if _is_stopped(own):
            raise UsageError.stopped_session(own.name)
        if own.session is not opened[0].session:
            raise UsageError.other_session(opened[0].name, own.name)
    return opened


def _is_stopped(own: SparkFrame) -> bool:
    """Ask the session for something that only a live one knows."""
    if hasattr(own.session, "is_stopped"):
        return bool(own.session.is_stopped)
    try:
        return int(own.session.sparkContext.defaultParallelism) < 1
    except (AttributeError, PySparkException):
        return True


def is_set(session: Any, name: str) -> bool:
    """Whether a setting of a session is true."""
    return bool(session.conf.get(name).lower() == "true")


def dialect_of(session: Any) -> type[AsWritten]:
    """The dialect of a session's texts; without ANSI mode, double quotes are for texts whatever else is set."""
    named = is_set(session, "spark.sql.ansi.doubleQuotedIdentifiers") and is_set(session, "spark.sql.ansi.enabled")
    if is_set(session, "spark.sql.parser.escapedStringLiterals"):
        return UnescapedDoubleQuoted if named else Unescaped
    return DoubleQuoted if named else AsWritten


def cores_of(frame: DataFrame) -> int:
    """How many tasks run at once; of Connect, the number of tasks that share out a range of numbers."""
    session: Any = frame.sparkSession
    try:
        return max(1, int(session.sparkContext.defaultParallelism))
    except (AttributeError, PySparkException):
        if session.session_id not in _CORES:
            numbered = session.range(MANY_ROWS).select(F.spark_partition_id().alias("task"))
            _CORES[session.session_id] = 1 + int(numbered.agg(F.max("task")).head()[0])
        return _CORES[session.session_id]


def host_of(frame: DataFrame) -> str:
    """The driver's own address, where executors find it; Connect does not tell, and its server is on this machine."""
    try:
        return str(frame.sparkSession.sparkContext.getConf().get("spark.driver.host", LOOPBACK))
    except (AttributeError, PySparkException):
        return LOOPBACK
