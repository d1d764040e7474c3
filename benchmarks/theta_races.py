"""One inequality on Spark against Spark's own plan, by the share of all pairs that match; and three inputs on Arrow.

Where every second pair matches, the time goes into handing out results: what counts there is that `auto` is not slower
than Spark. Where few match, what counts is how much faster it is.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import dovetail as dv
from benchmarks import data
from benchmarks.described import described
from benchmarks.figures import Outcome
from benchmarks.harness import OURS, Answer, Contender, compete, times_faster, times_longer
from benchmarks.spark_races import FILES, MILLION, WARM_UP, stored

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.figures import Stand

CHAIN = "r.x < s.x AND s.x <= t.x"


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    return {
        "arrow-three-way": three_way,
        "spark-theta-half": partial(against_own_plan, "spark-theta-half", 20_000, 1 / 2),
        "spark-theta-twentieth": partial(against_own_plan, "spark-theta-twentieth", 50_000, 1 / 20, target=3.0),
        "spark-theta-thousandth": partial(against_own_plan, "spark-theta-thousandth", 100_000, 1 / 1_000, target=20.0),
    }


def against_own_plan(name: str, rows: int, share: float, stand: Stand, *, target: float | None = None) -> Outcome:
    """The choice of `auto` against Spark's nested loop; without a target, it must be no more than a tenth slower."""
    title = f"Spark: one inequality, 1 pair in {1 / share:,.0f} matches"
    with stored(data.one_inequality(stand.rows(rows), share=share)) as own:
        from_python = own.dovetail("dovetail, results from Python", algorithm="broadcast")
        contenders = [own.dovetail(), own.spark(), *described(own), from_python]
        timings = compete(name, contenders, repeat=stand.repeat, warm_up=WARM_UP)
        size = f"{own.problem.size}, {timings[0].rows:,} results, {FILES} Parquet files a side"
    ours, theirs, *documents, _ = timings
    by_loop = times_longer(title, ours, theirs, 1.1) if target is None else times_faster(title, [ours, theirs], target)
    by_document = times_faster(f"{title}, against the document's algorithms", [ours, *documents], 1.5)
    return Outcome(name, title, size, [by_loop, by_document], timings)


def three_way(stand: Stand) -> Outcome:
    """Count, per row of the middle input, the pairs of a lower and a higher row, without making any."""
    rng = np.random.default_rng(data.SEED)
    size = stand.rows(MILLION)
    tables = {name: pa.table({"x": rng.integers(0, size * data.SPACING, size)}) for name in "rst"}
    columns = [table["x"].to_numpy() for table in tables.values()]
    contenders = [
        Contender(
            OURS, OURS, "agg= and per=", lambda: dv.join(**tables, on=CHAIN, agg={"n": "count(*)"}, per="s"), _rows
        ),
        Contender("np.sort", "NumPy", "all three columns", lambda: [np.sort(own) for own in columns], _rows),
    ]
    ours, sort = compete("arrow-three-way", contenders, repeat=stand.repeat, rivals=False)
    title = "Arrow: count over three inputs, per row of the middle one"
    claim = times_longer(title, ours, sort, 4.0)
    return Outcome("arrow-three-way", title, f"3 x {size:,} rows", [claim], [ours, sort])


def _rows(result: pa.Table | list[np.ndarray]) -> Answer:
    return Answer(len(result), 0)
