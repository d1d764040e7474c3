"""Run the races: `make bench`, or `python -m benchmarks` with choices.

    python -m benchmarks --list                            the names of all races
    python -m benchmarks --only arrow-point                one race (an exact name)
    python -m benchmarks --only arrow memory               all races whose names begin so
    python -m benchmarks --scale 0.01 --repeat 2           tiny, to try the races themselves
    python -m benchmarks.report                            only write docs/benchmarks.md again

A race that is run replaces its figures in the file of results; the others stay, each with its own date and conditions.
Without `--only` all are run and replaced. A full run writes benchmarks/results.json and docs/benchmarks.md; a run at
another scale writes to the system's temporary folder, unless `--out` says otherwise. All figures are from a machine
that should have nothing else to do, with 16 GB of memory and two cores.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from benchmarks import (
    arrow_races,
    flink_race,
    floors,
    growth,
    memory,
    online_races,
    report,
    ring_races,
    spark_races,
    stream_races,
    streaming_races,
    temporal_races,
    temporal_spark,
    theta_races,
)
from benchmarks.figures import Stand, conditions, load, save
from benchmarks.harness import CONSOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.figures import Outcome


def main() -> None:
    """Race dovetail against other engines and write down what came out."""
    asked = _arguments()
    chosen = _chosen(asked.only)
    if asked.list:
        CONSOLE.print("\n".join(chosen))
        return
    target = asked.out or _default_out(asked.scale)
    outcomes = load(target) if asked.only else {}
    try:
        for name, race in chosen.items():
            outcomes[name] = _run(race, Stand(asked.scale, asked.repeat))
            save(outcomes, target)  # after every race, so that a long run that breaks off is not lost
    finally:
        spark_races.restart()
    _publish(target)
    _show([outcomes[name] for name in chosen])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="races, or how their names begin")
    parser.add_argument("--scale", type=float, default=1.0, help="all numbers of rows are multiplied by this")
    parser.add_argument("--repeat", type=int, default=7, help="warm runs of every contender (7)")
    parser.add_argument("--out", type=Path, help="where the raw figures go (benchmarks/results.json)")
    parser.add_argument("--list", action="store_true", help="only list the races")
    asked = parser.parse_args()
    unknown = [name for name in asked.only if not any(race.startswith(name) for race in every_race())]
    if unknown:
        parser.error(f"no race {unknown[0]!r}; there are {', '.join(every_race())}")
    return asked


def every_race() -> dict[str, Callable[[Stand], Outcome]]:
    """All races in the order in which they run: those with Spark last, as its memory would weigh on the others."""
    alone = {**arrow_races.races(), **temporal_races.races(), **stream_races.races(), **growth.races()}
    alone |= {**online_races.races(), **flink_race.races()}
    with_spark = {**spark_races.races(), **theta_races.races(), **temporal_spark.races(), **ring_races.races()}
    with_spark |= floors.races()
    return {**alone, **with_spark, **streaming_races.races(), **memory.races()}


def _chosen(only: Sequence[str]) -> dict[str, Callable[[Stand], Outcome]]:
    races = every_race()
    wanted = {race for name in only for race in races if race == name or (name not in races and race.startswith(name))}
    return {name: race for name, race in races.items() if not only or name in wanted}


def _run(race: Callable[[Stand], Outcome], stand: Stand) -> Outcome:
    before = conditions(stand)
    outcome = replace(race(stand), run=before)
    for claim in outcome.claims:
        CONSOLE.print(
            f"{claim.what}: {claim.value:,.2f} {claim.unit} ({claim.sense} {claim.target:g}), {claim.verdict}"
        )
    return outcome


def _default_out(scale: float) -> Path:
    """Figures of another scale never replace those of the full size."""
    return report.RESULTS if scale == 1 else Path(tempfile.gettempdir(), f"dovetail-bench-{scale:g}.json")


def _publish(target: Path) -> None:
    shown = report.PAGE if target.resolve() == report.RESULTS else target.with_suffix(".md")
    report.write(target, shown)
    CONSOLE.print(f"figures: {target}\nreport: {shown}")


def _show(outcomes: Sequence[Outcome]) -> None:
    table = Table(*report.CLAIM_HEADS)
    for row in report.claims_table(outcomes):
        table.add_row(*row, style=None if row[-1] == "met" else "yellow")
    CONSOLE.print(table)


if __name__ == "__main__":
    main()
