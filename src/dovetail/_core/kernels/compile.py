"""The one decorator that turns a plain loop into machine code; every compile flag lives here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

NO_ROW = -1
"""The row position that stands for "no partner"."""


def kernel(function: F) -> F:
    """Compile a loop: no GIL, no bounds checks, cached on disk between processes."""
    compiled = numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")(function)
    return cast("F", compiled)
