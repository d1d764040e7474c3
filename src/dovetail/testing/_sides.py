"""An input of a join as rows: what the caller gets back, and what the interpreter computes with."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from dovetail.errors import UnsupportedError, UsageError
from dovetail.testing._kinds import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INSTANTS,
    INT,
    INTERVAL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VOID,
    decimal_kind,
)
from dovetail.testing._values import days_of, micros_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dovetail.testing._kinds import Kind
    from dovetail.testing._values import Value

Rows: TypeAlias = "pa.Table | Sequence[dict[str, Value]]"

_KINDS = {
    pa.null(): VOID,
    pa.bool_(): BOOLEAN,
    pa.int8(): TINYINT,
    pa.int16(): SMALLINT,
    pa.int32(): INT,
    pa.int64(): BIGINT,
    pa.float32(): FLOAT,
    pa.float64(): DOUBLE,
    pa.string(): STRING,
    pa.large_string(): STRING,
    pa.string_view(): STRING,
    pa.binary(): BINARY,
    pa.large_binary(): BINARY,
    pa.binary_view(): BINARY,
    pa.date32(): DATE,
    pa.duration("us"): INTERVAL,
}


@dataclass(frozen=True, slots=True)
class Side:
    """One input: its name, its columns, its rows as given, and the same rows as values to compute with."""

    name: str
    columns: tuple[str, ...]
    kinds: tuple[Kind, ...]
    rows: list[tuple[Value, ...]]
    values: list[tuple[Value, ...]]

    def find(self, column: str) -> int | None:
        """Return the position of a column by its name in any case, as Spark finds it; None if there is none."""
        found = [i for i, name in enumerate(self.columns) if name.lower() == column.lower()]
        if len(found) > 1:
            raise UsageError.ambiguous_spelling(column, self.name, [self.columns[i] for i in found])
        return found[0] if found else None


def side_of(name: str, rows: Rows) -> Side:
    """Read an Arrow table, or a list of dicts, as an input called `name`."""
    table = rows if isinstance(rows, pa.Table) else _table_of(rows)
    kinds = tuple(_kind_of(field) for field in table.schema)
    columns = [column.to_pylist() for column in table.columns]
    values = [_values_of(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return Side(name, tuple(table.column_names), kinds, _rows_of(columns, len(table)), _rows_of(values, len(table)))


def _table_of(rows: Sequence[dict[str, Value]]) -> pa.Table:
    """Build a table from dicts; a key that a row lacks is NULL there."""
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in names})


def _rows_of(columns: list[list[Value]], count: int) -> list[tuple[Value, ...]]:
    """Turn columns into rows; a table without columns still has its rows."""
    return list(zip(*columns, strict=True)) if columns else [()] * count


def _kind_of(field: pa.Field) -> Kind:
    """Return the Spark type of an Arrow column."""
    arrow = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_decimal128(arrow):
        return decimal_kind(arrow.precision, arrow.scale)
    if pa.types.is_timestamp(arrow) and arrow.unit != "ns":
        return TIMESTAMP if arrow.tz else TIMESTAMP_NTZ
    if arrow not in _KINDS:
        raise UnsupportedError.column_type(field.name, str(arrow))
    return _KINDS[arrow]


def _values_of(column: list[Value], kind: Kind) -> list[Value]:
    """Turn a column's Python objects into values to compute with."""
    if kind == DATE:
        return [None if day is None else days_of(day) for day in column]
    if kind in INSTANTS:
        return [None if moment is None else micros_of(moment) for moment in column]
    if kind == INTERVAL:
        return [None if length is None else length // dt.timedelta(microseconds=1) for length in column]
    return column
