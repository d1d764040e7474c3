"""Which host a call belongs to: Spark if both frames are Spark's, else Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.plan.query import read_query
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.plan.plan import Plan


def run(frames: dict[str, Any], **call: Any) -> Any:
    """Join named frames."""
    if len(frames) > 2:  # noqa: PLR2004 -- a join of three and more is a cascade of joins of two
        return _many(frames).run(frames, **call)
    call.pop("order", None)
    if _are_spark(frames):
        from dovetail._hosts.spark import join as spark  # noqa: PLC0415 -- only for callers who have Spark

        left, right = spark.open_frames(frames)
        return spark.run(read_query(_inputs(left, right), **call), left, right)
    from dovetail._hosts.arrow import join as arrow  # noqa: PLC0415
    from dovetail._hosts.arrow.frames import open_frame  # noqa: PLC0415

    ours, theirs = (open_frame(name, frame) for name, frame in frames.items())
    return arrow.run(read_query(_tables(frames, ours, theirs), **call), ours, theirs)


def describe(frames: dict[str, Any], **call: Any) -> Plan:
    """Explain the join of named frames."""
    if len(frames) > 2:  # noqa: PLR2004 -- as above
        plan: Plan = _many(frames).explain(frames, **call)
        return plan
    call.pop("order", None)
    if _are_spark(frames):
        from dovetail._hosts.spark import explain as spark_explain  # noqa: PLC0415
        from dovetail._hosts.spark import join as spark  # noqa: PLC0415

        left, right = spark.open_frames(frames)
        return spark_explain.explain(read_query(_inputs(left, right), **call), left, right)
    from dovetail._hosts.arrow import explain as arrow  # noqa: PLC0415
    from dovetail._hosts.arrow.frames import open_frame  # noqa: PLC0415

    ours, theirs = (open_frame(name, frame) for name, frame in frames.items())
    return arrow.explain(read_query(_tables(frames, ours, theirs), **call), ours, theirs)


def _many(frames: dict[str, Any]) -> Any:
    """The host's way with three and more frames."""
    if _are_spark(frames):
        from dovetail._hosts.spark import many as spark  # noqa: PLC0415

        return spark
    from dovetail._hosts.arrow import many as arrow  # noqa: PLC0415

    return arrow


def _are_spark(frames: dict[str, Any]) -> bool:
    """Whether all frames are Spark's; some alone are a mistake."""
    spark = {name: _is_spark(frame) for name, frame in frames.items()}
    if len(set(spark.values())) > 1:
        names = sorted(spark, key=lambda name: not spark[name])
        raise UsageError.mixed_hosts(names[0], names[-1])
    return all(spark.values())


def _is_spark(frame: Any) -> bool:
    return any(base.__module__.startswith("pyspark.") and base.__name__ == "DataFrame" for base in type(frame).__mro__)


def _inputs(left: Any, right: Any) -> Inputs:
    return Inputs(Input(left.name, tuple(left.frame.columns)), Input(right.name, tuple(right.frame.columns)))


def _tables(frames: dict[str, Any], left: Any, right: Any) -> Inputs:
    names = list(frames)
    return Inputs(Input(names[0], tuple(left.table.column_names)), Input(names[1], tuple(right.table.column_names)))
