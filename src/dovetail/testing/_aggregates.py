"""The naive aggregate: the partners of every row, gathered and folded one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key
from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail.errors import UsageError
from dovetail.testing._arithmetic import adjusted, divide_decimals
from dovetail.testing._interpreter import compared, parse, read, read_condition, sides_of, sort_key
from dovetail.testing._joins import matching_pairs
from dovetail.testing._kinds import BIGINT, INTEGERS, MAX_PRECISION, decimal_kind, is_decimal, is_number
from dovetail.testing._sides import side_of
from dovetail.testing._values import EXACT, compare, fit_decimal, fit_integer, to_python

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dovetail.testing._interpreter import Sides
    from dovetail.testing._kinds import Kind
    from dovetail.testing._sides import Rows
    from dovetail.testing._terms import Pair, Term
    from dovetail.testing._values import Value

_NAMES = ("count", "sum", "avg", "min", "max", "first", "last", "stddev", "variance", "count_distinct")
_INEQUALITIES = (exp.LT, exp.LTE, exp.GT, exp.GTE)


def naive_aggregate(
    left: Rows,
    right: Rows,
    on: str,
    agg: Mapping[str, str],
    per: str = "l",
    names: tuple[str, str] = ("l", "r"),
) -> list[tuple[Value, ...]]:
    """Fold the partners of every row of one input, by gathering them all.

    Every row of `per` gives one row, partners or not. Without partners a count is 0 and everything else NULL. NULL
    values count only for `count(*)`, `first` and `last`. Integers add up to a bigint and raise on overflow; doubles
    add up without rounding on the way; averages of decimals have four more places.

    `first` and `last` need an order, which rows of a frame do not have: partners are ordered by their side of the
    first inequality between both inputs (`BETWEEN` begins with its lower bound), ascending and in the type it is
    compared in, then by the aggregated value itself, ascending with NULL first. A condition without an inequality
    leaves the value alone to decide.

    Parameters
    ----------
    left, right
        Arrow tables, or lists of dicts.
    on
        A condition as in `naive_join`.
    agg
        Name to aggregate: `count(*)`, or `count`, `sum`, `avg`, `min`, `max`, `first`, `last`, `stddev`, `variance`,
        `count_distinct` of an expression, each also with `FILTER (WHERE ...)`.
    per
        The name of the input whose rows are kept.
    names
        What the condition calls the two inputs.

    Returns
    -------
    list of tuples
        The columns of `per`, then the aggregates in the order of `agg`; in the row order of `per`.

    Examples
    --------
    >>> trips = [{"at": 3}, {"at": 9}]
    >>> fares = [{"since": 1, "fare": 10}, {"since": 2, "fare": None}, {"since": 2, "fare": 30}]
    >>> naive_aggregate(trips, fares, "l.at >= r.since AND l.at < 5", {"n": "count(*)", "top": "max(r.fare)"})
    [(3, 3, 30), (9, 0, None)]
    >>> naive_aggregate(trips, fares, "l.at >= r.since", {"old": "first(r.fare)", "new": "last(r.fare)"})
    [(3, 10, 30), (9, 10, 30)]
    """
    sides = side_of(names[0], left), side_of(names[1], right)
    kept = _position(per, names)
    folds = [fold_of(parse(sql), _first_inequality(parse(on), sides, 1 - kept), sides) for sql in agg.values()]
    partners: list[list[Pair]] = [[] for _ in sides[kept].rows]
    for pair in matching_pairs(sides, on):
        partners[pair[kept]].append((sides[0].values[pair[0]], sides[1].values[pair[1]]))
    folded = [tuple(fold.over(pairs) for fold in folds) for pairs in partners]
    return [row + values for row, values in zip(sides[kept].rows, folded, strict=True)]


@dataclass(frozen=True, slots=True)
class Fold:
    """One aggregate: what is folded, in which order, and how; `where` is its filter."""

    term: Term | None
    order: Callable[[Pair], Value]
    finish: Callable[[list[Value], Kind], Value]
    where: Term | None = None

    def over(self, pairs: list[Pair]) -> Value:
        """Fold one row's partners; without a term the partners themselves are counted."""
        kept = [pair for pair in pairs if self.where is None or self.where.value(pair) is True]
        if self.term is None:
            return len(kept)
        values = [self.term.value(pair) for pair in sorted(kept, key=self.order)]
        return self.finish(values, self.term.kind)


def _position(per: str, names: tuple[str, str]) -> int:
    if per not in names:
        raise UsageError.unknown_input(per, names)
    return names.index(per)


def fold_of(node: exp.Expr, at: Term | None, sides: Sides) -> Fold:
    """Read one aggregate; `at` is the time, or what else goes before the value in the order of partners."""
    where = None
    if isinstance(node, exp.Filter):
        node, where = node.this, read_condition(node.expression.this, sides)
    finish, argument = _called(node)
    if isinstance(argument, exp.Star):
        return Fold(None, lambda _pair: 0, finish, where)
    term = read(argument, sides)
    if isinstance(node, _NUMERIC) and not is_number(term.kind):
        raise UsageError.no_sum(node.sql("spark"), str(term.kind))
    return Fold(term, _order(at, term), finish, where)


def _called(node: exp.Expr) -> tuple[Callable[[list[Value], Kind], Value], exp.Expr]:
    """Return what an aggregate does, and its argument."""
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct) and len(node.this.expressions) == 1:
        return _distinct, node.this.expressions[0]
    if isinstance(node, exp.Anonymous) and node.name.lower() == "count_distinct" and len(node.expressions) == 1:
        return _distinct, node.expressions[0]
    finish = _FINISH.get(type(node))
    if finish is None or isinstance(node.this, exp.Distinct):
        raise UsageError.unknown_aggregate(node.sql("spark"), _NAMES)
    return finish, node.this


def _order(at: Term | None, term: Term) -> Callable[[Pair], Value]:
    """Return the sort key of partners: what they are ordered by first, then the value."""
    by_value = sort_key(term.kind)
    if at is None:
        return lambda pair: by_value(term.value(pair))
    by_at = sort_key(at.kind)
    return lambda pair: (by_at(at.value(pair)), by_value(term.value(pair)))


def _first_inequality(on: exp.Expr, sides: Sides, partner: int) -> Term | None:
    """Return the partners' side of the first conjunct that sets one input below the other, as it is compared."""
    for conjunct in _conjuncts(on):
        for bounds in _bounds(conjunct):
            spoken_of = [sides_of(bound, sides) for bound in bounds]
            if spoken_of in ([{0}, {1}], [{1}, {0}]):
                one, other, _ = compared(conjunct, *bounds, sides)
                return one if spoken_of[0] == {partner} else other
    return None


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """Return what must all be true, as it is written from left to right."""
    plain = node.unnest()
    return _conjuncts(plain.left) + _conjuncts(plain.right) if isinstance(plain, exp.And) else [plain]


def _bounds(node: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
    """Return the pairs of expressions that an inequality sets apart."""
    if isinstance(node, exp.Not) and isinstance(node.this.unnest(), _INEQUALITIES):
        return _bounds(node.this.unnest())
    if isinstance(node, exp.Between):
        return [(node.this, node.args["low"]), (node.this, node.args["high"])]
    return [(node.left, node.right)] if isinstance(node, _INEQUALITIES) else []


def _known(values: list[Value]) -> list[Value]:
    return [value for value in values if value is not None]


def _count(values: list[Value], _kind: Kind) -> int:
    return len(_known(values))


def _sum(values: list[Value], kind: Kind) -> Value:
    known = _known(values)
    if not known:
        return None
    if kind in INTEGERS:
        return fit_integer(sum(known), BIGINT)
    if is_decimal(kind):
        return fit_decimal(_decimal_sum(known), decimal_kind(min(kind.precision + 10, MAX_PRECISION), kind.scale))
    return _float_sum([float(value) for value in known])


def _avg(values: list[Value], kind: Kind) -> Value:
    known = _known(values)
    if not known:
        return None
    if is_decimal(kind):
        mean = divide_decimals(_decimal_sum(known), Decimal(len(known)))
        return fit_decimal(mean, adjusted(kind.precision + 4, kind.scale + 4))
    return _float_sum([float(value) for value in known]) / len(known)


def _decimal_sum(values: list[Decimal]) -> Decimal:
    total = Decimal(0)
    for value in values:
        total = EXACT.add(total, value)
    return total


def _float_sum(values: list[float]) -> float:
    """Add doubles without rounding on the way; NaN, or infinities of both signs, make NaN."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # too large on the way, or infinities of both signs
        return sum(values)


def _distinct(values: list[Value], kind: Kind) -> int:
    """Count the values of which no earlier one is equal."""
    seen: list[Value] = []
    for value in _known(values):
        if all(compare(value, other, kind) for other in seen):
            seen.append(value)
    return len(seen)


def _variance(values: list[Value], _kind: Kind) -> float | None:
    """Return the sample variance, worked out in fractions; of fewer than two values there is none."""
    known = [float(value) for value in _known(values)]
    if len(known) < 2:  # noqa: PLR2004 -- one value does not vary
        return None
    if not all(map(math.isfinite, known)):
        return math.nan
    exact = [Fraction(value) for value in known]
    mean = sum(exact) / len(exact)
    return float(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1))


def _stddev(values: list[Value], kind: Kind) -> float | None:
    variance = _variance(values, kind)
    return None if variance is None else math.sqrt(variance)


def _extreme(sign: int) -> Callable[[list[Value], Kind], Value]:
    def finish(values: list[Value], kind: Kind) -> Value:
        key = cmp_to_key(lambda one, other: sign * compare(one, other, kind))
        return to_python(max(_known(values), key=key, default=None), kind)

    return finish


def _at(position: int) -> Callable[[list[Value], Kind], Value]:
    return lambda values, kind: to_python(values[position], kind) if values else None


_FINISH: dict[type[exp.Expr], Callable[[list[Value], Kind], Value]] = {
    exp.Count: _count,
    exp.Sum: _sum,
    exp.Avg: _avg,
    exp.Min: _extreme(-1),
    exp.Max: _extreme(1),
    exp.First: _at(0),
    exp.Last: _at(-1),
    exp.Stddev: _stddev,
    exp.StddevSamp: _stddev,
    exp.Variance: _variance,
}
_NUMERIC = (exp.Sum, exp.Avg, exp.Stddev, exp.StddevSamp, exp.Variance)
