"""Where order keys lie on the number line, so that a range of values can be cut into pieces of equal width.

Order keys say which value is greater; they do not say by how much. A double's key is its bits, a decimal's its unscaled
value: both are turned back. Dates and times are counted in their own units, strings and binary by their ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from dovetail._core.columns.order_keys import floats_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def places(keys: NDArray[np.int64], kind: pa.DataType) -> NDArray[np.float64]:
    """The place of every key; it never falls where the key rises. NaN, the greatest number, stands at infinity."""
    if pa.types.is_floating(kind):
        values = floats_of(keys)
        return np.where(np.isnan(values), np.float64(np.inf), values)
    if pa.types.is_decimal(kind):
        return cast("NDArray[np.float64]", keys / 10.0**kind.scale)
    return keys.astype(np.float64)
