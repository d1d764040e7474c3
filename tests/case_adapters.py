"""The shared cases (other engines' own tests, as data) put to `dv.join` and `dv.asof_join`, on either host.

A case is a join and then a query over its rows. The join is ours; the query is run by Spark on Spark and by DuckDB on
Arrow, over the joined frame, whose columns have the names that our joins promise.
"""

from __future__ import annotations

import datetime as dt
import json
import os
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.spark_answers import spark_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROW = "row of the right"
KINDS = ("theta", "band", "overlap", "outer", "semi", "anti", "multiway", "asof")
ARROW_TYPES = {
    "int": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", "UTC"),
    "date": pa.date32(),
    "bool": pa.bool_(),
}


def folder() -> Path:
    """Where the cases are: beside the clone, or where DOVETAIL_CASES says."""
    beside = Path(__file__).parent.parent.parent / "shared" / "cases"
    return Path(os.environ.get("DOVETAIL_CASES", beside))


@dataclass(frozen=True)
class SharedCase:
    """One case: two tables, a condition, and what the rows of a query over their join must be."""

    id: str
    kind: str
    left: pa.Table
    right: pa.Table
    on: str
    how: str
    select: list[str]
    where: str | None
    group_by: list[str]
    expected: list[list[Any]]
    types: list[str]
    tolerance: float
    third: pa.Table | None = None
    joins: tuple[tuple[str, str, str], ...] = ()
    asof: dict[str, Any] | None = None

    def check(self, rows: pa.Table) -> None:
        """Raise unless these are the expected rows."""
        got = [tuple(map(plain, row.values(), self.types)) for row in rows.to_pylist()]
        want = [tuple(map(plain, row, self.types)) for row in self.expected]
        assert_same_rows(got, want, tolerance=self.tolerance)


def load(kinds: tuple[str, ...] = KINDS) -> list[SharedCase]:
    """Return the shared cases of some kinds; none if the folder is not there."""
    files = sorted(folder().glob("*.jsonl"))
    lines = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [_case(line) for line in lines if line["kind"] in kinds]


def _case(line: dict[str, Any]) -> SharedCase:
    right = _table(line["right"])
    if line.get("asof", {}).get("tie") in ("first", "last"):
        right = right.append_column(ROW, pa.array(range(len(right))))  # such a tie goes by the order of the rows
    return SharedCase(
        id=line["id"],
        kind=line["kind"],
        left=_table(line["left"]),
        right=right,
        on=line["condition"],
        how=line["how"],
        select=line["select"],
        where=line.get("where"),
        group_by=line.get("group_by") or [],
        expected=line["expected"],
        types=line["expected_types"],
        tolerance=line.get("tolerance", 1e-9),
        third=_table(line["third"]) if "third" in line else None,
        joins=tuple((own["right"], own["how"], own["condition"]) for own in line.get("joins", [])),
        asof=line.get("asof"),
    )


def _table(table: dict[str, Any]) -> pa.Table:
    columns = zip(*table["rows"], strict=True) if table["rows"] else [()] * len(table["columns"])
    named = zip(table["columns"].items(), columns, strict=True)
    return pa.table({name: _column(values, kind) for (name, kind), values in named})


def _column(values: tuple[Any, ...], kind: str) -> pa.Array:
    plains = [plain(value, kind) for value in values] if kind != "decimal" else [_decimal(value) for value in values]
    return pa.array(plains, _decimal_type(plains) if kind == "decimal" else ARROW_TYPES[kind])


def _decimal(value: object) -> Decimal | None:
    return None if value is None else Decimal(str(value))


def _decimal_type(values: list[Decimal | None]) -> pa.DataType:
    places = [-int(value.as_tuple().exponent) for value in values if value is not None]
    return pa.decimal128(28, min(max([2, *places]), 12))


def plain(value: Any, kind: str) -> Any:
    """Return a value of a case, or of its answer, as the Python object of its type."""
    if value is None:
        return None
    if kind == "timestamp":
        moment = dt.datetime.fromisoformat(str(value))
        return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    if kind == "date":
        return dt.date.fromisoformat(str(value)[:10])
    return {"int": int, "double": float, "decimal": float, "bool": bool, "string": str}[kind](value)


def on_arrow(case: SharedCase) -> pa.Table:
    """Answer a case on the Arrow host."""
    joined = _joined(case, case.left, case.right, case.third)
    # Without the extensions that it would look for on the network, DuckDB knows no time zone but reads UTC as it is.
    with duckdb.connect(config={"threads": 1, "autoload_known_extensions": False}) as connection:
        connection.register("joined", _without_zone(joined))
        return pa.table(connection.sql(_query(case, "joined", "duckdb")))


def _without_zone(table: pa.Table) -> pa.Table:
    naive = {ARROW_TYPES["timestamp"]: pa.timestamp("us")}
    return table.cast(pa.schema([column.with_type(naive.get(column.type, column.type)) for column in table.schema]))


def on_spark(case: SharedCase, spark: SparkSession, **placement: Any) -> pa.Table:
    """Answer a case on the Spark host."""
    frames = [None if table is None else spark_frame(spark, table) for table in (case.left, case.right, case.third)]
    joined = _joined(case, *frames, **placement)
    return spark.sql(_query(case, "{joined}", "spark"), joined=joined).toArrow()


def _joined(case: SharedCase, left: Any, right: Any, third: Any, **placement: Any) -> Any:
    """Put a case to the function that it is for; one cell is enough for an as-of join of a few rows."""
    if third is not None:
        return _joined_with_third(case, left, right, third)
    if case.asof is None:
        return dv.join(left, right, on=case.on, how=case.how, **placement)
    asked = case.asof
    return dv.asof_join(
        left,
        right,
        on=(_bare(asked["on"][0]), _bare(asked["on"][1])),
        keys=[(_bare(key[0]), _bare(key[1])) for key in asked["by"]] or None,
        null_safe=[_bare(key[0]) for key in asked["by"] if "null_safe" in key],
        direction=asked["direction"],
        strict=not asked["allow_exact"],
        tolerance=_distance(asked["tolerance"]),
        nearest_tie="forward" if asked.get("nearest_tie") == "forward" else "backward",
        ties="first" if asked["tie"] == "first" else "last",
        tie_break=None if asked["tie"] == "any" else ROW,
        where=asked.get("extra"),
        how=case.how,
        **placement,
    )


def _joined_with_third(case: SharedCase, left: Any, right: Any, third: Any) -> Any:
    """Three inputs at once if all joins are inner, else two and then the third."""
    if all(how == "inner" for _, how, _ in case.joins):
        return dv.join(l=left, r=right, t=third, on=case.on)
    (_, first, on), (_, second, then) = case.joins
    both = dv.join(left, right, on=on, how=first)
    return dv.join(both=both, t=third, on=_renamed(then, case, "spark", prefix={"l": "both", "r": "both"}), how=second)


def _bare(name: str) -> str:
    """A column without its input's name; an expression as it is."""
    return name[2:] if name.replace(".", "").replace("_", "").isalnum() else name


def _distance(tolerance: dict[str, Any] | None) -> Any:
    if tolerance is None:
        return None
    return tolerance["value"] if tolerance["unit"] is None else f"{tolerance['value']} {tolerance['unit']}"


def _query(case: SharedCase, source: str, dialect: str) -> str:
    """Return the case's query over the joined rows."""
    select = ", ".join(f"{_renamed(sql, case, dialect)} AS c{at}" for at, sql in enumerate(case.select))
    where = f" WHERE {_renamed(case.where, case, dialect)}" if case.where else ""
    group_by = ", ".join(_renamed(sql, case, dialect) for sql in case.group_by)
    grouped = f" GROUP BY {group_by}" if group_by else ""
    return f"SELECT {select} FROM {source}{where}{grouped}"  # noqa: S608 -- the cases are ours to run


def _renamed(sql: str, case: SharedCase, dialect: str, prefix: dict[str, str] | None = None) -> str:
    """Return an expression with every column as it is called after the join: a right one that clashes is `r_x`.

    `prefix` says what the inputs are called now; without it, columns stand alone.
    """
    before = {"r": [case.left], "t": [case.left, case.right]}

    def rename(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        clashes = any(node.name in table.column_names for table in before.get(node.table, []))
        if prefix is not None and node.table not in prefix:
            return node
        table = None if prefix is None else prefix[node.table]
        return exp.column(f"{node.table}_{node.name}" if clashes else node.name, table, quoted=True)

    return sqlglot.parse_one(sql, dialect=dialect).transform(rename).sql(dialect)
