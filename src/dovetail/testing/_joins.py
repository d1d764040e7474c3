"""The naive join: every pair is looked at, and what matched nothing is padded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.errors import UsageError
from dovetail.testing._interpreter import parse, read_condition
from dovetail.testing._sides import side_of

if TYPE_CHECKING:
    from dovetail.testing._interpreter import Sides
    from dovetail.testing._sides import Rows
    from dovetail.testing._values import Value

HOWS = ("inner", "left", "right", "full", "semi", "anti")
_SPELLINGS = {
    "cross": "inner",
    "leftouter": "left",
    "rightouter": "right",
    "outer": "full",
    "fullouter": "full",
    "leftsemi": "semi",
    "leftanti": "anti",
}


def naive_join(
    left: Rows, right: Rows, on: str, how: str = "inner", *, names: tuple[str, str] = ("l", "r")
) -> list[tuple[Value, ...]]:
    """Join by looking at every pair, with Spark's meaning of the condition.

    A pair matches where the condition is true; false and NULL do not match. NaN is the greatest number and equal to
    itself, -0.0 equals 0.0, decimals are exact, a bigint meets a double as a double, strings and binaries compare by
    their bytes, a date is the start of its day in UTC. Arithmetic is ANSI Spark's: overflow and division by zero raise.

    Parameters
    ----------
    left, right
        Arrow tables, or lists of dicts.
    on
        A Spark SQL boolean over the columns of both: comparisons, `<=>`, `IS [NOT] DISTINCT FROM`, `BETWEEN`, `IN`,
        `IS NULL`, `AND`, `OR`, `NOT`, arithmetic on numbers, dates and timestamps with intervals of weeks to
        microseconds, `CASE`, `coalesce`, `abs`, `least`, `greatest`, `floor`, `ceil`.
    how
        `inner`, `left`, `right`, `full`, `semi` or `anti`, or Spark's other spellings of these.
    names
        What the condition calls the two inputs.

    Returns
    -------
    list of tuples
        The left values, then the right values, with None where a row has no partner; for `semi` and `anti` the left
        values alone. In no order that means anything.

    Examples
    --------
    >>> phones = [{"phone": "a", "price": 300}, {"phone": "b", "price": 900}, {"phone": "c", "price": None}]
    >>> laptops = [{"laptop": "x", "price": 500}]
    >>> naive_join(phones, laptops, "l.price > r.price")
    [('b', 900, 'x', 500)]
    >>> naive_join(phones, laptops, "p.price > q.price", how="anti", names=("p", "q"))
    [('a', 300), ('c', None)]
    """
    how = plain_how(how)
    sides = side_of(names[0], left), side_of(names[1], right)
    return joined_rows(how, sides, matching_pairs(sides, on))


def matching_pairs(sides: Sides, on: str) -> list[tuple[int, int]]:
    """Return the row positions of every pair for which the condition is true."""
    condition = read_condition(parse(on), sides)
    left, right = sides
    return [
        (i, j)
        for i, one in enumerate(left.values)
        for j, other in enumerate(right.values)
        if condition.value((one, other)) is True
    ]


def plain_how(how: str) -> str:
    """Return a join type as it is called here."""
    plain = how.lower().replace("_", "").replace(" ", "")
    plain = _SPELLINGS.get(plain, plain)
    if plain not in HOWS:
        raise UsageError.unknown_choice("how", how, HOWS)
    return plain


def joined_rows(how: str, sides: Sides, pairs: list[tuple[int, int]]) -> list[tuple[Value, ...]]:
    """Return the rows of a join of which the pairs are known."""
    left, right = sides[0].rows, sides[1].rows
    matched, partners = {i for i, _ in pairs}, {j for _, j in pairs}
    if how in ("semi", "anti"):
        return [row for i, row in enumerate(left) if (i in matched) is (how == "semi")]
    rows = [left[i] + right[j] for i, j in pairs]
    if how in ("left", "full"):
        rows += [row + (None,) * len(sides[1].columns) for i, row in enumerate(left) if i not in matched]
    if how in ("right", "full"):
        rows += [(None,) * len(sides[0].columns) + row for j, row in enumerate(right) if j not in partners]
    return rows
