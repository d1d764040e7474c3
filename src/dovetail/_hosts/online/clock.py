"""The watermark: how far time has come, so that no row before it is expected any more.

It follows the greatest time seen on either side, `lateness` behind, and only rises. Where the lateness is to be found
from the data, it is the delay that all but a few of the rows seen lately have kept, with a little on top.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail._core.columns.axis import LEAST
from dovetail._core.columns.order_keys import float_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

MISSED = 1e-4
"""The share of rows that a found lateness may miss."""
_PARTS = 8
_BUCKETS = 64 * _PARTS
_DECAY = 0.9
_OFTEN = 10_000
_ENOUGH = 1000
"""Before so many rows are seen, nothing is known of their delays, and nothing is late."""


class Delays:
    """How far behind the greatest time rows come: counts by size, each an eighth of a power of two, old ones fading."""

    def __init__(self) -> None:
        self.counts = np.zeros(_BUCKETS)
        self._since = 0
        self.rows = 0

    def see(self, delays: NDArray[np.float64]) -> None:
        """Count the delays of some rows."""
        sizes = np.maximum(delays, 0.0) + 1.0
        buckets = np.minimum((np.log2(sizes) * _PARTS).astype(np.int64) + (delays > 0), _BUCKETS - 1)
        self.counts += np.bincount(buckets, minlength=_BUCKETS)
        self.rows += delays.size
        self._since += delays.size
        if self._since > _OFTEN:
            self.counts *= _DECAY
            self._since = 0

    def dump(self) -> dict[str, Any]:
        """Everything that is known."""
        return {"rows": self.rows, "since": self._since, "counts": self.counts.tolist()}

    def load(self, rows: int, since: int, counts: list[float]) -> None:
        """Take over what was dumped."""
        self.rows, self._since, self.counts = rows, since, np.array(counts)

    def lateness(self) -> float:
        """The delay that all but a few rows keep; without end before anything is known."""
        if self.rows < _ENOUGH:
            return float("inf")
        behind = np.cumsum(self.counts[::-1])[::-1]
        bucket = int(np.flatnonzero(behind > MISSED * behind[0])[-1])
        return 0.0 if bucket == 0 else float(2.0 ** ((bucket + 1) / _PARTS) - 1.0)


class Clock:
    """The greatest time seen and the watermark, in ticks of the axis, and the watermark as an order key."""

    def __init__(self, lateness: float | None, *, is_float: bool) -> None:
        self._lateness, self._is_float = lateness, is_float
        self.delays = Delays() if lateness is None else None
        self.greatest: Any = None
        self.watermark: Any = None
        self.key = LEAST
        self._led_to: Any = None

    @contextmanager
    def led(self, ticks: Any) -> Iterator[None]:
        """Where the lateness is found from the data, let these bring the watermark to a known time, if there is one."""
        self._led_to = None if self.delays is None else ticks
        try:
            yield
        finally:
            self._led_to = None

    @property
    def delays_seen(self) -> dict[str, Any] | None:
        """What is known of delays, to be restored."""
        return None if self.delays is None else self.delays.dump()

    @delays_seen.setter
    def delays_seen(self, seen: dict[str, Any] | None) -> None:
        if self.delays is not None and seen is not None:
            self.delays.load(**seen)

    @property
    def lateness(self) -> float:
        """In ticks, as given or as found so far."""
        return self.delays.lateness() if self.delays is not None else self._lateness or 0

    def see(self, ticks: NDArray[Any], greatest: int) -> None:
        """Let time come as far as some rows, the greatest key of which is known; without a finite time none counts."""
        ticks = self._finite(ticks)
        if not ticks.size:
            return
        self.learn(ticks)
        most = ticks.max().item() if self._is_float else int(greatest)
        self.greatest = most if self.greatest is None else max(self.greatest, most)
        lateness = self.lateness
        if self._led_to is not None:
            self.raise_to(self._led_to)
        elif lateness != float("inf"):
            behind = self.greatest - (lateness if self._is_float else int(lateness))
            self.raise_to(behind if self._is_float else max(behind, LEAST))

    def raise_to(self, ticks: Any) -> None:
        """Bring the watermark to a time, if it lies behind it."""
        if self.watermark is None or ticks > self.watermark:
            self.watermark = ticks
            self.key = int(float_keys(np.array([ticks]))[0]) if self._is_float else int(ticks)

    def learn(self, ticks: NDArray[Any]) -> None:
        """Measure each row against the greatest time before it; one without a finite time has no delay."""
        if self.delays is None:
            return
        ticks = self._finite(ticks)
        if not ticks.size:
            return
        so_far = np.maximum.accumulate(ticks)
        if self.greatest is not None:
            so_far = np.maximum(so_far, self.greatest)
        self.delays.see((so_far - ticks).astype(np.float64))

    def _finite(self, ticks: NDArray[Any]) -> NDArray[Any]:
        return ticks[np.isfinite(ticks)] if self._is_float else ticks
