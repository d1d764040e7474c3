"""Run the documents' experiments, all or by name, with progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress

from dovetail.errors import UsageError
from dovetail.lab import outer
from dovetail.lab.experiments import EXPERIMENTS as THETA
from dovetail.lab.online_experiments import ONLINE
from dovetail.lab.report import write, write_report
from dovetail.lab.streams import STREAMS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

console = Console()
EXPERIMENTS = THETA | STREAMS | outer.EXPERIMENTS | ONLINE


def run(names: Sequence[str] | None, out: Path) -> None:
    """Run experiments, all if none is named, and leave their figures and a report in a folder."""
    chosen = names or list(EXPERIMENTS)
    for name in chosen:
        if name not in EXPERIMENTS:
            raise UsageError.unknown_choice("experiment", name, EXPERIMENTS)
    _make_folder(out)
    outcomes = {}
    with Progress(console=console) as shown:
        task = shown.add_task("", total=len(chosen))
        for name in chosen:
            shown.update(task, description=name)
            outcomes[name] = EXPERIMENTS[name]()
            write(name, outcomes[name], out)
            shown.advance(task)
    report = write_report(EXPERIMENTS, out)
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    console.print(
        f"{sum(row.holds for row in rows)} of {len(rows)} claims hold here; see {report}", markup=False, soft_wrap=True
    )


def _make_folder(out: Path) -> None:
    """Make the folder of the results before the first experiment takes its time."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError.unwritable_file(out, error.strerror or str(error)) from None
