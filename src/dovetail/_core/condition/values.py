"""The parts of a join condition, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sqlglot import exp

Side = Literal["left", "right"]


class Op(Enum):
    """An order comparison, read as `left <op> right`."""

    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="

    def flip(self) -> Op:
        """The same comparison with its operands exchanged."""
        return _FLIPPED[self]

    @property
    def strict(self) -> bool:
        """Whether equal values do not match."""
        return self in (Op.LT, Op.GT)

    @property
    def rises(self) -> bool:
        """Whether the right value lies above the left one."""
        return self in (Op.LT, Op.LE)


_FLIPPED = {Op.LT: Op.GT, Op.LE: Op.GE, Op.GT: Op.LT, Op.GE: Op.LE}


@dataclass(frozen=True, slots=True)
class Expression:
    """A Spark SQL expression whose columns are all resolved to an input; equal if the text is equal."""

    sql: str
    node: exp.Expr

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.sql == other.sql

    def __hash__(self) -> int:
        return hash(self.sql)

    def __str__(self) -> str:
        return self.sql


@dataclass(frozen=True, slots=True)
class Equality:
    """`left = right`, or `<=>` if null-safe; `written` is what the caller wrote, if that was something else."""

    left: Expression
    right: Expression
    null_safe: bool = False
    written: str | None = None

    def flip(self) -> Equality:
        """The same equality, seen from the other side."""
        return Equality(self.right, self.left, self.null_safe, self.written)

    def __str__(self) -> str:
        return f"{self.left} {'<=>' if self.null_safe else '='} {self.right}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left <op> right`; `written` is what the caller wrote, if that was something else."""

    left: Expression
    op: Op
    right: Expression
    written: str | None = None

    @property
    def is_solved(self) -> bool:
        """Whether it was solved for a side: its values are none that the caller compares."""
        return self.written is not None

    def flip(self) -> Comparison:
        """The same comparison, seen from the other side."""
        return Comparison(self.right, self.op.flip(), self.left, self.written)

    def __str__(self) -> str:
        return f"{self.left} {self.op.value} {self.right}"


@dataclass(frozen=True, slots=True)
class Condition:
    """A conjunction, sorted by what each part can do for the join.

    A filter speaks of one side: a row that fails it has no partner, but an outer join still keeps it. A residual speaks
    of both sides in a way that no order helps with: it is tested pair by pair.
    """

    sql: str
    keys: tuple[Equality, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    left_filters: tuple[Expression, ...] = ()
    right_filters: tuple[Expression, ...] = ()
    residuals: tuple[Expression, ...] = ()

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Every expression of one side, and every residual."""
        pairs: tuple[Equality | Comparison, ...] = (*self.keys, *self.comparisons)
        both = tuple(own for pair in pairs for own in (pair.left, pair.right))
        return (*both, *self.left_filters, *self.right_filters, *self.residuals)

    def flip(self) -> Condition:
        """The same pairs, with the sides exchanged."""
        return Condition(
            self.sql,
            tuple(key.flip() for key in self.keys),
            tuple(comparison.flip() for comparison in self.comparisons),
            self.right_filters,
            self.left_filters,
            self.residuals,
        )
