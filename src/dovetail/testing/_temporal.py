"""The naive as-of and window joins: every right row is a candidate of every left row, and time decides."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from dovetail.testing._aggregates import fold_of
from dovetail.testing._interpreter import compared, parse, read, read_condition, sort_key
from dovetail.testing._joins import joined_rows, plain_how
from dovetail.testing._kinds import DATE, FRACTIONS
from dovetail.testing._sides import side_of
from dovetail.testing._terms import Term
from dovetail.testing._values import MICROS_PER_DAY, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dovetail.testing._interpreter import Sides
    from dovetail.testing._kinds import Kind
    from dovetail.testing._sides import Rows
    from dovetail.testing._terms import Pair
    from dovetail.testing._values import Value

Names: TypeAlias = "str | tuple[str, str]"
Distance: TypeAlias = "float | dt.timedelta | str | None"


def naive_asof(
    left: Rows,
    right: Rows,
    on: Names,
    keys: Sequence[Names] = (),
    *,
    direction: str = "backward",
    strict: bool = False,
    tolerance: Distance = None,
    how: str = "left",
    ties: str = "last",
    tie_break: Sequence[str] | None = None,
    nearest_tie: str = "backward",
    where: str | None = None,
    null_safe: bool | Sequence[str] = False,
) -> list[tuple[Value, ...]]:
    """Join every left row with the right row nearest in time, by looking at all of them.

    The arguments are those of `asof_join`, but a length of time is a `timedelta`, and text names a column of the left
    input. In `where` the inputs are `l` and `r`. Distances are exact, but those between floats are doubles.

    Returns
    -------
    list of tuples
        As `naive_join`.

    Examples
    --------
    >>> trades = [{"ts": 3}, {"ts": 9}]
    >>> quotes = [{"at": 1, "bid": 100}, {"at": 8, "bid": 101}]
    >>> naive_asof(trades, quotes, ("ts", "at"), tolerance=1)
    [(9, 8, 101), (3, None, None)]
    """
    sides = side_of("l", left), side_of("r", right)
    clock = _clock(sides, on)
    may_match = _may_match(sides, keys, where, null_safe=null_safe)
    far = _distance(tolerance, sides, clock.kind)
    order = _tie_order(sides, on, keys, tie_break)
    pairs = []
    for i, one in enumerate(sides[0].values):
        met = [(j, (one, other)) for j, other in enumerate(sides[1].values) if may_match((one, other))]
        timed = [(j, pair) for j, pair in met if clock.tells(pair)]
        found = {way: _tied(timed, clock, way, strict=strict, far=far) for way in ("backward", "forward")}
        tied = found[_nearer(found, clock, nearest_tie) if direction == "nearest" else direction]
        pairs += [(i, j) for j in _chosen([j for j, _ in tied], order, ties)]
    return joined_rows(plain_how(how), sides, pairs)


def naive_window(
    base: Rows,
    probe: Rows,
    on: Names,
    agg: Mapping[str, str],
    keys: Sequence[Names] = (),
    *,
    preceding: Distance,
    following: Distance = 0,
    closed: str = "both",
    include_prevailing: bool = False,
    null_safe: bool | Sequence[str] = False,
) -> list[tuple[Value, ...]]:
    """Fold, for every base row, the probe rows around its time, by looking at all of them.

    The arguments are those of `window_join` for one window, with distances as in `naive_asof`; None is unbounded.

    Returns
    -------
    list of tuples
        The columns of the base, then the aggregates, in the row order of the base.

    Examples
    --------
    >>> clicks = [{"ts": 10}, {"ts": 20}]
    >>> orders = [{"ts": 4, "amount": 1.5}, {"ts": 9, "amount": 2.0}]
    >>> naive_window(clicks, orders, "ts", {"n": "count(*)", "spend": "sum(amount)"}, preceding=6)
    [(10, 2, 3.5), (20, 0, None)]
    """
    sides = side_of("l", base), side_of("r", probe)
    clock = _clock(sides, on)
    may_match = _may_match(sides, keys, None, null_safe=null_safe)
    back, forward = (_distance(given, sides, clock.kind) for given in (preceding, following))
    folded_side = replace(sides[0], columns=(), kinds=()), sides[1]
    folds = [fold_of(parse(sql), clock.right, folded_side) for sql in agg.values()]
    rows = []
    for row, one in zip(sides[0].rows, sides[0].values, strict=True):
        pairs = [(one, other) for other in sides[1].values if may_match((one, other))]
        timed = [pair for pair in pairs if clock.tells(pair)]
        inside = _window(timed, clock, back, forward, closed, prevailing=include_prevailing)
        rows.append(row + tuple(fold.over(inside) for fold in folds))
    return rows


@dataclass(frozen=True, slots=True)
class _Clock:
    """The times of both sides in one type."""

    left: Term
    right: Term
    kind: Kind

    def tells(self, pair: Pair) -> bool:
        """Tell whether both rows have a time."""
        return self.left.value(pair) is not None and self.right.value(pair) is not None

    def order(self, pair: Pair) -> int:
        """Return -1, 0 or 1 as the right time is before, at or after the left one."""
        return compare(self.right.value(pair), self.left.value(pair), self.kind)

    def moved(self, pair: Pair, by: Value, sign: int) -> Value:
        """Return the left time moved by a distance."""
        at = self.left.value(pair)
        return float(at) + sign * float(by) if self.kind in FRACTIONS else Fraction(at) + sign * by

    def apart(self, pair: Pair) -> Value:
        """Return how far apart the times of a pair are."""
        if self.order(pair) == 0:
            return 0
        one, other = self.left.value(pair), self.right.value(pair)
        if self.kind not in FRACTIONS:
            return abs(Fraction(one) - Fraction(other))
        apart = abs(float(one) - float(other))
        return math.inf if math.isnan(apart) else apart


def _both(given: Names) -> tuple[str, str]:
    return (given, given) if isinstance(given, str) else given


def _clock(sides: Sides, on: Names) -> _Clock:
    left, right = (parse(f"`{side.name}`.`{name}`") for side, name in zip(sides, _both(on), strict=True))
    one, other, kind = compared(exp.EQ(this=left, expression=right), left, right, sides)
    return _Clock(_exact(one), _exact(other), kind)


def _exact(term: Term) -> Term:
    """Return a time with decimals as fractions, which can be compared with any other."""

    def value(pair: Pair) -> Value:
        found = term.value(pair)
        return Fraction(found) if isinstance(found, Decimal) else found

    return Term(term.kind, value)


def _may_match(
    sides: Sides, keys: Sequence[Names], where: str | None, *, null_safe: bool | Sequence[str]
) -> Callable[[Pair], bool]:
    """Return the test of a pair that has nothing to do with time."""
    tests = []
    for key in keys:
        ours, theirs = _both(key)
        safe = null_safe if isinstance(null_safe, bool) else ours in null_safe
        tests.append(f"`{sides[0].name}`.`{ours}` {'<=>' if safe else '='} `{sides[1].name}`.`{theirs}`")
    terms = [read_condition(parse(test), sides) for test in (*tests, *([] if where is None else [where]))]
    return lambda pair: all(term.value(pair) is True for term in terms)


def _distance(given: Distance, sides: Sides, kind: Kind) -> Callable[[Pair], Value]:
    """Return the distance that a left row allows, in units of the axis; None: any, NaN: none at all."""
    if given is None:
        return lambda _pair: None
    if isinstance(given, str):
        term = read(parse(f"`{sides[0].name}`.`{given}`"), sides)
        unit = MICROS_PER_DAY if kind == DATE else 1
        return lambda pair: _exactly(term.value(pair), unit)
    if isinstance(given, dt.timedelta):
        micros = given // dt.timedelta(microseconds=1)
        return lambda _pair: Fraction(micros, MICROS_PER_DAY if kind == DATE else 1)
    return lambda _pair: Fraction(given)


def _exactly(value: Value, unit: int) -> Value:
    """Return a row's own distance; NULL and NaN allow none."""
    if value is None or value != value:  # noqa: PLR0124 -- NaN alone differs from itself
        return math.nan
    return value if isinstance(value, float) and math.isinf(value) else Fraction(value) / unit


def _never(distance: Value) -> bool:
    return isinstance(distance, float) and math.isnan(distance)


Candidates: TypeAlias = "list[tuple[int, Pair]]"


def _tied(timed: Candidates, clock: _Clock, way: str, *, strict: bool, far: Callable[[Pair], Value]) -> Candidates:
    """Return the candidates of the nearest time in one direction."""
    sign = -1 if way == "backward" else 1
    ahead = [(j, pair) for j, pair in timed if clock.order(pair) in ((sign,) if strict else (sign, 0))]
    within = [(j, pair) for j, pair in ahead if _within(pair, clock, far(pair), sign)]
    by_time = sort_key(clock.kind)
    times = sorted((clock.right.value(pair) for _, pair in within), key=by_time)
    if not times:
        return []
    best = times[-1] if sign < 0 else times[0]
    return [(j, pair) for j, pair in within if compare(clock.right.value(pair), best, clock.kind) == 0]


def _within(pair: Pair, clock: _Clock, far: Value, sign: int) -> bool:
    if far is None:
        return True
    return not _never(far) and compare(clock.moved(pair, far, sign), clock.right.value(pair), clock.kind) * sign >= 0


def _nearer(found: dict[str, Candidates], clock: _Clock, prefer: str) -> str:
    """Return the direction whose candidates are closer."""
    apart = {way: clock.apart(tied[0][1]) for way, tied in found.items() if tied}
    if len(apart) < 2 or apart["backward"] == apart["forward"]:  # noqa: PLR2004 -- two directions
        return next(iter(apart)) if len(apart) == 1 else prefer
    return min(apart, key=lambda way: apart[way])


def _tie_order(
    sides: Sides, on: Names, keys: Sequence[Names], tie_break: Sequence[str] | None
) -> Callable[[int], Value]:
    """Return what orders right rows of one time."""
    right = sides[1]
    used = {_both(name)[1] for name in (on, *keys)}
    columns = tie_break if tie_break is not None else [name for name in right.columns if name not in used]
    positions = [right.columns.index(name) for name in columns]
    by = [sort_key(right.kinds[at]) for at in positions]
    return lambda j: tuple(key(right.values[j][at]) for key, at in zip(by, positions, strict=True))


def _chosen(tied: list[int], order: Callable[[int], Value], ties: str) -> list[int]:
    if not tied or ties == "all":
        return tied
    ranked = sorted(tied, key=order)
    return [ranked[-1 if ties == "last" else 0]]


def _window(
    timed: list[Pair],
    clock: _Clock,
    back: Callable[[Pair], Value],
    forward: Callable[[Pair], Value],
    closed: str,
    *,
    prevailing: bool,
) -> list[Pair]:
    """Return the pairs whose right time lies in the window, and the prevailing ones if asked for."""
    if not timed:
        return []
    far = back(timed[0]), forward(timed[0])
    if any(map(_never, far)):
        return []
    start, end = (None if d is None else clock.moved(timed[0], d, sign) for d, sign in zip(far, (-1, 1), strict=True))
    if start is not None and end is not None and compare(start, end, clock.kind) > 0:
        return []

    def inside(pair: Pair) -> bool:
        at = clock.right.value(pair)
        after = start is None or compare(at, start, clock.kind) >= (0 if closed in ("both", "left") else 1)
        before = end is None or compare(at, end, clock.kind) <= (0 if closed in ("both", "right") else -1)
        return after and before

    found = [pair for pair in timed if inside(pair)]
    if not prevailing or start is None:
        return found
    earlier = [pair for pair in timed if compare(clock.right.value(pair), start, clock.kind) <= 0]
    last = sorted((clock.right.value(pair) for pair in earlier), key=sort_key(clock.kind))[-1:]
    kept = [pair for pair in earlier if compare(clock.right.value(pair), last[0], clock.kind) == 0]
    return found + [pair for pair in kept if not inside(pair)]
