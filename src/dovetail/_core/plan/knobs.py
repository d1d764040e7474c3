"""How a join is to be carried out: the algorithm, and what the partitioned theta-joins may be told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

Cuts = Literal["width", "quantile"]

FAMILY = ("range-based", "one-bucket", "cross-filter", "fast-theta", "prefap")
OUTER = ("ring", "redistribute", "replicate", "der")
"""Equality joins by what moves: the small side around a ring, both sides, the small side everywhere, or row ids."""
PROGRESSIVE = "progressive"
"""The progressive merge join, over frames or streams of this process."""
ALGORITHMS = ("auto", "broadcast", "range", *FAMILY, *OUTER, PROGRESSIVE, "spark")
Order = Literal["auto", "given"]
ORDERS: tuple[Order, Order] = ("auto", "given")
CUTS: tuple[Cuts, Cuts] = ("width", "quantile")
_TAKERS = {"prefilter": ("prefap",), "amalgamate": ("prefap",), "cuts": ("fast-theta", "prefap")}
MOST_PARTITIONS = 1_000_000
MOST_ROWS = 2**63 - 1
_PARTS = {"width": 10, "quantile": 32}
"""The document's own number by width. By quantile more: 32 leave a few hundredths of products above the results."""


@dataclass(frozen=True, slots=True)
class Knobs:
    """An algorithm, and how it cuts.

    `partitions` is the document's p, `window` its w: without one, a side's own number of rows.
    """

    algorithm: str = "auto"
    partitions: int | None = None
    window: int | None = None
    prefilter: bool = True
    amalgamate: bool = True
    cuts: Cuts = "width"

    @property
    def partitioned(self) -> bool:
        """Whether the algorithm is a partitioned theta-join."""
        return self.algorithm in FAMILY

    @property
    def outer(self) -> bool:
        """Whether the algorithm is one of the outer joins that leave the large side where it is, or their rival."""
        return self.algorithm in OUTER

    @property
    def parts(self) -> int:
        """Into how many cells to cut a side at first."""
        return self.partitions or _PARTS[self.cuts]

    def __str__(self) -> str:
        steps = "" if self.algorithm != "prefap" else _steps(prefilter=self.prefilter, amalgamate=self.amalgamate)
        cut = f", cut by {self.cuts}" if self.algorithm in _TAKERS["cuts"] else ""
        window = f", windows of {self.window:,} rows" if self.window else ""
        return f"p = {self.parts}{cut}{steps}{window}"

    def as_call(self) -> dict[str, Any]:
        """The same choices as arguments of a call."""
        given: dict[str, Any] = {"algorithm": self.algorithm, "partitions": self.partitions, "window": self.window}
        return given | {name: getattr(self, name) for name, takers in _TAKERS.items() if self.algorithm in takers}

    def without_prefap(self) -> Knobs:
        """The same, without the two steps that make Prefap of FastThetaJoin."""
        return replace(self, prefilter=False, amalgamate=False)


def _steps(*, prefilter: bool, amalgamate: bool) -> str:
    return f"{'' if prefilter else ', no prefilter'}{'' if amalgamate else ', boundaries not amalgamated'}"


def read_knobs(algorithm: str, partitions: object = None, window: object = None, **given: object) -> Knobs:
    """Check the choices of a call and freeze them."""
    read_choice("algorithm", algorithm, ALGORITHMS)
    parts, rows = _count(partitions), _count(window)
    if partitions is not None and (parts is None or parts > MOST_PARTITIONS):
        raise UsageError.number_of_partitions(partitions, MOST_PARTITIONS)
    if window is not None and rows is None:
        raise UsageError.too_small_window(window)
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    for name, value in chosen.items():
        _check(name, value, algorithm)
    return Knobs(algorithm, parts, rows, **chosen)


def read_order(order: str | None) -> Order:
    """In which order to join the inputs."""
    if order is not None:
        read_choice("order", order, ORDERS)
    return "given" if order == "given" else "auto"


def read_choice(option: str, value: object, known: Collection[str]) -> str:
    """One of some words. An array among the options would be compared with each, and has no truth."""
    if not isinstance(value, str) or value not in known:
        raise UsageError.unknown_choice(option, value, known)
    return value


def read_path(option: str, value: object) -> Path:
    """A place in the file system, whether there is anything or not."""
    if not isinstance(value, (str, PathLike)) or not str(value) or "\0" in str(value):
        raise UsageError.no_path(option, value)
    return Path(value)


def read_flag(option: str, value: object) -> bool:
    """A choice between yes and no."""
    if not isinstance(value, bool):
        raise UsageError.no_flag(option, value)
    return value


def _check(name: str, value: object, algorithm: str) -> None:
    if algorithm not in _TAKERS[name]:
        raise UsageError.knob_of_others(name, value, algorithm, _TAKERS[name])
    if name != "cuts":
        read_flag(name, value)
    else:
        read_choice(name, value, CUTS)


def _count(value: object) -> int | None:
    """A number of at least one, in 64 bits, which no input's rows exceed; None of what counts nothing."""
    # NumPy's lengths of time pass for whole numbers, but cannot stand for one.
    if isinstance(value, bool) or not isinstance(value, Integral) or not isinstance(value, SupportsIndex):
        return None
    number = int(value)
    return min(number, MOST_ROWS) if number >= 1 else None
