"""Which host a call belongs to: Spark if both frames are Spark's, the streams' if one of them streams, else Arrow."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.plan.knobs import PROGRESSIVE
from dovetail._core.plan.online import AUTO
from dovetail._core.plan.query import read_query
from dovetail._core.plan.timed import WindowJoin, read_asof, read_window_join
from dovetail._core.plan.validity import read_temporal
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail._core.plan.plan import Plan


def run(frames: dict[str, Any], **call: Any) -> Any:
    """Join named frames."""
    if _are_streams(frames):
        return _streamed("join", frames, call)
    if _is_progressive(call):
        return _progressive(frames, call)
    if len(frames) > 2:  # noqa: PLR2004 -- a join of three and more is a cascade of joins of two
        return _many(frames).run(frames, **call)
    return _of_batch_frames("join", read_query, frames, call)


def _is_progressive(call: dict[str, Any]) -> bool:
    asked = call.get("algorithm")
    return isinstance(asked, str) and asked == PROGRESSIVE  # an array has no truth


def _progressive(frames: dict[str, Any], call: dict[str, Any]) -> Any:
    """Join frames or iterators of batches by the progressive merge join; of iterators, the result is a reader."""
    from dovetail._hosts.arrow.streams.run import as_streams, progressive  # noqa: PLC0415 -- only if asked for

    _check_progressive(frames, call)
    inputs, restore = as_streams(frames)
    return restore(progressive(inputs, {name: call[name] for name in ("on", "how", "select")}, {}))


def _check_progressive(frames: dict[str, Any], call: dict[str, Any]) -> None:
    if any(map(_is_spark, frames.values())):
        raise UsageError.only_in_process(PROGRESSIVE)
    if len(frames) > 2:  # noqa: PLR2004 -- its groups are of two inputs
        raise UsageError.two_streams(len(frames))
    for name, value in call.items():
        if value is not None and name not in ("algorithm", "on", "how", "select"):
            raise UsageError.idle_knob(name, value, PROGRESSIVE)


def run_asof(frames: dict[str, Any], **call: Any) -> Any:
    """Join each row of the first frame with the nearest one in time."""
    return _answer("asof", read_asof, frames, call)


def run_window(frames: dict[str, Any], **call: Any) -> Any:
    """Fold, for each row of the first frame, the rows around its time."""
    return _answer("window", read_window_join, frames, call)


def run_temporal(frames: dict[str, Any], **call: Any) -> Any:
    """Join two and more frames while their rows are valid."""
    return _temporal(frames, call)


def describe(frames: dict[str, Any], **call: Any) -> Plan:
    """Explain the join of named frames."""
    if _are_streams(frames):
        return cast("Plan", _streamed("join", frames, call, verb="explain"))
    if _is_progressive(call):
        _check_progressive(frames, call)
    elif len(frames) > 2:  # noqa: PLR2004 -- a join of three and more is a cascade of joins of two
        return cast("Plan", _many(frames).explain(frames, **call))
    return cast("Plan", _of_batch_frames("explain", read_query, frames, call))


def describe_asof(frames: dict[str, Any], **call: Any) -> Plan:
    """Explain an as-of join."""
    return cast("Plan", _answer("asof", read_asof, frames, call, verb="explain"))


def describe_window(frames: dict[str, Any], **call: Any) -> Plan:
    """Explain a window join."""
    return cast("Plan", _answer("window", read_window_join, frames, call, verb="explain"))


def describe_temporal(frames: dict[str, Any], **call: Any) -> Plan:
    """Explain a temporal join."""
    return cast("Plan", _temporal(frames, call, verb="explain"))


def _temporal(frames: dict[str, Any], call: dict[str, Any], verb: str = "run") -> Any:
    if _are_streams(frames):
        return _streamed("temporal", frames, call, verb)
    spark = _are_spark(frames)
    module = _host("spark" if spark else "arrow", "temporal")
    opened = module.frames_of(frames)
    if spark:
        call = _at_one_moment(call, next(iter(opened.values())).session)
    inputs = tuple(module.inputs_of(opened))
    return getattr(module, verb)(read_temporal(inputs, **call), opened)


def _answer(
    what: str, read: Callable[..., Any], frames: dict[str, Any], call: dict[str, Any], verb: str = "run"
) -> Any:
    """Hand a call to the host of its frames."""
    if _are_streams(frames):
        return _streamed(what, frames, call, verb)
    return _of_batch_frames(what, read, frames, call, verb)


def _of_batch_frames(
    what: str, read: Callable[..., Any], frames: dict[str, Any], call: dict[str, Any], verb: str = "run"
) -> Any:
    """Read a call over batch frames, which do not stream; each host has a module for each thing to do."""
    if _are_spark(frames):
        from dovetail._hosts.spark.frames import open_frames  # noqa: PLC0415 -- only for callers who have Spark

        left, right = open_frames(frames)
        call = _at_one_moment(call, left.session)
        return getattr(_host("spark", what), verb)(read(Inputs(left.input, right.input), **call), left, right)
    from dovetail._hosts.arrow.frames import open_frames as open_tables  # noqa: PLC0415

    ours, theirs = open_tables(frames).values()
    asked = read(_tables(frames, ours, theirs), **call)
    by_engine = isinstance(asked, WindowJoin) and asked.algorithm != AUTO
    module = _host("online", "tables") if by_engine else _host("arrow", what)
    return getattr(module, verb)(asked, ours, theirs)


def _at_one_moment(call: dict[str, Any], session: Any) -> dict[str, Any]:
    """The call, in which all words for the present mean one moment."""
    from dovetail._hosts.spark.now import at_one_moment  # noqa: PLC0415 -- only for callers who have Spark

    return at_one_moment(call, session)


def _host(name: str, what: str) -> Any:
    return import_module(f"dovetail._hosts.{name}.{what}")


def _many(frames: dict[str, Any]) -> Any:
    """The host's way with three and more frames."""
    return _host("spark" if _are_spark(frames) else "arrow", "many")


def _are_spark(frames: dict[str, Any]) -> bool:
    """Whether all frames are Spark's; it is a mistake if only some of them are."""
    spark = {name: _is_spark(frame) for name, frame in frames.items()}
    if len(set(spark.values())) > 1:
        names = sorted(spark, key=lambda name: not spark[name])
        raise UsageError.mixed_hosts(names[0], names[-1], type(frames[names[-1]]).__name__)
    for name, frame in frames.items():
        if type(frame).__module__.startswith("pyspark.pandas."):
            raise UsageError.pandas_on_spark(name)
    return all(spark.values())


def _is_spark(frame: Any) -> bool:
    return any(base.__module__.startswith("pyspark.") and base.__name__ == "DataFrame" for base in type(frame).__mro__)


def _are_streams(frames: dict[str, Any]) -> bool:
    """Whether all frames are Spark's, and one of them streams."""
    return any(getattr(own, "isStreaming", None) is True for own in frames.values()) and _are_spark(frames)


def _streamed(what: str, frames: dict[str, Any], call: dict[str, Any], verb: str = "run") -> Any:
    return getattr(_host("stream", verb), verb)(what, frames, call)


def _tables(frames: dict[str, Any], left: Any, right: Any) -> Inputs:
    names = list(frames)
    return Inputs(Input(names[0], tuple(left.table.column_names)), Input(names[1], tuple(right.table.column_names)))
