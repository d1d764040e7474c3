"""Until which event time a row of a stream can have a partner: UNTIL, in Spark SQL and in words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dovetail._core.condition.parse import told
from dovetail._hosts.stream.runs import FOR_GOOD

ALWAYS = f"{FOR_GOOD}L"
_FURTHEST = 1 << 62
"""Further than any watermark comes, and no sum with an event time leaves a whole number of 64 bits."""
_UNITS = {"day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}


@dataclass(frozen=True)
class Bound:
    """A moment of a row, moved by so many microseconds; where it is NULL, there is no row to come, or no end."""

    moment: str
    length: int = 0
    may_be_open: bool = False

    @property
    def sql(self) -> str:
        """In microseconds."""
        length = max(-_FURTHEST, min(_FURTHEST, self.length))
        instant = f"unix_micros(CAST({self.moment} AS TIMESTAMP_LTZ)) + {length}L"
        return f"coalesce({instant}, {ALWAYS})" if self.may_be_open else instant

    def __str__(self) -> str:
        sign = "-" if self.length < 0 else "+"
        return told(self.moment) if self.length == 0 else f"{told(self.moment)} {sign} {_length(abs(self.length))}"


@dataclass(frozen=True)
class Until:
    """The least of some bounds, of rows that pass some filters: the others have no partner. No bound: no end."""

    bounds: tuple[Bound, ...] = ()
    filters: tuple[str, ...] = ()

    def filtered(self, filters: tuple[str, ...]) -> Until:
        """The same, of the rows that pass."""
        return replace(self, filters=filters)

    @property
    def sql(self) -> str:
        """In microseconds."""
        found = [own.sql for own in self.bounds]
        return self.where_passing(
            ALWAYS if not found else found[0] if len(found) == 1 else f"least({', '.join(found)})"
        )

    def where_passing(self, text: str) -> str:
        """What is computed of a row, and NULL where it fails its filters: there it might not be possible."""
        if not self.filters:
            return text
        return f"CASE WHEN {' AND '.join(f'({own})' for own in self.filters)} THEN {text} END"

    def __str__(self) -> str:
        if not self.bounds:
            return "for good"
        return f"until the watermark has passed {' or '.join(map(str, self.bounds))}"


def _length(micros: int) -> str:
    for name, unit in _UNITS.items():
        if micros % unit == 0:
            number = micros // unit
            return f"{number:,} {name}{'s' if number > 1 else ''}"
    return f"{micros / 1e6:g} seconds"
