"""Spark SQL over columns that have moved."""

from __future__ import annotations

from sqlglot import exp

from dovetail._core.condition.dialect import AsWritten


def rewritten(node: exp.Expr, places: dict[tuple[str, str], str]) -> str:
    """Spark SQL in which every column of an input is read from where it stands now.

    Arguments of lambda functions that are named like such a place get another name.
    """
    taken = {place.lower() for place in places.values()}

    def moved(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and (part.table, part.name) in places:
            return exp.column(exp.to_identifier(places[part.table, part.name], quoted=True))
        return part

    node = node.copy()
    for own in node.find_all(exp.Lambda):
        for name in {argument.name.lower() for argument in own.expressions} & taken:
            _rename(own, name, f"{name} of lambda")
    return node.transform(moved).sql(dialect=AsWritten)


def _rename(function: exp.Lambda, name: str, to: str) -> None:
    """Rename an argument of a lambda function; a column of an input that is named like it stays."""
    for part in list(function.find_all(exp.Identifier)):
        if part.name.lower() == name and not (isinstance(part.parent, exp.Column) and part.parent.table):
            part.replace(exp.to_identifier(to, quoted=True))
