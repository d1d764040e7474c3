"""Copy a stretch of bytes from one array to another as the machine's own library does.

A loop that Numba compiles, and a slice that it assigns, first ask for every stretch whether the two overlap: on
stretches of some ten bytes that takes several times as long as the copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
from numba.core import cgutils, types
from numba.extending import intrinsic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind


def _plain(data: NDArray[np.uint8], start: Int, size: Int, out: NDArray[np.uint8], at: Int) -> None:
    out[at : at + size] = data[start : start + size]


def _compiled(_: Any, data: Any, start: Any, size: Any, out: Any, at: Any) -> Any:
    """The same for the compiler: how it is typed, and how it is done."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        arrays = [context.make_array(signature.args[i])(context, builder, arguments[i]).data for i in (0, 3)]
        source, target = (builder.gep(own, [arguments[i]]) for own, i in zip(arrays, (1, 4), strict=True))
        cgutils.raw_memcpy(builder, target, source, arguments[2], 1)  # type: ignore[no-untyped-call]

    return types.void(data, start, size, out, at), generate


copy_bytes: Any = _plain if numba.config.DISABLE_JIT else intrinsic(_compiled)  # type: ignore[attr-defined]
"""`copy_bytes(data, start, size, out, at)` writes the `size` bytes from `start` on to `at` of another array."""
