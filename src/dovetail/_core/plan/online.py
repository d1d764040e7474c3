"""The choices of the online engine beside the window join that it computes, checked once and frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dovetail._core.plan.knobs import read_choice, read_flag
from dovetail._core.plan.offset import PerRow, read_offset, size_of
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.condition.inputs import Input
    from dovetail._core.plan.offset import Offset

ALGORITHMS = ("key", "split", "scale")
SYNCS = ("always", "interval", "never")
AUTO = "auto"
MOST_JOINERS = 1_024


@dataclass(frozen=True, slots=True)
class Choices:
    """How the engine joins and how late rows may be; no lateness stands for one found from the data.

    `keep_given` is `keep` as the caller wrote it.

    `index`, `schedule` and `incremental` are the parts of `scale`; `delta`, `decay` and `period` those of its schedule,
    the last in rows.
    """

    algorithm: str
    joiners: int
    lateness: Offset | None
    keep: Offset | None
    keep_given: object
    index: bool
    schedule: bool
    incremental: bool
    delta: float
    decay: float
    period: int
    sync: str


def read_choices(base: Input, given: dict[str, Any]) -> Choices:
    """Check the engine's own arguments and freeze them."""
    for option, known in (("algorithm", ALGORITHMS), ("sync", SYNCS)):
        read_choice(option, given[option], known)
    for option in ("joiners", "period"):
        value = given[option]
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError.below_one(option, value)
    if given["joiners"] > MOST_JOINERS:
        raise UsageError.too_many_joiners(given["joiners"], MOST_JOINERS)
    for option in ("delta", "decay"):
        value = given[option]
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= 1:
            raise UsageError.no_share(option, value)
    scale = given["algorithm"] == "scale"
    parts: dict[str, Any] = {
        option: read_flag(option, given[option]) and scale for option in ("index", "schedule", "incremental")
    }
    parts["incremental"] = parts["incremental"] and parts["index"]
    auto = isinstance(given["lateness"], str) and given["lateness"] == AUTO
    lateness = None if auto else _distance("lateness", given["lateness"], base)
    keep = None if given["keep"] is None else _distance("keep", given["keep"], base)
    rest = {option: given[option] for option in ("algorithm", "joiners", "delta", "decay", "period", "sync")}
    return Choices(lateness=lateness, keep=keep, keep_given=given["keep"], **parts, **rest)


def _distance(option: str, given: object, base: Input) -> Offset:
    """A distance that is the same for all rows, and not negative."""
    offset = read_offset(option, given, base)
    if isinstance(offset, PerRow) or (size_of(offset) or 0) < 0:
        raise UsageError.no_fixed_distance(option, given)
    return offset
