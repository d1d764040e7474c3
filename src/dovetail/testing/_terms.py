"""An expression made ready to run on a pair of rows, and the parts that every expression is read with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

from dovetail.errors import UsageError
from dovetail.testing._kinds import VOID, as_decimal, common_kind, is_decimal, wider_decimal
from dovetail.testing._values import widen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlglot import exp

    from dovetail.testing._kinds import Kind
    from dovetail.testing._values import Value

Pair: TypeAlias = "tuple[tuple[Value, ...], tuple[Value, ...]]"


@dataclass(frozen=True, slots=True)
class Term:
    """What an expression is worth: its Spark type, and its value (None for NULL) for a left and a right row.

    `digits` is set for an integer literal only: beside a decimal, Spark gives it as many digits as it is written with.
    """

    kind: Kind
    value: Callable[[Pair], Value]
    digits: int = 0

    def to(self, kind: Kind) -> Term:
        """Return the same expression, brought to a wider type."""
        return self if kind == self.kind else Term(kind, lambda pair: widen(self.value(pair), self.kind, kind))


def constant(value: Value, kind: Kind, digits: int = 0) -> Term:
    """Return a literal."""
    return Term(kind, lambda _pair: value, digits)


def strict(kind: Kind, compute: Callable[..., Value], *terms: Term) -> Term:
    """Return a function of terms that is NULL as soon as one of them is."""

    def value(pair: Pair) -> Value:
        values = [term.value(pair) for term in terms]
        return None if any(v is None for v in values) else compute(*values)

    return Term(kind, value)


def operands(node: exp.Expr, one: Term, other: Term) -> tuple[Term, Term, Kind]:
    """Bring the two sides of an operator to one type, or say that Spark cannot."""
    kind = operator_kind(one, other)
    if kind is None:
        raise UsageError.operand_types(node.sql("spark"), [str(one.kind), str(other.kind)])
    return one.to(kind), other.to(kind), kind


def operator_kind(one: Term, other: Term) -> Kind | None:
    """Return the common type of an operator's two sides; only here does a literal's own length count."""
    literals = bool(one.digits or other.digits)
    if literals and is_decimal(one.kind) != is_decimal(other.kind) and VOID not in (one.kind, other.kind):
        return _literal_beside_decimal(one, other)
    return common_kind(one.kind, other.kind)


def _literal_beside_decimal(one: Term, other: Term) -> Kind | None:
    """Return the common type of a decimal and an integer literal."""
    return wider_decimal(as_decimal(one.kind, one.digits), as_decimal(other.kind, other.digits))


def same_kind(node: exp.Expr, terms: Sequence[Term]) -> list[Term]:
    """Bring all arguments of a function to one type, or say that Spark cannot."""
    kind = reduce(lambda kind, term: _join_kinds(node, kind, term.kind), terms, VOID)
    return [term.to(kind) for term in terms]


def _join_kinds(node: exp.Expr, one: Kind, other: Kind) -> Kind:
    kind = common_kind(one, other)
    if kind is None:
        raise UsageError.operand_types(node.sql("spark"), [str(one), str(other)])
    return kind
