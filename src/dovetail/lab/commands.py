"""The commands `dovetail lab list`, `run` and `report`, which `python -m dovetail.lab` takes, too."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail._one_line import OneLineGroup, one_line_errors
from dovetail.errors import UsageError

lab = typer.Typer(
    cls=OneLineGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="The documents' experiments: list them, run them, read the report.",
)
Results = Annotated[Path, typer.Option(help="where figures, numbers and the report go")]
RESULTS = Path("lab-results")


@lab.command("list")
def list_experiments() -> None:
    """List the experiments by name."""
    from dovetail.lab.run import EXPERIMENTS  # noqa: PLC0415 -- it draws, and the command's help must stay light

    print(*EXPERIMENTS, sep="\n")  # noqa: T201 -- the answer


@lab.command("run")
def run_experiments(
    names: Annotated[list[str] | None, typer.Argument(help="which experiments; all if left out")] = None,
    out: Results = RESULTS,
) -> None:
    """Run experiments and draw their figures."""
    from dovetail.lab.run import run  # noqa: PLC0415 -- as above

    with one_line_errors():
        run(names, out)


@lab.command("report")
def show_report(out: Results = RESULTS) -> None:
    """Show what the experiments have found."""
    from dovetail.lab.report import REPORT  # noqa: PLC0415 -- as above

    with one_line_errors():
        if not (out / REPORT).exists():
            raise UsageError.unreadable_file(out / REPORT, "no experiment has left a report there yet")
        print((out / REPORT).read_text(encoding="utf-8"))  # noqa: T201 -- the answer
