"""Sums of doubles in twice their precision: beside every sum stands what rounding has lost of it."""

from __future__ import annotations

from dovetail._core.kernels.compile import piece


@piece
def lost_by_adding(total: float, value: float) -> float:
    """Return what rounding loses when two doubles are added, exactly."""
    longer = total + value
    part = longer - total
    return (total - (longer - part)) + (value - part)
