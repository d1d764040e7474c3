"""The caller's DataFrames, checked before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from dovetail.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


CORES_UNKNOWN = 8
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class SparkFrame:
    """A DataFrame and its name in the condition."""

    name: str
    frame: DataFrame

    @property
    def session(self) -> Any:
        """The session that the frame belongs to."""
        return self.frame.sparkSession


def open_frames(frames: dict[str, Any]) -> tuple[SparkFrame, ...]:
    """Refuse what cannot be joined: stopped sessions, streams, frames of two sessions."""
    opened = tuple(SparkFrame(name, frame) for name, frame in frames.items())
    for own in opened:
        if _is_stopped(own):
            raise UsageError.stopped_session(own.name)
        if own.frame.isStreaming:
            raise UsageError.streaming(own.name)
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


def cores_of(frame: DataFrame) -> int:
    """How many tasks run at once; Connect does not tell."""
    try:
        return max(1, int(frame.sparkSession.sparkContext.defaultParallelism))
    except (AttributeError, PySparkException):
        return CORES_UNKNOWN


def host_of(frame: DataFrame) -> str:
    """The driver's own address, where executors find it; Connect does not tell, and its server is on this machine."""
    try:
        return str(frame.sparkSession.sparkContext.getConf().get("spark.driver.host", LOOPBACK))
    except (AttributeError, PySparkException):
        return LOOPBACK
