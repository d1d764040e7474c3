"""What is wrong with a name: of an input, a column, a field or a column of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError
from dovetail.errors._wording import did_you_mean, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class OfNames(DovetailError):
    """Names that nothing has, and names that more than one thing has."""

    @classmethod
    def unknown_input(cls, name: str, known: Iterable[str]) -> Self:
        """Name an input that the call does not have."""
        names = list(known)
        hint = did_you_mean(name, names) or f" Hint: name it in the call, as in join({name}=..., {names[-1]}=...)."
        if names == ["l", "r"]:
            hint = f" Hint: write 'l' or 'r', or name the inputs as in join({name}=..., r=...)."
        return cls(f"input {name!r} not found; the inputs are {quoted(names)}.{hint}")

    @classmethod
    def unknown_column(cls, column: object, side: str, known: Iterable[str]) -> Self:
        """Name a column that an input does not have, or not where it is asked for."""
        names = list(known)
        if not names:
            return cls(f"column {column!r} of {side!r} cannot be read here. Hint: use columns of the other input.")
        return cls(
            f"column {column!r} not found in {side!r}; it has {quoted(names)}.{did_you_mean(str(column), names)}"
        )

    @classmethod
    def column_nowhere(cls, column: str, inputs: Mapping[str, Iterable[str]]) -> Self:
        """Name a column that no input has."""
        known = [f"{name}.{own}" for name, columns in inputs.items() for own in columns]
        return cls(f"column {column!r} not found in any input; they have {quoted(known)}.{did_you_mean(column, known)}")

    @classmethod
    def ambiguous_column(cls, column: str, owners: Iterable[str]) -> Self:
        """Name a column that several inputs have."""
        names = list(owners)
        hint = f" Hint: write {names[0]}.{column} or {names[-1]}.{column}."
        return cls(
            f"column {column!r} is ambiguous; {quoted(names)} both have it; a column needs its input's name.{hint}"
        )

    @classmethod
    def ambiguous_spelling(cls, column: str, owner: str, found: Iterable[str]) -> Self:
        """Name a column that an input has in several spellings."""
        return cls(
            f"column {column!r} is ambiguous in {owner!r}; it has {quoted(found)}; "
            "names are equal whatever their case. Hint: rename one of them."
        )

    @classmethod
    def no_field(cls, name: str, known: Iterable[str]) -> Self:
        """Name a field that a struct does not have."""
        names = list(known)
        return cls(f"field {name!r} not found; the struct has {quoted(names)}.{did_you_mean(name, names)}")

    @classmethod
    def not_in_result(cls, text: str, owner: str) -> Self:
        """Refuse to show an input that the join type drops."""
        return cls(
            f"select {text!r} reads {owner!r}, of which this join keeps no row. Hint: use how='left' or 'inner'."
        )

    @classmethod
    def name_twice(cls, name: str) -> Self:
        """Refuse two output columns of one name."""
        return cls(
            f"the result would have two columns named {name!r}; names are equal whatever their case. "
            "Hint: use select with AS, or rename the aggregate or the input's column."
        )
