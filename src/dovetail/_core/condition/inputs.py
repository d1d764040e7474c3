"""The names that a condition may use: the inputs and their columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail._core.condition.dialect import AsWritten
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.condition.values import Side


@dataclass(frozen=True, slots=True)
class Input:
    """One side of the join: its name in the condition and its columns.

    `case_sensitive` says whether the case of names counts, `dialect` in which one texts speak of them. `lengths` are
    those of its columns of a fixed length, by name, whose values may be shorter if they are `unfilled`.
    """

    name: str
    columns: tuple[str, ...]
    case_sensitive: bool = False
    dialect: type[AsWritten] = AsWritten
    lengths: tuple[tuple[str, int], ...] = ()
    unfilled: bool = False

    def plain(self, name: str) -> str:
        """A name as it is compared with others."""
        return name if self.case_sensitive else name.lower()

    def find(self, column: str) -> str | None:
        """The column's own spelling; None if there is none."""
        found = [own for own in self.columns if self.plain(own) == self.plain(column)]
        if len(found) > 1:
            raise UsageError.ambiguous_spelling(column, self.name, found)
        return found[0] if found else None


class Names(ABC):
    """What a condition may speak of: inputs by name, and their columns."""

    __slots__ = ()

    @property
    @abstractmethod
    def each(self) -> tuple[Input, ...]:
        """The inputs in the order of the call."""

    @property
    def dialect(self) -> type[AsWritten]:
        """The dialect in which texts speak of the inputs."""
        return self.each[0].dialect

    def named(self, name: str) -> Input | None:
        """The input of that name."""
        return next((own for own in self.each if own.plain(own.name) == own.plain(name)), None)

    def resolve(self, column: exp.Column) -> exp.Expr:
        """Rewrite a column to `input`.`column`, followed by the fields of a struct, if any."""
        parts = [part.name for part in column.parts]
        owner = self.named(parts[0]) if len(parts) > 1 else None
        if owner is None:
            owner, parts = self._owner(parts), ["", *parts]
        own = owner.find(parts[1])
        if own is None:
            raise UsageError.unknown_column(parts[1], owner.name, owner.columns)
        return _qualified(owner.name, own, parts[2:])

    def _owner(self, parts: list[str]) -> Input:
        """The one input that has an unqualified column."""
        owners = [own for own in self.each if own.find(parts[0]) is not None]
        if len(owners) == 1:
            return owners[0]
        if owners:
            raise UsageError.ambiguous_column(parts[0], [own.name for own in owners])
        if len(parts) > 1:
            raise UsageError.unknown_input(parts[0], [own.name for own in self.each])
        raise UsageError.column_nowhere(parts[0], {own.name: own.columns for own in self.each})


@dataclass(frozen=True, slots=True)
class Inputs(Names):
    """The two sides of a join."""

    left: Input
    right: Input

    @property
    def each(self) -> tuple[Input, ...]:
        """The left side, then the right."""
        return self.left, self.right

    def side(self, name: str) -> Side:
        """Which side an input's own name stands for."""
        return "left" if name == self.left.name else "right"


@dataclass(frozen=True, slots=True)
class ManyInputs(Names):
    """The inputs of a join of three and more."""

    inputs: tuple[Input, ...]

    @property
    def each(self) -> tuple[Input, ...]:
        """The inputs in the order of the call."""
        return self.inputs


def _qualified(name: str, column: str, fields: list[str]) -> exp.Expr:
    """Build `name`.`column`.`field`...."""
    node: exp.Expr = exp.column(exp.to_identifier(column, quoted=True), exp.to_identifier(name, quoted=True))
    for field in fields:
        node = exp.Dot(this=node, expression=exp.to_identifier(field, quoted=True))
    return node
