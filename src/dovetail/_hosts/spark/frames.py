"""The caller's DataFrames, checked before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from dovetail.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
