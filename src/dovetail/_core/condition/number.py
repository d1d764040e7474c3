"""Numbers as a caller may write them, Python's or NumPy's, by their exact value."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real


def read_number(given: object) -> Fraction | None:
    """The value of a finite number; None if it is none. NumPy counts its lengths of time among the integers."""
    if isinstance(given, bool) or type(given).__name__ == "timedelta64":
        return None
    if isinstance(given, Integral):
        return Fraction(int(given))
    if isinstance(given, Rational):
        return Fraction(given)
    if isinstance(given, Real):
        given = float(given)
    return Fraction(given) if isinstance(given, float | Decimal) and math.isfinite(given) else None
