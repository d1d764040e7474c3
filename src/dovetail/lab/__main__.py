"""`python -m dovetail.lab`: run the experiments, all or by name, with progress."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from dovetail._one_line import one_line_errors
from dovetail.errors import UsageError
from dovetail.lab import outer
from dovetail.lab.experiments import EXPERIMENTS as THETA
from dovetail.lab.online_experiments import ONLINE
from dovetail.lab.report import write, write_report
from dovetail.lab.streams import STREAMS

console = Console()
EXPERIMENTS = THETA | STREAMS | outer.EXPERIMENTS | ONLINE


def main(
    names: Annotated[list[str] | None, typer.Argument(help="which experiments; all if left out")] = None,
    out: Annotated[Path, typer.Option(help="where figures, numbers and the report go")] = Path("lab-results"),
) -> None:
    """Run the documents' experiments and draw their figures."""
    chosen = names or list(EXPERIMENTS)
    with one_line_errors():
        for name in chosen:
            if name not in EXPERIMENTS:
                raise UsageError.unknown_choice("experiment", name, EXPERIMENTS)
        outcomes = {}
        for name in track(chosen, "experiments", console=console):
            outcomes[name] = EXPERIMENTS[name]()
            write(name, outcomes[name], out)
    report = write_report(outcomes, out)
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    console.print(f"{sum(row.holds for row in rows)} of {len(rows)} claims hold here; see {report}")


if __name__ == "__main__":
    typer.run(main)
