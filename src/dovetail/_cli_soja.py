"""`dovetail soja`: the third document's program, joined on the first column of two CSV files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail._one_line import one_line_errors
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._hosts.ring.processes import CsvJoin

NAMES = {"soja": "ring", "roja": "redistribute", "doja": "replicate", "der": "der"}
HOWS = ("left", "full")
MEGABYTE = 1 << 20


def soja(
    r_file: Annotated[str, typer.Option("--R-file", help="the smaller file, whose rows are all kept")],
    s_file: Annotated[str, typer.Option("--S-file", help="the larger file, which stays where it is")],
    concurrency_count: Annotated[int, typer.Option("--concurrency-count", help="how many processes")] = 2,
    how: Annotated[str, typer.Option(help="left, or full to keep the rows of S, too")] = "left",
    algorithm: Annotated[str, typer.Option(help="soja, roja, doja or der")] = "soja",
    out: Annotated[Path, typer.Option(help="where the result goes")] = Path("output-soja.csv"),
) -> None:
    """Join two CSV files on their first column, by processes in a ring."""
    from dovetail._hosts.ring.processes import join_files  # noqa: PLC0415 -- the command's help must stay light

    with one_line_errors():
        job = _job(r_file, s_file, concurrency_count, how, algorithm)
        report = join_files(job, out.absolute())
    typer.echo(
        f"{out}: {report.rows:,} rows in {report.seconds:.3f} seconds, peak memory {report.peak / MEGABYTE:,.1f} MB "
        f"for the rows in {job.workers} processes, which took {report.starting:.3f} seconds to start"
    )


def _job(r_file: str, s_file: str, workers: int, how: str, algorithm: str) -> CsvJoin:
    from dovetail._core.plan.outer import MOST_WORKERS  # noqa: PLC0415 -- the command's help must stay light

    if not 1 <= workers <= MOST_WORKERS:
        raise UsageError.number_of_workers("--concurrency-count", workers, MOST_WORKERS)
    if algorithm not in NAMES:
        raise UsageError.unknown_choice("algorithm", algorithm, NAMES)
    if how not in HOWS:
        raise UsageError.unknown_choice("how", how, HOWS)
    from dovetail._core.plan.query import read_how  # noqa: PLC0415 -- as above
    from dovetail._hosts.ring.csv_file import CsvFile  # noqa: PLC0415
    from dovetail._hosts.ring.processes import CsvJoin  # noqa: PLC0415

    return CsvJoin(CsvFile.open(r_file), CsvFile.open(s_file), read_how(how), NAMES[algorithm], workers)


if __name__ == "__main__":
    typer.run(soja)
