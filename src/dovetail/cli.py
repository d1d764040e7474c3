"""The `dovetail` command: joins of files, their plans, the experiments and the races."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

import dovetail as dv
from dovetail._cli_soja import soja
from dovetail._one_line import OneLineGroup, one_line_errors, tell, told
from dovetail.errors import UsageError
from dovetail.lab.commands import lab

app = typer.Typer(cls=OneLineGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
"""Every command; a mistake of the caller is one line and exit code 2."""

Left = Annotated[Path, typer.Option(help="the file called l in the condition: CSV, Parquet, Arrow, JSON lines")]
Right = Annotated[Path, typer.Option(help="the file called r")]
On = Annotated[str, typer.Option(help="a Spark SQL condition, as in 'l.x < r.y'")]
How = Annotated[str, typer.Option(help="inner, left, right, full, semi or anti")]
Algorithm = Annotated[str, typer.Option(help="auto, or an algorithm by its name")]
Select = Annotated[str | None, typer.Option(help="a Spark SQL select list; all columns if left out")]
Agg = Annotated[list[str] | None, typer.Option(help="an aggregate as name=call, as in 'n=count(*)'; may be repeated")]
Per = Annotated[str | None, typer.Option(help="the input whose rows the aggregates belong to: l or r")]


def _show_version(asked: bool) -> None:  # noqa: FBT001 -- as typer calls it
    if asked:
        print(dv.__version__)  # noqa: T201 -- the answer
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="tell the version")]


@app.callback()
def dovetail(
    *,
    version: Version = False,
) -> None:
    """Joins that equality cannot express: inequalities, intervals, bands, overlaps, and rows near in time."""


@app.command()
def join(
    left: Left,
    right: Right,
    on: On,
    out: Annotated[Path, typer.Option(help="where the result goes: CSV, Parquet or Arrow")],
    how: How = "inner",
    algorithm: Algorithm = "auto",
    select: Select = None,
    agg: Agg = None,
    per: Per = None,
) -> None:
    """Join two files into a third."""
    from dovetail._files import refuse_unwritable, write_batches  # noqa: PLC0415 -- the command's help must stay light

    with one_line_errors(), told.status("joining") as status:
        refuse_unwritable(out)
        sides = _opened(left, right, status)
        rows = dv.join(*sides, on=on, how=how, algorithm=algorithm, select=select, agg=_named(agg), per=per)
        number = write_batches(out, rows, lambda done: status.update(f"joining: {done:,} rows written"))
    tell(f"{number:,} rows in {out}")


@app.command()
def explain(
    left: Left,
    right: Right,
    on: On,
    how: How = "inner",
    algorithm: Algorithm = "auto",
    select: Select = None,
    agg: Agg = None,
    per: Per = None,
    plot: Annotated[Path | None, typer.Option(help="where to draw the join matrix: PNG or SVG")] = None,
) -> None:
    """Tell how a join of two files would be done, and why."""
    with one_line_errors():
        with told.status("reading") as status:
            sides = _opened(left, right, status)
            plan = dv.explain(*sides, on=on, how=how, algorithm=algorithm, select=select, agg=_named(agg), per=per)
            if plot is not None:
                plan.plot(plot)
        print(plan)  # noqa: T201 -- the answer


app.command()(soja)
app.add_typer(lab, name="lab")


@app.command()
def bench(
    args: Annotated[list[str] | None, typer.Argument(help="what `python -m benchmarks` takes, as in -- --list")] = None,
) -> None:
    """Run the races against other engines; they stand in the repository, not in the package."""
    from runpy import run_module  # noqa: PLC0415 -- only here

    sys.path.insert(0, str(Path.cwd()))
    with one_line_errors():
        if find_spec("benchmarks") is None:
            raise UsageError.no_benchmarks()
        sys.argv[1:] = args or []
        run_module("benchmarks", run_name="__main__", alter_sys=True)


def _opened(left: Path, right: Path, status: Any) -> list[Any]:
    """Both files as readers, so that the result is made as it is written."""
    from dovetail._files import read_table  # noqa: PLC0415 -- as above

    out = []
    for path in (left, right):
        status.update(Text(f"reading {path}"))
        out.append(read_table(path).to_reader())
    status.update("joining")
    return out


def _named(aggregates: list[str] | None) -> dict[str, str] | None:
    """`n=count(*)` as a name and a call."""
    if aggregates is None:
        return None
    named = [text.partition("=")[::2] for text in aggregates]
    found: dict[str, str] = {}
    for text, (name, call) in zip(aggregates, named, strict=True):
        if not (name.strip() and call.strip()):
            raise UsageError.unnamed_aggregate(text)
        if name.strip() in found:
            raise UsageError.name_twice(name.strip())
        found[name.strip()] = call.strip()
    return found


if __name__ == "__main__":
    app()
