"""Order keys that do not depend on what else is there: the same for a value whenever it comes.

Integers, times, doubles and decimals of at most 18 digits are their own; texts and wide decimals have none that fit 64
bits, but a hash, which tells apart most of what is not equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from dovetail._core.columns.order_keys import is_plain, order_keys
from dovetail._core.columns.types import WORD_DIGITS

if TYPE_CHECKING:
    from numpy.typing import NDArray


def has_stable_order(kind: pa.DataType) -> bool:
    """Whether keys of a type never depend on other values."""
    if pa.types.is_decimal(kind):
        return bool(kind.precision <= WORD_DIGITS)
    return is_plain(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)


def stable_keys(array: pa.Array) -> NDArray[np.int64]:
    """Keys of values without NULL: in their order if the type has a stable one, else a hash."""
    return order_keys([array])[0] if has_stable_order(array.type) else _hashed(array)


def _hashed(array: pa.Array) -> NDArray[np.int64]:
    """A hash of each value; of equal values it is made once."""
    encoded = array.dictionary_encode()
    values = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)[:-1]
    texts = values if pa.types.is_string(array.type) else np.array([repr(own) for own in values] + [None], object)[:-1]
    hashed: NDArray[np.int64] = pd.util.hash_array(texts, categorize=False).view(np.int64)
    return np.asarray(hashed[encoded.indices.to_numpy(zero_copy_only=False)], np.int64)
