"""What an engine has done: counts, rates and quantiles of latency, as a dictionary and as Prometheus text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_KEPT = 65_536
QUANTILES = (0.5, 0.9, 0.99, 0.999)


class Latencies:
    """The last latencies, in nanoseconds; each counts for the rows that had it."""

    def __init__(self) -> None:
        self._values = np.zeros(_KEPT, np.int64)
        self._next = 0
        self.count = 0

    def add(self, values: Ints) -> None:
        """Keep some more."""
        self.count += values.size
        values = values[-_KEPT:]
        room = _KEPT - self._next
        self._values[self._next : self._next + values.size] = values[:room]
        self._values[: max(0, values.size - room)] = values[room:]
        self._next = (self._next + values.size) % _KEPT

    def add_alike(self, value: int, times: int) -> None:
        """Keep one that some rows share."""
        self.count += times
        times = min(times, _KEPT)
        behind = self._next + times
        self._values[self._next : behind] = value
        self._values[: max(0, behind - _KEPT)] = value
        self._next = behind % _KEPT

    def quantiles(self) -> dict[float, float]:
        """Seconds by quantile; empty before the first."""
        known = self._values[: min(self.count, _KEPT)]
        if not known.size:
            return {}
        return {q: float(v) / 1e9 for q, v in zip(QUANTILES, np.quantile(known, QUANTILES), strict=True)}


class Metrics:
    """Counts and latencies of one engine."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.rows = [0, 0]
        self.late = [0, 0]
        self.results = 0
        self.requests = 0
        self.cut = 0
        self.waited, self.served, self.asked = Latencies(), Latencies(), Latencies()
        self._share, self._shares = 0.0, 0

    def answered(self, arrived: Ints, begun: int) -> None:
        """Count the results of base rows that arrived at some times, in a call that began at one."""
        now = time.perf_counter_ns()
        self.results += arrived.size
        self.waited.add(now - arrived)
        self.served.add_alike(now - begun, arrived.size)

    def requested(self, rows: int, begun: int) -> None:
        """Count requests."""
        self.requests += rows
        self.asked.add_alike(time.perf_counter_ns() - begun, 1)

    def looked(self, inside: Ints, visited: Ints | None) -> None:
        """Count how many of the rows looked at lay in the windows; None if no other was looked at."""
        shares = int(np.count_nonzero(inside if visited is None else visited))
        self._shares += shares
        self._share += shares if visited is None else float((inside / np.maximum(visited, 1)).sum())

    @property
    def effectiveness(self) -> float:
        """The mean share of rows looked at that lay in the window (equation 1)."""
        return self._share / self._shares if self._shares else 1.0

    def as_dict(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Everything by name; `state` is what the engine holds now."""
        seconds = time.perf_counter() - self.started
        return {
            "seconds": seconds,
            "base_rows": self.rows[0],
            "probe_rows": self.rows[1],
            "results": self.results,
            "requests": self.requests,
            "throughput": sum(self.rows) / seconds if seconds else 0.0,
            "late_base_rows": self.late[0],
            "late_probe_rows": self.late[1],
            "missed": sum(self.late) / max(1, sum(self.rows) + sum(self.late)),
            "effectiveness": self.effectiveness,
            "log_bytes_cut": self.cut,
            "latency": self.waited.quantiles(),
            "service": self.served.quantiles(),
            "request": self.asked.quantiles(),
            "latency_count": self.waited.count,
            "service_count": self.served.count,
            "request_count": self.asked.count,
            **state,
        }


_TOLD = {
    "base_rows": ("counter", "Base rows taken."),
    "probe_rows": ("counter", "Probe rows taken."),
    "results": ("counter", "Results handed out."),
    "requests": ("counter", "Requests answered."),
    "late_base_rows": ("counter", "Base rows that came after the watermark."),
    "late_probe_rows": ("counter", "Probe rows that came after the watermark."),
    "throughput": ("gauge", "Rows a second since the start."),
    "missed": ("gauge", "Share of rows that were late."),
    "effectiveness": ("gauge", "Share of the rows looked at that lay in the window."),
    "unbalancedness": ("gauge", "Deviation of the joiners' loads over their mean."),
    "rows_held": ("gauge", "Probe rows held."),
    "rows_waiting": ("gauge", "Base rows that wait for the watermark."),
    "bytes_held": ("gauge", "Memory of the probe rows."),
    "keys": ("gauge", "Keys seen."),
    "latency": ("summary", "Seconds from a base row's arrival to its result, its wait for the watermark included."),
    "service": ("summary", "Seconds from the call that made a result due to the result."),
    "request": ("summary", "Seconds from a request to its answer."),
}


def prometheus(values: Mapping[str, Any]) -> str:
    """The same as Prometheus reads it."""
    lines = []
    for name, (kind, told) in _TOLD.items():
        full = f"dovetail_online_{name}" + ("_total" if kind == "counter" else "_seconds" if kind == "summary" else "")
        lines += [f"# HELP {full} {told}", f"# TYPE {full} {kind}"]
        if kind == "summary":
            lines += [f'{full}{{quantile="{quantile}"}} {value:.9g}' for quantile, value in values[name].items()]
            lines.append(f"{full}_count {values[f'{name}_count']}")
        else:
            lines.append(f"{full} {values[name]}")
    return "\n".join([*lines, ""])
