"""Equality joins that leave the large side where it is: which side travels, and how.

Spark cannot broadcast a side whose rows the join keeps. These joins can: what the small side has found is told by
marks, which are far smaller than the rows of the large side.

    der            the small side goes to every task; which of its rows found no partner is told by bits
    replicate      likewise, but the rows themselves are told that found none (DOJA)
    ring           the small side goes from task to task with its marks, each holding a part of the large side (SOJA)
    redistribute   both sides go to where their key belongs, as Spark does it (ROJA)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING, Literal

from dovetail._core.plan.decide import BROADCAST_BYTES, size_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import How

Wanted = Literal["unmatched", "matched"] | None

_KEPT: dict[str, frozenset[str]] = {
    "inner": frozenset(),
    "left": frozenset({"left"}),
    "right": frozenset({"right"}),
    "full": frozenset({"left", "right"}),
    "semi": frozenset({"left"}),
    "anti": frozenset({"left"}),
}
WORTH_BYTES = 16 << 20
"""A large side below this is shuffled faster than a small one is brought."""
TIMES_LARGER = 4
RING_TIMES = 16
"""How many times larger the side that stays must be for a ring, whose rows pass through Python."""
MOST_WORKERS = 1_024
"""Threads or processes of one machine; what they say to each other grows with their square."""
HOT = 0.2
"""A key with this share of the rows, which a shuffle brings to one task, makes up for it."""


@dataclass(frozen=True, slots=True)
class Outer:
    """The algorithm, the side that travels, and why."""

    algorithm: str
    travels: Side
    reason: str


@dataclass(frozen=True, slots=True)
class Sized:
    """An input by name, and about how many bytes of it would travel; endless if nobody knows."""

    name: str
    size: float


@dataclass(frozen=True, slots=True)
class Kept:
    """Which rows a join gives: its pairs, and of either side the rows that are `unmatched` or `matched`."""

    pairs: bool
    travelling: Wanted
    stored: Wanted

    @classmethod
    def of(cls, how: How, travels: Side) -> Kept:
        """Read a join type from the side that travels."""
        if how in ("semi", "anti"):
            wanted: Wanted = "matched" if how == "semi" else "unmatched"
            ours, theirs = (wanted, None) if travels == "left" else (None, wanted)
            return cls(pairs=False, travelling=ours, stored=theirs)
        stays: Side = "right" if travels == "left" else "left"
        travelling: Wanted = "unmatched" if keeps(how, travels) else None
        stored: Wanted = "unmatched" if keeps(how, stays) else None
        return cls(pairs=True, travelling=travelling, stored=stored)


def keeps(how: How, side: Side) -> bool:
    """Whether a join type keeps the rows of a side that have no partner, or tells them apart."""
    return side in _KEPT[how]


def asked_outer(algorithm: str, left: Sized, right: Sized) -> Outer:
    """The choice of the caller; the smaller side travels."""
    travels: Side = "left" if left.size <= right.size else "right"
    return Outer(algorithm, travels, f"{algorithm} was asked for; {_smaller(left, right).name} travels")


def chosen_outer(how: How, left: Sized, right: Sized, *, hot: Callable[[], float]) -> Outer | None:
    """What suits the sizes; None if nothing speaks against Spark's own join.

    A ring is only spoken of: it takes all slots at once and passes all rows through Python, which is for the caller to
    choose. `hot` is the share of the commonest key, which takes time to find.
    """
    small, large = _smaller(left, right), _larger(left, right)
    travels: Side = "left" if small is left else "right"
    if isinf(small.size) or not keeps(how, travels) or large.size < max(WORTH_BYTES, TIMES_LARGER * small.size):
        return None
    told = f"{small.name}, about {size_text(small.size)}, whose rows are kept,"
    stays = f"{large.name}, about {size_text(large.size)},"
    if small.size <= BROADCAST_BYTES:
        marks = "what found no partner is told by bits"
        return Outer("der", travels, f"{told} travels to every task; {stays} is not shuffled; {marks}")
    share = 1.0 if large.size >= RING_TIMES * small.size else hot()
    if share < HOT:
        return None
    skew = "" if large.size >= RING_TIMES * small.size else f"; one key has {share:.0%} of the rows of {large.name}"
    advice = f"algorithm='ring' would leave {stays} where it is"
    return Outer("spark", travels, f"{told} is too much for every task, so Spark shuffles both; {advice}{skew}")


def _smaller(left: Sized, right: Sized) -> Sized:
    return left if left.size <= right.size else right


def _larger(left: Sized, right: Sized) -> Sized:
    return right if left.size <= right.size else left
