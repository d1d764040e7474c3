"""The third document's experiments: outer joins by table size and selectivity, and what moves between workers."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.plan.query import read_query
from dovetail._hosts.ring.csv_file import CsvFile
from dovetail._hosts.ring.processes import CsvJoin, join_files
from dovetail.lab.experiments import Outcome, Row
from dovetail.lab.movies import movies_table, ratings_table, write_movies, write_ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa

NAMES = {"ring": "SOJA", "redistribute": "ROJA", "replicate": "DOJA", "der": "DER"}
SIZES = (10_000, 20_000, 30_000, 40_000, 50_000)
SELECTIVITIES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
RATINGS = 1_000_000
MOVED_MOVIES, MOVED_RATINGS = 50_000, 500_000
WORKERS = (2, 4, 8, 16, 32, 64)
PROCESSES = 2
TIMES = 3
NEAR = 0.15
MEGABYTE = 1 << 20


def by_size(sizes: Iterable[int] = SIZES, ratings: int = RATINGS) -> Outcome:
    """Figure 2, left: the table that travels grows."""
    found = {size: _measured(size, ratings, 0.5) for size in sizes}
    return _outcome("outer joins of CSV files, by the rows of R", "rows of R", found)


def by_selectivity(shares: Iterable[float] = SELECTIVITIES, movies: int = SIZES[0], ratings: int = RATINGS) -> Outcome:
    """Figure 2, right: more and more rows of R have partners."""
    found = {round(100 * share): _measured(movies, ratings, share) for share in shares}
    return _outcome("outer joins of CSV files, by selectivity", "rows of R with partners (%)", found)


def _measured(movies: int, ratings: int, selectivity: float) -> dict[str, dict[str, float]]:
    """Seconds and megabytes of every algorithm, and Spark's seconds, on the same two files."""
    with tempfile.TemporaryDirectory(prefix="dovetail-lab-") as name:
        folder = Path(name)
        write_movies(folder / "movies.csv", movies)
        write_ratings(folder / "ratings.csv", ratings, movies, selectivity)
        files = CsvFile.open(str(folder / "movies.csv")), CsvFile.open(str(folder / "ratings.csv"))
        found = {}
        for algorithm, told in NAMES.items():
            job = CsvJoin(*files, "left", algorithm, PROCESSES)
            reports = [join_files(job, folder / "out.csv") for _ in range(TIMES)]
            seconds, peak = median(own.seconds for own in reports), median(own.peak for own in reports)
            found[told] = {"seconds": seconds, "megabytes": peak / MEGABYTE}
        return found | {"Spark": {"seconds": median(_spark_seconds(folder) for _ in range(TIMES))}}


def _spark_seconds(folder: Path) -> float:
    """Spark's own join of the same files, from text to text, once its session runs."""
    from dovetail.spark import session  # noqa: PLC0415 -- only where it is measured

    spark = session(cores=PROCESSES)
    begun = time.perf_counter()
    small, large = (
        spark.read.csv(str(folder / name), header=True, schema=schema)
        for name, schema in (
            ("movies.csv", "movieId BIGINT, title STRING, genres STRING"),
            ("ratings.csv", "movieId BIGINT, userId STRING, rating STRING, timestamp STRING"),
        )
    )
    small.join(large, "movieId", "left").write.csv(str(folder / "spark"), header=True, mode="overwrite")
    return time.perf_counter() - begun


def _outcome(title: str, what: str, found: dict[int, dict[str, dict[str, float]]]) -> Outcome:
    rows = []
    for metric, word in (("seconds", "faster than"), ("megabytes", "in less memory than")):
        times = [own["ROJA"][metric] / max(1e-9, own["SOJA"][metric]) for own in found.values()]
        told = ", ".join(f"{one:.2f}x at {at:,}" for one, at in zip(times, found, strict=True))
        rows.append(Row(f"SOJA joins {word} ROJA at every point", told, min(times) > 1))
    return Outcome(title, "outer", {"what": what, "measured": found}, tuple(rows))


def moves(workers: Iterable[int] = WORKERS, movies: int = MOVED_MOVIES, ratings: int = MOVED_RATINGS) -> Outcome:
    """Messages and bytes between simulated workers, beside the formulas."""
    small, large = movies_table(movies).select(["movieId", "genres"]), ratings_table(ratings, movies, 0.5)
    found = {number: {told: _moved(small, large, name, number) for name, told in NAMES.items()} for number in workers}
    rows = []
    for told, formula in (("SOJA", "R (N - 1)"), ("ROJA", "(R + S) (N - 1) / N")):
        ratios = [own[told]["bytes"] / own[told]["formula"] for own in found.values()]
        measured = ", ".join(f"{ratio:.3f} at N = {at}" for ratio, at in zip(ratios, found, strict=True))
        near = all(abs(ratio - 1) < NEAR for ratio in ratios)
        rows.append(Row(f"{told} moves {formula}, in bytes", f"times the formula: {measured}", near))
    return Outcome("bytes between simulated workers", "moves", {"measured": found}, tuple(rows))


def _moved(small: pa.Table, large: pa.Table, algorithm: str, number: int) -> dict[str, Any]:
    from dovetail._core.columns.table import Columns  # noqa: PLC0415 -- as the host loads them, when they are needed
    from dovetail._hosts.arrow.outer import deal  # noqa: PLC0415

    inputs = Inputs(Input("R", tuple(small.column_names)), Input("S", tuple(large.column_names)))
    query = read_query(inputs, on="R.movieId = S.movieId", how="left", algorithm=algorithm, partitions=number)
    dealt = deal(query, Columns.whole("R", small), Columns.whole("S", large))
    traffic = dealt.run(number)[1]
    ours, theirs = (table.nbytes for table in dealt.tables)
    formula = (ours + theirs) * (number - 1) / number if algorithm == "redistribute" else ours * (number - 1)
    return {"messages": traffic.messages.total(), "bytes": traffic.bytes, "formula": formula}


EXPERIMENTS: dict[str, Callable[[], Outcome]] = {
    "figure-2-size": by_size,
    "figure-2-selectivity": by_selectivity,
    "figure-2-moves": moves,
}
