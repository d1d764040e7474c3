"""The one decorator that turns a plain loop into machine code; every compile flag lives here."""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

NO_ROW = -1
"""The row position that stands for "no partner"."""
_FLAGS: dict[str, Any] = {"nogil": True, "boundscheck": False, "error_model": "numpy", "_nrt": False}
"""The last one leaves a kernel without memory of its own. A loop that may take memory counts references to every array
that it hands on, which cost some loops a third of their time; so results and scratch are made by the caller."""


def kernel(function: F) -> F:
    """Compile a loop: no GIL, no bounds checks, cached on disk between processes.

    Numbers behave as the machine's do, without warnings; NumPy, which stands in for the compiler where
    `NUMBA_DISABLE_JIT=1`, must be told so.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(over="ignore", invalid="ignore")(function)
    try:
        return cast("F", numba.njit(cache=True, **_FLAGS)(function))
    except RuntimeError:  # neither our folder nor the user's can be written to
        _tell_no_cache()
        return cast("F", numba.njit(**_FLAGS)(function))


@cache
def _tell_no_cache() -> None:
    logging.getLogger("dovetail").warning(
        "no folder for compiled loops can be written to, so this process compiles its own, which takes some seconds. "
        "Hint: name one with the environment variable NUMBA_CACHE_DIR."
    )


def piece(function: F) -> F:
    """Compile a loop's piece into every kernel that calls it, where a call would cost more than the piece."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    return cast("F", numba.njit(inline="always", **_FLAGS)(function))
