"""What a join for nothing would take: the parts that no plan on Spark can do without, beside us and the best rival.

Of each race that asks for more than we reach, the inputs are read and as many rows as the result has go into the sink,
without any join. The rival over the sum of these parts is the ratio that a join for nothing would reach.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from benchmarks import data
from benchmarks.figures import Claim, Outcome
from benchmarks.harness import Answer, Contender, compete
from benchmarks.ring_races import HOT_SHARE, LARGE, SMALL, on_disk, ours, own_plan
from benchmarks.spark_races import MILLION, WARM_UP, Bins, drained, start, stored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from benchmarks.figures import Stand

    Parts = dict[str, Callable[[], Any]]
    """What is to be done, by its name."""

ASKED = 3.0
"""How many times faster than its rival each of these joins should be."""
OVERLAPS = 19_458_465
"""Results of the skewed overlap of a million rows a side."""
BEST_BINS = Bins(40_000)
SHUFFLES = 16


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every floor by its name."""
    return {"floor-overlap": overlap, "floor-outer-skew": outer_skew}


def overlap(stand: Stand) -> Outcome:
    """The skewed overlap: one side brought, the other read, and rows of four columns counted into the sink."""
    with stored(data.overlap(stand.rows(MILLION), longer=1_000)) as own:
        parts: Parts = {
            "one side, into the sink": lambda: drained(own.read("l")),
            "the other side, to the driver": lambda: own.read("r").toArrow(),
            "as many results, counted into the sink": partial(_counted, stand.rows(OVERLAPS)),
        }
        return _floor("floor-overlap", "Spark: skewed overlap", stand, parts, [own.dovetail(), BEST_BINS.over(own)])


def outer_skew(stand: Stand) -> Outcome:
    """The left join with a hot key: the large side's matching rows into the sink, its keys once more for the marks."""
    with on_disk(stand.rows(SMALL), stand.rows(LARGE), HOT_SHARE) as folder:
        parts: Parts = {
            "matching rows of the large side beside constants, into the sink": partial(_beside_constants, folder),
            "its keys once more": lambda: _large(folder).agg(F.sum("k")).collect(),
        }
        whole = [ours(folder, "left"), own_plan(folder, "left", "shuffle_hash", SHUFFLES)]
        return _floor("floor-outer-skew", "Spark: left join with a hot key", stand, parts, whole)


def _floor(name: str, title: str, stand: Stand, parts: Parts, whole: Sequence[Contender]) -> Outcome:
    pieces = [Contender(part, "Spark SQL", "no join", run, lambda _: Answer(0, 0)) for part, run in parts.items()]
    timings = compete(name, [*whole, *pieces], repeat=stand.repeat, rivals=False, warm_up=WARM_UP / 3)
    own, rival, *floor = timings
    least, best = sum(part.median for part in floor), rival.best / sum(part.best for part in floor)
    what = f"{title}, a bound: a join for nothing, not ours"
    claim = Claim(what, rival.contender, rival.median / least, ASKED, "at least", by_best=best)
    note = (
        f"{title}: reading and results alone take {least:.2f} s, we {own.median:.2f} s, the rival {rival.median:.2f} s."
    )
    return Outcome(name, f"{title}, floor", f"{len(floor)} parts without a join", [claim], timings, [note])


def _counted(rows: int) -> DataFrame:
    """Rows of four numbers that generated code makes by counting, the cheapest that Spark knows."""
    return drained(start().range(rows).selectExpr("id AS a", "id + 1 AS b", "id + 2 AS c", "id + 3 AS d"))


def _large(folder: Path) -> DataFrame:
    return start().read.parquet(str(folder / "r"))


def _beside_constants(folder: Path) -> DataFrame:
    """Three quarters of the large side: half of its keys are hot, and of the others every second is matched."""
    return drained(
        _large(folder).where("r_id & 3 > 0").selectExpr("1L AS l_id", "k", "'name 12345' AS l_name", "r_id", "r_value")
    )
