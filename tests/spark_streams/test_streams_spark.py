"""Joins of streaming DataFrames on Spark: the rows of the batch join, through restarts, for every kind of join."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

import dovetail as dv
from dovetail.errors import UnsupportedError, UsageError
from tests.spark_answers import changed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

SECOND = 1_000_000
LAST = 10_000
"""Seconds at which the last row of either input lies: it lets the watermark pass all others."""


def _temporal(left: Any, right: Any, **options: Any) -> Any:
    return dv.temporal_join(l=left, r=right, ts="ts", window=dv.sliding("7 seconds"), **options)


_BAND = "l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL 20 SECONDS AND l.ts + INTERVAL 5 SECONDS"
_SOON = "r.ts >= l.ts AND r.ts < l.ts + INTERVAL 5 SECONDS AND l.v < r.v"
_APART = "r.ts - l.ts <= INTERVAL 5 SECONDS AND l.ts - r.ts <= INTERVAL 20 SECONDS"
_FOLDS = {"n": "count(*)", "most": "max(v)"}
_ZONE, _ANSI = "spark.sql.session.timeZone", "spark.sql.ansi.enabled"
QUICK: dict[str, Callable[..., Any]] = {
    "inner": partial(dv.join, on=_BAND),
    "asof": partial(dv.asof_join, on="ts", keys="k", where="r.v > 0.3"),
    "full": partial(dv.join, on=_BAND, how="full", select="coalesce(l.id, r.id) AS id, r.id AS r_id, l.v + r.v AS sum"),
}
SLOW: dict[str, Callable[..., Any]] = {
    **{how: partial(dv.join, on=_BAND, how=how) for how in ("left", "right", "semi", "anti")},
    "left, by a distance": partial(dv.join, on=f"l.k = r.k AND {_APART}", how="left"),
    "full, at one time": partial(dv.join, on="l.ts = r.ts AND l.v < r.v", how="full"),
    "left, no key, 3 cells": partial(dv.join, on=_SOON, how="left", partitions=3),
    "full, no key": partial(dv.join, on=_SOON, how="full"),
    "keys where filters hold": partial(dv.join, on=f"l.k <> 2 AND 2 / (l.k - 2) = r.k AND {_SOON}", how="left"),
    "fold": partial(dv.join, on=_BAND, agg={"n": "count(*)", "most": "max(r.v)"}, per="l"),
    "fold of the right": partial(dv.join, on=_BAND, agg={"n": "count(*)", "most": "max(l.v)"}, per="r"),
    "select": partial(dv.join, on=_BAND, select="l.id, r.id AS r_id, l.v + r.v AS sum"),
    "window": partial(dv.window_join, on="ts", keys="k", preceding="30 seconds", following="2 seconds", agg=_FOLDS),
    "nearest": partial(dv.asof_join, on="ts", direction="nearest", tolerance="3 seconds", how="inner"),
    "prevailing": partial(
        dv.window_join, on="ts", keys="k", preceding="3 seconds", include_prevailing=True, agg=_FOLDS
    ),
    "temporal": partial(_temporal, on="l.k = r.k"),
    "temporal left": partial(_temporal, on="TRUE", how="left"),
    "temporal anti": partial(_temporal, on="l.k = r.k", how="anti"),
}


@dataclass(frozen=True)
class Flow:
    """A stream that comes in files, one in each micro-batch, and all its rows."""

    folder: Path
    tables: list[pa.Table]

    def write(self, numbers: range) -> None:
        """Let some files come."""
        self.folder.mkdir(exist_ok=True)
        for i in numbers:
            path = self.folder / f"{i:03}.parquet"
            pq.write_table(self.tables[i], path)
            os.utime(path, (1_000_000 + i, 1_000_000 + i))

    def read(self, spark: SparkSession, delay: str | None = "10 seconds") -> DataFrame:
        """The stream."""
        schema = "id BIGINT, k INT, ts TIMESTAMP_LTZ, v DOUBLE, `odd place` STRING"
        frame = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(self.folder))
        return frame if delay is None else frame.withWatermark("ts", delay)

    @property
    def whole(self) -> pa.Table:
        """All rows."""
        return pa.concat_tables(self.tables)


def _flow(folder: Path, rows: int, seed: int) -> Flow:
    """Rows in the order of time, but for some seconds; keys and values with NULLs."""
    rng = np.random.default_rng(seed)
    seconds = np.sort(rng.integers(0, 600, rows)) + rng.integers(-3, 3, rows) + 100
    keys = [None if own == 0 else int(own) for own in rng.integers(0, 4, rows)]
    last = [*range(rows), -1], [*keys, 1], [*(seconds * SECOND).tolist(), LAST * SECOND]
    table = pa.table(
        {
            "id": pa.array(last[0], pa.int64()),
            "k": pa.array(last[1], pa.int32()),
            "ts": pa.array(last[2], pa.timestamp("us", "UTC")),
            "v": pa.array([*rng.random(rows), 0.0]),
            "odd place": pa.array([None, *(f"at {i}" for i in range(rows))], pa.string()),
        }
    )
    part = rows // 3
    return Flow(folder, [table.slice(i * part, part) for i in range(3)] + [table.slice(rows)])


@pytest.fixture(scope="module")
def flows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Flow, Flow]:
    folder = tmp_path_factory.mktemp("flows")
    both = _flow(folder / "l", 150, 1), _flow(folder / "r", 240, 2)
    for own in both:
        own.write(range(4))
    return both


@pytest.fixture(autouse=True, scope="module")
def _few_partitions(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", before or "200")


class Sink:
    """Keeps what every micro-batch gave, once; fails, if asked to, before it has kept one."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.kept: dict[int, pa.Table] = {}
        self.fails_at = fails_at

    def __call__(self, frame: DataFrame, number: int) -> None:
        rows = frame.toArrow()
        if number == self.fails_at:
            self.fails_at = None
            raise RuntimeError
        self.kept[number] = rows

    def drain(self, frame: DataFrame, checkpoint: Path) -> None:
        """Run a query over all that has come."""
        writer = frame.writeStream.foreachBatch(self).option("checkpointLocation", str(checkpoint))
        writer.trigger(availableNow=True).start().awaitTermination()

    @property
    def rows(self) -> list[str]:
        """What came of all rows but the last ones, which wait for good."""
        return _rows(pa.concat_tables(self.kept.values()))


def _rows(table: pa.Table) -> list[str]:
    own = [row for row in table.to_pylist() if row["id"] != -1 and row.get("r_id") != -1]
    return sorted(str(tuple(row.values())) for row in own)


def _check(spark: SparkSession, flows: tuple[Flow, Flow], folder: Path, joins: dict[str, Callable[..., Any]]) -> None:
    """All queries at once: each is mostly waiting."""

    def drained(name: str) -> Sink:
        sink = Sink()
        sink.drain(joins[name](*(own.read(spark) for own in flows)), folder / name)
        return sink

    with ThreadPoolExecutor(4) as pool:
        found = dict(zip(joins, pool.map(drained, joins), strict=True))
    for name, join in joins.items():
        whole = join(*(own.whole for own in flows))
        assert len(_rows(whole)) > 20, name
        assert found[name].rows == _rows(whole), name


def test_streams_give_the_rows_of_the_batch_join(spark: SparkSession, flows: tuple[Flow, Flow], tmp_path: Path) -> None:
    _check(spark, flows, tmp_path, QUICK)


@pytest.mark.slow
def test_streams_give_the_rows_of_every_batch_join(
    spark: SparkSession, flows: tuple[Flow, Flow], tmp_path: Path
) -> None:
    _check(spark, flows, tmp_path, SLOW)


def test_a_query_that_fails_goes_on_where_it_was_even_in_another_zone_and_other_words(
    spark: SparkSession, tmp_path: Path
) -> None:
    both = _flow(tmp_path / "l", 60, 3), _flow(tmp_path / "r", 90, 4)
    join = partial(dv.join, on=_BAND, how="left", select="l.id, r.id AS r_id, l.v")
    words = "r.ts <= l.ts + INTERVAL 5 SECONDS AND NOT r.ts < l.ts - INTERVAL 20 SECONDS AND r.k = l.k"
    sink = Sink(fails_at=1)
    for own in both:
        own.write(range(2))
    with pytest.raises(Exception, match="RuntimeError"):
        sink.drain(join(*(own.read(spark) for own in both)), tmp_path / "checkpoint")
    for own in both:
        own.write(range(2, 4))
    with changed(spark, {_ZONE: "Europe/Berlin"}):
        sink.drain(join(*(own.read(spark) for own in both), on=words), tmp_path / "checkpoint")
    assert sink.rows == _rows(join(*(own.whole for own in both)))


@pytest.mark.slow
def test_connect_gives_the_same_rows(connect: SparkSession, tmp_path: Path) -> None:
    both = _flow(tmp_path / "l", 60, 3), _flow(tmp_path / "r", 90, 4)
    join = partial(dv.join, on=_BAND, how="left")
    for own in both:
        own.write(range(4))
    found = join(*(own.read(connect) for own in both))
    writer = found.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    writer.start(path=str(tmp_path / "found"), format="parquet").awaitTermination()
    rows = connect.read.parquet(str(tmp_path / "found")).toArrow()
    assert _rows(rows) == _rows(join(*(own.whole for own in both)))


def _counted(frame: DataFrame) -> DataFrame:
    """How many rows every five seconds have."""
    windows = frame.groupBy(F.window("ts", "5 seconds")).agg(F.count("*").alias("n"))
    return windows.select(F.window_time("window").alias("ts"), "n")


def test_an_aggregate_of_windows_may_stand_in_front(
    spark: SparkSession, flows: tuple[Flow, Flow], tmp_path: Path
) -> None:
    left, right = flows
    within = "r.ts > l.ts - INTERVAL 5 SECONDS AND r.ts <= l.ts + INTERVAL 20 SECONDS"
    join = partial(dv.join, on=within, how="left", select="r.id, l.ts, l.n")
    sink = Sink()
    sink.drain(join(_counted(left.read(spark)), right.read(spark)), tmp_path / "checkpoint")
    counted = _counted(spark.createDataFrame(pa.concat_tables(left.tables[:-1]))).toArrow()
    assert sink.rows == _rows(join(counted, right.whole))


def test_a_stream_looks_up_a_batch_frame(spark: SparkSession, flows: tuple[Flow, Flow], tmp_path: Path) -> None:
    spans = pa.table({"low": [0.1, 0.5], "high": [0.3, 0.9], "place": ["a", "b"]})
    join = partial(dv.join, on="l.v BETWEEN r.low AND r.high", how="left", select="l.id, l.v, r.place")
    sink = Sink()
    sink.drain(join(flows[0].read(spark, None), spark.createDataFrame(spans)), tmp_path / "checkpoint")
    assert sink.rows == _rows(join(flows[0].whole, spans))


@pytest.mark.slow
def test_a_checkpoint_of_another_join_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    both = _flow(tmp_path / "l", 30, 5), _flow(tmp_path / "r", 30, 6)
    for own in both:
        own.write(range(1))
    left, right = (own.read(spark) for own in both)
    Sink().drain(dv.join(left, right, on=_BAND, partitions=2), tmp_path / "checkpoint")
    for own in both:
        own.write(range(1, 4))
    for other, message in (
        (dv.join(left, right, on=_BAND, partitions=3), "made with partitions '2', the join now has '3'"),
        (dv.join(left, right, on=_BAND, partitions=2, how="left"), "made with how 'inner', the join now has 'left'"),
        (dv.join(left, right, on=f"{_BAND} AND l.v < r.v", partitions=2), r"made with on .* AND \(l.v < r.v\)"),
        (
            dv.join(left.drop("id"), right.drop("id"), on=_BAND, partitions=2),
            r"made with columns of l 'key 0 int32, id int64, .*', the join now has 'key 0 int32, k int",
        ),
    ):
        with pytest.raises(Exception, match=message):
            Sink().drain(other, tmp_path / "checkpoint")


@pytest.mark.parametrize(
    ("join", "message"),
    [
        (
            partial(dv.join, on=_SOON, how="full", partitions=3),
            r"partitions=3; it takes 1 where a full join has no keys",
        ),
        (partial(dv.join, on=_BAND, window=100), r"does not take window=100; it takes none"),
        (partial(dv.join, on=_BAND, algorithm="der"), r"does not take algorithm='der'; it takes 'auto'"),
        (partial(dv.join, on="l.k = r.k", how="left"), r"rows of 'l' would wait .* an end to r.ts"),
        (partial(dv.asof_join, on="ts", how="right"), r"does not take how='right'"),
        (partial(dv.asof_join, on="ts", direction="forward"), r"direction='forward'; .* or a tolerance beside it"),
        (partial(dv.asof_join, on="v"), r"l.v is not the event time of 'l'; .* 'ts'"),
        (partial(dv.window_join, on="ts", preceding="unbounded", following="unbounded", agg=_FOLDS), r"following='unb"),
        (partial(dv.window_join, on="ts", preceding="v", agg=_FOLDS), r"preceding='v'; it takes a duration"),
        (partial(_temporal, on="l.k = r.k", how="full"), r"does not take how='full'"),
        (partial(_temporal, on="l.k = r.k", algorithm="tpmj"), r"does not take algorithm='tpmj'"),
        (partial(dv.explain, on=_BAND, algorithm="der"), r"does not take algorithm='der'; it takes 'auto'"),
        (partial(dv.join, on="l.nothing = r.k"), r"column 'nothing' not found"),
    ],
)
def test_what_streams_cannot_be_asked_for_is_one_line(
    spark: SparkSession, flows: tuple[Flow, Flow], join: Callable[..., Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        join(*(own.read(spark) for own in flows))
    assert "\n" not in str(raised.value)


_LONGER = ", and longer while a row that waits can need it"
_STAY = "├─ l stays: until the watermark has passed l.ts"


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (
            {"on": _SOON, "how": "left", "partitions": 3},
            [
                "left join, two inequalities, by runs on stream",
                "├─ why: a row of l meets what is remembered of the other stream once no further partner can come",
                "├─ l stays: until the watermark has passed l.ts + INTERVAL '5' SECONDS",
                f"├─ r stays: until the watermark has passed r.ts{_LONGER}",
                "└─ cells: 3, no key to place rows by",
            ],
        ),
        (
            {"on": "l.ts >= r.ts", "how": "left"},
            [_STAY, "├─ r stays: for good"],
        ),
        (
            {"on": "ts", "keys": "k", "direction": "backward"},
            [
                "left join, as-of, by runs on stream",
                _STAY,
                "├─ r stays: until the watermark has passed r.ts; the last of each key stays",
                "└─ cells: 16, hash of the keys",
            ],
        ),
        (
            {"on": "ts", "keys": "k", "preceding": "30 seconds", "agg": _FOLDS},
            [
                "left join, window, by runs on stream",
                _STAY,
                f"├─ r stays: until the watermark has passed r.ts + 30 seconds{_LONGER}",
            ],
        ),
        (
            {"on": "l.k = r.k", "ts": "ts", "window": dv.sliding("7 seconds")},
            [
                "├─ why: a row meets what is remembered of the other stream when it comes",
                "├─ l stays: until the watermark has passed l.ts + 7 seconds",
            ],
        ),
    ],
)
def test_a_plan_says_how_long_rows_stay(
    spark: SparkSession, flows: tuple[Flow, Flow], options: dict[str, Any], lines: list[str]
) -> None:
    plan = dv.explain(*(own.read(spark) for own in flows), **options)
    said = str(plan).splitlines()
    assert [line for line in lines if line not in said] == []
    assert (plan.host, plan.results, plan.products) == ("stream", None, None)


def test_a_plan_says_which_frame_is_looked_up(spark: SparkSession, flows: tuple[Flow, Flow]) -> None:
    spans = spark.createDataFrame(pa.table({"low": [0.1], "high": [0.3]}))
    plan = dv.explain(flows[0].read(spark, None), spans, on="l.v BETWEEN r.low AND r.high")
    assert (plan.algorithm, plan.reason.split(":")[0]) == ("look-up", "r is no stream")


def test_a_stream_without_a_watermark_is_refused(spark: SparkSession, flows: tuple[Flow, Flow]) -> None:
    left, right = flows
    with pytest.raises(UsageError, match=r"input 'r' has no watermark; .*Hint: r.withWatermark"):
        dv.join(left.read(spark), right.read(spark, None), on=_BAND)


def test_a_watermark_of_windows_is_refused(spark: SparkSession, flows: tuple[Flow, Flow]) -> None:
    left, right = (own.read(spark) for own in flows)
    counted = left.groupBy(F.window("ts", "5 seconds")).count()
    with pytest.raises(
        UsageError, match=r"on 'window', a window; .*Hint: l.withColumn\('ts', window_time\('window'\)\)"
    ):
        dv.join(counted, right, on="l.count = r.id")


def test_texts_that_tasks_would_compare_otherwise_are_refused(spark: SparkSession, flows: tuple[Flow, Flow]) -> None:
    left, right = (own.read(spark).withColumn("s", F.expr("string(v) COLLATE UTF8_LCASE")) for own in flows)
    with pytest.raises(UnsupportedError, match=r"column 'l.s' is string collate UTF8_LCASE; .* byte by byte"):
        dv.join(left, right, on=f"{_BAND} AND l.s = r.s")


_OF_SPARK = {
    "s": "concat('At ', id) COLLATE UTF8_LCASE",
    "nested": "struct(array(string(k) COLLATE UNICODE_CI) AS texts, 1 AS one)",
    "hours": "CAST(make_dt_interval(0, int(id)) AS INTERVAL HOUR)",
}


@pytest.mark.parametrize(
    "join",
    [
        partial(dv.join, on=_BAND, how="full", select="r.s, l.nested AS own, r.hours, l.s AS l_s"),
        partial(dv.join, on=_BAND, agg={"n": "count(*)"}, per="r"),
        partial(dv.asof_join, on="ts"),
        partial(dv.window_join, on="ts", preceding="3 seconds", agg=_FOLDS),
        partial(_temporal, on="l.k = r.k", how="left"),
    ],
)
def test_columns_have_the_types_of_the_batch_join(
    spark: SparkSession, flows: tuple[Flow, Flow], join: Callable[..., Any]
) -> None:
    still = [
        spark.createDataFrame(own.whole).withColumns({k: F.expr(v) for k, v in _OF_SPARK.items()}) for own in flows
    ]
    moving = [own.read(spark).withColumns({name: F.expr(text) for name, text in _OF_SPARK.items()}) for own in flows]
    assert join(*moving).dtypes == join(*still).dtypes


def test_texts_with_a_collation_come_out_with_it(spark: SparkSession, flows: tuple[Flow, Flow], tmp_path: Path) -> None:
    left, right = (
        own.read(spark).withColumns({name: F.expr(text) for name, text in _OF_SPARK.items()}) for own in flows
    )
    found = dv.join(left, right, on=_BAND, how="left").filter("s = 'AT 7' AND nested.one = 1")
    sink = Sink()
    sink.drain(found.select("id", "s", "hours", "r_id", "r_s"), tmp_path / "checkpoint")
    rows = pa.concat_tables(sink.kept.values())
    assert {*rows.column("id").to_pylist()} == {7}
    assert {*rows.column("s").to_pylist()} == {"At 7"}


@pytest.mark.parametrize(
    "join",
    [
        partial(dv.join, on=_BAND, how="left"),
        partial(dv.join, on=_BAND, how="full"),
        partial(dv.join, on=_BAND, agg={"n": "count(*)"}, per="l"),
        partial(dv.asof_join, on="ts", how="inner"),
        partial(_temporal, on="l.k = r.k", how="anti"),
    ],
)
def test_a_batch_frame_beside_a_stream_is_not_kept(
    spark: SparkSession, flows: tuple[Flow, Flow], join: Callable[..., Any]
) -> None:
    still = spark.createDataFrame(flows[1].whole)
    with pytest.raises(UsageError, match=r"input 'l' is no stream, so its rows would wait"):
        join(still, flows[0].read(spark))


def test_three_streams_are_refused(spark: SparkSession, flows: tuple[Flow, Flow]) -> None:
    a, b = (own.read(spark) for own in flows)
    with pytest.raises(UsageError, match=r"does not take inputs=3; it takes two"):
        dv.join(a=a, b=b, c=a, on="a.k = b.k AND b.k = c.k")


_HOURS = f"{_BAND} AND hour(l.ts) = hour(r.ts)"


@pytest.mark.parametrize(
    ("setting", "value", "on", "message"),
    [
        (_ZONE, "Europe/Berlin", _HOURS, "needs 'UTC'"),
        (_ZONE, "Europe/Berlin", f"{_BAND} AND l.`odd place` < r.ts", "needs 'UTC'"),
        (_ZONE, "Europe/Berlin", "r.ts BETWEEN l.ts AND l.ts + INTERVAL 30 HOURS", "needs 'UTC'"),
        (_ZONE, "Europe/Berlin", "l.day + INTERVAL 5 HOURS <= r.ts AND r.ts <= l.ts", "needs 'UTC'"),
        (_ZONE, "Europe/Berlin", f"l.k = r.k AND {_APART}", "needs 'UTC'"),
        (_ANSI, "false", f"{_BAND} AND l.k + 1 > r.k", "spark.sql.ansi.enabled is 'false'"),
        (_ANSI, "false", f"{_BAND} AND l.k = r.`odd place`", "spark.sql.ansi.enabled is 'false'"),
        (
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
            _BAND,
            r"state store cannot hold .*RocksDB",
        ),
    ],
)
def test_a_session_that_would_answer_otherwise_is_refused(
    spark: SparkSession, flows: tuple[Flow, Flow], setting: str, value: str, on: str, message: str
) -> None:
    both = [own.read(spark).withColumn("day", F.to_date("ts")) for own in flows]
    with changed(spark, {setting: value}), pytest.raises(UsageError, match=message):
        dv.join(*both, on=on)


@pytest.mark.parametrize(
    "join",
    [
        partial(dv.join, on=_HOURS),
        partial(dv.join, on="l.k = r.k", select="l.id, date(l.ts) AS day"),
        partial(dv.temporal_join, on="l.k = r.k", valid={"l": ("ts", "ts"), "r": ("day", "day")}),
    ],
)
def test_beside_a_batch_frame_the_session_must_not_answer_otherwise_either(
    spark: SparkSession, flows: tuple[Flow, Flow], join: Callable[..., Any]
) -> None:
    still = spark.createDataFrame(flows[1].whole).withColumn("day", F.to_date("ts"))
    with changed(spark, {_ZONE: "Europe/Berlin"}), pytest.raises(UsageError, match="needs 'UTC'"):
        join(flows[0].read(spark), still)


def test_columns_that_are_only_shown_or_compared_with_their_like_need_no_setting(
    spark: SparkSession, flows: tuple[Flow, Flow]
) -> None:
    with changed(spark, {_ZONE: "Europe/Berlin", _ANSI: "false"}):
        left, right = (own.read(spark).withColumn("day", F.to_date("ts")) for own in flows)
        on = f"{_BAND} AND l.day = r.day AND INTERVAL 5 SECONDS + r.ts > l.ts - INTERVAL '23:59' HOUR TO MINUTE"
        found = dv.join(left, right.withColumn("k", F.col("k").cast("bigint")), on=on)
        assert found.schema["r_day"].dataType.simpleString() == "date"


def test_rows_count_beside_a_batch_frame_of_which_alone_columns_are_shown(
    spark: SparkSession, flows: tuple[Flow, Flow], tmp_path: Path
) -> None:
    sink = Sink()
    still = spark.createDataFrame(pa.table({"id": [5, 6]}))
    sink.drain(dv.join(flows[0].read(spark, None), still, on="TRUE", select="r.id"), tmp_path / "checkpoint")
    assert sink.rows == _rows(pa.table({"id": [5, 6] * flows[0].whole.num_rows}))
