"""Each side as the join needs it: one projection with keys, values and only the columns that travel.

Columns of the projection: `fits` (all of the side's own filters), `k0`... (equality keys), `v0`... (compared values),
`g0`... (arguments of aggregates), `h0`... (their filters), `p0`... (columns of the input that the result or a residual
reads). Keys and values are computed by Spark, in the type in which Spark would compare them, and only where `fits`
holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from sqlglot import exp

from dovetail._core.columns.coerce import comparison_type
from dovetail._core.columns.open_ends import open_ends
from dovetail._core.columns.solve import solved
from dovetail._core.columns.types import family, is_moment, is_number
from dovetail._core.condition.difference import differences
from dovetail._core.condition.parse import quoted, told
from dovetail._core.condition.residual import as_residual
from dovetail._hosts.ring.projection import Projection, named
from dovetail._hosts.spark.frames import is_set
from dovetail._hosts.spark.refusals import first_line, unlogged
from dovetail._hosts.spark.types import arrow_type, can_leave, spark_type, width
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from dovetail._core.condition.values import Comparison, Condition, Equality, Side
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.plan.query import Query
    from dovetail._hosts.spark.frames import SparkFrame

_FRACTIONS = "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate"


@dataclass(frozen=True)
class SparkSide:
    """One side, projected; `payload` are the input's columns behind `p0`, `p1`, ...

    `same` names, for every column, the first one that holds the same values: only those travel.
    """

    name: str
    frame: DataFrame
    payload: tuple[str, ...]
    same: tuple[tuple[str, str], ...]

    @cached_property
    def schema(self) -> StructType:
        """The projection's columns; Connect copies a frame's schema whenever it is asked for it."""
        return self.frame.schema

    def named(self, letter: str) -> list[str]:
        """The columns of one group."""
        return named(self.schema.names, letter)

    def place(self, column: str) -> str:
        """Where the projection has a column of the input."""
        return f"p{self.payload.index(column)}"

    def showing(self, columns: Iterable[str]) -> Projection:
        """How a task reads the projection, of which the result shows these columns."""
        return Projection(self.name, self.payload, tuple(map(self.place, columns)), self.same)

    @property
    def travelling(self) -> list[str]:
        """The columns that leave the JVM, each once."""
        return list(dict.fromkeys(first for _, first in self.same))

    @property
    def filtered(self) -> bool:
        """Whether the side has filters of its own."""
        return "fits" in self.schema.names

    @property
    def row_bytes(self) -> int:
        """About how many bytes a row takes on its way."""
        return sum(width(self.schema[name].dataType) for name in self.travelling)


@dataclass(frozen=True)
class Sides:
    """Both sides of a query, projected, and the condition in the form that Spark's types allow.

    `only_sparks` are equalities of types whose values only Spark can tell apart.
    """

    condition: Condition
    left: SparkSide
    right: SparkSide
    only_sparks: tuple[Equality, ...] = ()

    def flip(self) -> Sides:
        """The sides exchanged."""
        return replace(self, condition=self.condition.flip(), left=self.right, right=self.left)

    @property
    def cannot_leave(self) -> tuple[str, str] | None:
        """A column that cannot leave Spark, and its type; None if all that travel can."""
        for own in (self.left, self.right):
            for i, name in enumerate(own.payload):
                kind = own.schema[f"p{i}"].dataType
                if not can_leave(kind):
                    return f"{own.name}.{name}", kind.simpleString()
        return None

    def refuse_what_cannot_leave(self) -> None:
        """Refuse such a column, before any job starts."""
        if self.cannot_leave is not None:
            raise UnsupportedError.cannot_leave_spark(*self.cannot_leave)

    def can_match(self, own: SparkSide) -> str:
        """Whether a row can match at all: its filters hold, its keys (unless null-safe) and values are there."""
        keys = zip(own.named("k"), self.condition.keys, strict=True)
        needed = [*(name for name, key in keys if not key.null_safe), *own.named("v")]
        return (
            " AND ".join([*(["fits"] if own.filtered else []), *(f"{name} IS NOT NULL" for name in needed)]) or "true"
        )


def check(query: Query, left: SparkFrame, right: SparkFrame) -> dict[str, pa.DataType | None]:
    """Let Spark analyse the condition and the select list; nothing runs.

    Returns the types of what the condition compares, by its text: one analysis tells them all, and each costs time.
    """
    shown = [column.shows.sql for column in query.output]
    shown += [own.argument.sql for own in query.aggregates if own.argument is not None]
    shown += [f"({own.where.sql}) AND true" for own in query.aggregates if own.where is not None]
    parts: list[Equality | Comparison] = [*query.condition.keys, *query.condition.comparisons]
    compared = [own for part in parts for own in (part.left, part.right)]
    compared += [term for own in differences(query.condition, query.inputs) for term in own.terms]
    compared += [term for own in open_ends(query.condition, query.inputs) for term in own.terms]
    texts = list(dict.fromkeys(own.sql for own in compared))
    try:
        with unlogged():
            fields = _joined(query, left, right).selectExpr(*(f"{sql} AS c{i}" for i, sql in enumerate(texts + shown)))
            kinds = [field.dataType for field in fields.schema.fields]
    except PySparkException as error:
        raise UsageError.spark_refuses(_refused(query, left, right), first_line(error)) from None
    return {text: arrow_type(kind) for text, kind in zip(texts, kinds, strict=False)}


def _joined(query: Query, left: SparkFrame, right: SparkFrame) -> DataFrame:
    return left.frame.alias(left.name).join(right.frame.alias(right.name), F.expr(query.condition.sql), "inner")


def _refused(query: Query, left: SparkFrame, right: SparkFrame) -> str:
    """What Spark refuses: the condition, or else what is to be shown."""
    try:
        with unlogged():
            _ = _joined(query, left, right).schema
    except PySparkException:
        return told(query.condition.sql)
    shown = [*(column.shows.sql for column in query.output), *(own.name for own in query.aggregates)]
    return told(", ".join(shown))


def analysed(query: Query, left: SparkFrame, right: SparkFrame) -> tuple[Query, dict[str, pa.DataType | None]]:
    """The call as its types allow it, and the types of what its condition compares; nothing runs."""
    types = check(query, left, right)
    solution = solved(query, lambda _: types, wraps=not _ansi(left))
    return (query, types) if solution is query else (solution, check(solution, left, right))


def project(query: Query, types: dict[str, pa.DataType | None], left: SparkFrame, right: SparkFrame) -> Sides:
    """Project both sides; `types` are those that `check` has found."""
    condition, kinds = _typed(query.condition, types, ansi=_ansi(left), fractions=is_set(left.session, _FRACTIONS))
    return Sides(
        condition,
        _side(query, condition, kinds, "left", left),
        _side(query, condition, kinds, "right", right),
        tuple(key for key in query.condition.keys if key not in condition.keys),
    )


def _ansi(own: SparkFrame) -> bool:
    return is_set(own.session, "spark.sql.ansi.enabled")


def _typed(
    condition: Condition, types: dict[str, pa.DataType | None], *, ansi: bool, fractions: bool
) -> tuple[Condition, dict[str, pa.DataType]]:
    """Find the type of every comparison; what has no order that we know becomes a residual.

    Spark compares it then, pair by pair, with its own rules: the answer is right, the plan says why it is slow.
    """
    parts: list[Equality | Comparison] = [*condition.keys, *condition.comparisons]
    kinds: dict[str, pa.DataType] = {}
    for part in parts:
        kind = _common(types[part.left.sql], types[part.right.sql], ansi=ansi)
        if kind is not None:
            kinds[str(part)] = _with_fraction(kind, types[part.left.sql], types[part.right.sql]) if fractions else kind
    odd = [as_residual(part) for part in parts if str(part) not in kinds]
    return (
        replace(
            condition,
            keys=tuple(key for key in condition.keys if str(key) in kinds),
            comparisons=tuple(own for own in condition.comparisons if str(own) in kinds),
            residuals=(*condition.residuals, *odd),
        ),
        kinds,
    )


def _common(left: pa.DataType | None, right: pa.DataType | None, *, ansi: bool) -> pa.DataType | None:
    """The type in which Spark compares two others; None if we do not know it for sure."""
    if left is None or right is None:
        return None
    kind = left if left == right else comparison_type(left, right) if ansi else _lenient_type(left, right)
    if kind is None or pa.types.is_decimal256(kind):
        return None
    return pa.bool_() if pa.types.is_null(kind) else kind


def _with_fraction(kind: pa.DataType, *met: pa.DataType | None) -> pa.DataType:
    """A decimal type with all places of those that meet in it; where digits are too many, whole ones are dropped."""
    scales = [own.scale for own in (kind, *met) if pa.types.is_decimal(own)] if pa.types.is_decimal(kind) else []
    return pa.decimal128(kind.precision, max(scales)) if scales else kind


def _lenient_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The same with ANSI mode off, texts apart: whole numbers meet FLOAT in FLOAT, not in DOUBLE."""
    if is_number(left) and is_number(right):
        rounded = {family(left), family(right)} == {"integer", "float"} and pa.float32() in (left, right)
        return pa.float32() if rounded else comparison_type(left, right)
    return comparison_type(left, right) if is_moment(left) and is_moment(right) else None


def _side(query: Query, condition: Condition, kinds: dict[str, pa.DataType], side: Side, own: SparkFrame) -> SparkSide:
    filters = condition.left_filters if side == "left" else condition.right_filters
    fits = " AND ".join(f"({part.sql})" for part in filters)
    texts: dict[str, str] = {"fits": f"coalesce({fits}, false)"} if fits else {}
    for letter, parts in (("k", condition.keys), ("v", condition.comparisons)):
        for i, part in enumerate(parts):
            value = f"CAST({getattr(part, side).sql} AS {spark_type(kinds[str(part)])})"
            texts[f"{letter}{i}"] = f"CASE WHEN {texts['fits']} THEN {value} END" if fits else value
    if query.per is not None and query.per != side:
        for i, aggregate in enumerate(query.aggregates):
            texts |= {} if aggregate.argument is None else {f"g{i}": _argument(aggregate, aggregate.argument.sql)}
            texts |= {} if aggregate.where is None else {f"h{i}": aggregate.where.sql}
    payload = _payload(query, condition, own)
    texts |= {f"p{i}": f"{quoted(own.name)}.{quoted(name)}" for i, name in enumerate(payload)}
    columns = [f"{text} AS {name}" for name, text in texts.items()]
    frame = own.frame.alias(own.name).selectExpr(*(columns or ["0 AS none"]))
    return SparkSide(own.name, frame, payload, _same(texts, frame))


def _argument(aggregate: Aggregate, sql: str) -> str:
    """What an aggregate reads; of what is only counted, of any type, whether it is there."""
    return f"CASE WHEN ({sql}) IS NOT NULL THEN true END" if aggregate.function == "count" else sql


def _same(texts: dict[str, str], frame: DataFrame) -> tuple[tuple[str, str], ...]:
    """For every column the first of the same text and type; a cast to the type that a value has anyway is none."""
    first: dict[tuple[str, str], str] = {}
    found = []
    for field in frame.schema:
        kind, known = field.dataType.simpleString(), arrow_type(field.dataType)
        own = kind.upper() if known is None else spark_type(known)
        text = texts.get(field.name, field.name).removeprefix("CAST(").removesuffix(f" AS {own})")
        found.append((field.name, first.setdefault((text, kind), field.name)))
    return tuple(found)


def _payload(query: Query, condition: Condition, own: SparkFrame) -> tuple[str, ...]:
    """The columns of an input that the result or a residual reads, in the input's order."""
    nodes = [column.shows.node for column in query.output] + [part.node for part in condition.residuals]
    read = {column.name for node in nodes for column in node.find_all(exp.Column) if column.table == own.name}
    return tuple(name for name in own.frame.columns if name in read)
