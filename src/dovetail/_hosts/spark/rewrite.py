"""Spark SQL over columns that have moved."""

from __future__ import annotations

from sqlglot import exp

from dovetail._core.condition.dialect import AsWritten


def rewritten(node: exp.Expr, places: dict[tuple[str, str], str]) -> str:
    """Spark SQL in which every column of an input is read from where it stands now."""

    def moved(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and (part.table, part.name) in places:
            return exp.column(exp.to_identifier(places[part.table, part.name], quoted=True))
        return part

    return node.transform(moved).sql(dialect=AsWritten)
