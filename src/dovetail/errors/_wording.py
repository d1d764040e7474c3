"""How messages name things."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def quoted(values: Iterable[str]) -> str:
    """Quote and join names for a message."""
    return ", ".join(repr(value) for value in values)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest the nearest known name, or nothing."""
    by_lower = {value.lower(): value for value in known}
    near = get_close_matches(name.lower(), by_lower, n=1)
    return f" Hint: did you mean {by_lower[near[0]]!r}?" if near else ""


def an(kind: str) -> str:
    """The name of a type with its article."""
    return f"an {kind}" if kind[:1].lower() in "aeiou" else f"a {kind}"
