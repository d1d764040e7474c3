"""What a race leaves behind: timings, claims with their targets, and the conditions under which they were measured."""

from __future__ import annotations

import json
import os
import platform
import statistics
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import CORES
from benchmarks.data import SEED

FINAL = "race"
"""The stage that counts; those before it only look for the best plan of a peer."""

ENGINES = ("dovetail-joins", "duckdb", "numba", "numpy", "polars", "pyarrow", "pyspark")


@dataclass(frozen=True, slots=True)
class Timing:
    """All runs of one contender in one stage of a race, in seconds."""

    contender: str
    engine: str
    settings: str
    stage: str
    cold: float
    warm: list[float]
    rows: int
    checksum: int
    peak_gb: float | None = None

    @property
    def median(self) -> float:
        """The middle warm run; the cold one if there is no other."""
        return statistics.median(self.warm or [self.cold])

    @property
    def best(self) -> float:
        """The fastest warm run."""
        return min(self.warm or [self.cold])


@dataclass(frozen=True, slots=True)
class Claim:
    """One figure and what it must reach."""

    what: str
    against: str
    value: float
    target: float
    sense: str
    unit: str = "x"
    by_best: float | None = None

    @property
    def met(self) -> bool:
        """Whether the target is reached."""
        return self.value >= self.target if self.sense == "at least" else self.value <= self.target

    @property
    def verdict(self) -> str:
        """Met, or by how much short."""
        if self.met:
            return "met"
        if self.sense == "at least":
            return f"short by {1 - self.value / self.target:.0%}"
        return f"over by {self.value / self.target - 1:.0%}"


@dataclass(frozen=True, slots=True)
class Stand:
    """The conditions that the person who starts the races chooses."""

    scale: float = 1.0
    repeat: int = 7

    def rows(self, number: int) -> int:
        """A full-size number of rows at this scale."""
        return max(8, round(number * self.scale))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A race that has been run."""

    race: str
    title: str
    data: str
    claims: list[Claim]
    timings: list[Timing]
    notes: list[str] = field(default_factory=list)
    run: dict[str, Any] = field(default_factory=dict)


def conditions(stand: Stand) -> dict[str, Any]:
    """Everything that a figure depends on and that the race itself does not say."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "scale": stand.scale,
        "repeat": stand.repeat,
        "seed": SEED,
        "load": [round(one, 2) for one in os.getloadavg()],
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "threads": CORES,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": platform.platform(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in ENGINES}},
    }


def save(outcomes: dict[str, Outcome], path: Path) -> None:
    """Write all outcomes as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(one) for one in outcomes.values()], indent=1) + "\n")


def load(path: Path) -> dict[str, Outcome]:
    """Read outcomes by the names of their races; none if there is no such file."""
    if not path.exists():
        return {}
    return {raw["race"]: read_outcome(raw) for raw in json.loads(path.read_text())}


def read_outcome(raw: dict[str, Any]) -> Outcome:
    """An outcome as it was written."""
    claims, timings = [Claim(**one) for one in raw["claims"]], [Timing(**one) for one in raw["timings"]]
    return Outcome(**{**raw, "claims": claims, "timings": timings})


def _cpu() -> str:
    """The model of the processor, as Linux names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
