"""Every mistake is one clear line with a hint, on either host, before any job starts."""

from __future__ import annotations

import datetime as dt
from logging.handlers import QueueHandler
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger

import dovetail as dv
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

LEFT = pa.table({"id": [1], "at": [5], "name": ["x"], "flag": [True]})
RIGHT = pa.table({"id": [1], "start": [0], "tag": [b"x"]})

MISTAKES: list[tuple[dict[str, Any], str]] = [
    (
        {"on": "l.att > r.start"},
        r"column 'att' not found in 'l'; it has 'id', 'at', 'name', 'flag'. Hint: did you mean 'at'",
    ),
    ({"on": "att > r.start"}, r"column 'att' not found in any input"),
    ({"on": "id > r.start"}, r"column 'id' is ambiguous; 'l', 'r' both have it.*Hint: write l.id or r.id"),
    ({"on": "x.at > r.start"}, r"input 'x' not found; the inputs are 'l', 'r'. Hint"),
    ({"on": "id"}, r"condition 'id' is a column; a join needs a Spark SQL boolean. Hint: on='l.id = r.id'."),
    ({"on": "l.at + r.start"}, r"is no boolean; a join needs one. Hint"),
    ({"on": "(l.at > r.start) & (l.at < r.id)"}, r"is no boolean; a join needs one. Hint: write AND and OR."),
    ({"on": "l.at"}, r"(?i)boolean"),
    ({"on": "l.at > r.start AND l.at"}, r"(?i)boolean"),
    ({"on": ""}, r"condition is ''; a join needs a Spark SQL boolean as one text. Hint"),
    ({"on": "l.at > r.start", "select": "struct(*) AS s"}, r"select .* cannot be read: a star stands for the columns"),
    ({"on": "l.at > r.start", "select": "l.at, l.x.*"}, r"select .* cannot be read: a star stands for the columns"),
    ({"on": "l.at > r.start", "order": "backwards"}, r"order 'backwards' is not known; it is one of 'auto', 'given'"),
    ({"on": "l.at > r.start", "algorithm": "progresive"}, r"algorithm 'progresive' is not known.*mean 'progressive'"),
    ({"on": "l.at >"}, r"condition 'l.at >' cannot be read: a part is missing near '>'. Hint"),
    ({"on": "l.name = 'x"}, r"cannot be read: a quote or a comment has no end. Hint"),
    ({"on": "l.at > r.start; DROP TABLE x"}, r"condition .* (cannot be read|is no boolean)"),
    ({"on": "l.flag = l.at > r.start"}, r"compares a comparison; .*Hint: set parentheses"),
    ({"on": "l.at > (SELECT 1)"}, r"holds a query; .*Hint"),
    ({"on": "rand() < l.at"}, r"'RAND\(\)' in condition .* is not deterministic.*Hint"),
    ({"on": "l.at > max(r.start)"}, r"'MAX\(r.start\)' in condition .* is of many rows.*Hint"),
    ({"on": "l.at > r.start", "select": "count(*) AS n"}, r"'COUNT\(\*\)' in select .* speaks of single rows.*agg="),
    ({"on": "l.at > r.start", "select": "rank() OVER (ORDER BY l.at)"}, r"'RANK\(\) OVER .*' in select .* single rows"),
    ({"on": "l.at > r.start", "select": "(SELECT 1) AS one"}, r"select .* holds a query; .* its inputs.*Hint"),
    ({"on": "l.at > sum(r.start) OVER ()"}, r"is of many rows"),
    ({"on": "l.flag > r.start"}, r"BOOLEAN.*(BIGINT|refuses)"),
    ({"on": "l.at > r.start", "how": "sideways"}, r"how 'sideways' is not known; it is one of 'inner', 'left'"),
    ({"on": "l.at > r.start", "algorithm": "ranges"}, r"algorithm 'ranges' is not known.*did you mean 'range'"),
    ({"on": "l.at > r.start", "partitions": 0}, r"partitions is 0; it is a whole number of at least 1 and at most 1,0"),
    (
        {"on": "l.at > r.start", "partitions": 2**40, "algorithm": "prefap"},
        r"partitions is 1099511627776; .* most 1,000,",
    ),
    (
        {"on": "l.at > r.start", "partitions": np.timedelta64(5, "s")},
        r"partitions is np.timedelta64\(5,'s'\); it is a whole",
    ),
    ({"on": "l.at > r.start", "window": 0}, r"window is 0; it is a whole number of rows, at least 1. Hint"),
    ({"on": "l.at > r.start", "window": True}, r"window is True"),
    (
        {"on": "l.id = r.id", "algorithm": "prefap"},
        r"algorithm 'prefap' takes one of < <= > >= between the sides and no equality; the condition has 0 and 1. Hint",
    ),
    ({"on": "l.at > r.start AND l.id < r.id", "algorithm": "one-bucket"}, r"the condition has 2 and 0"),
    ({"on": "l.at > r.start AND l.id = r.id", "algorithm": "fast-theta"}, r"the condition has 1 and 1"),
    (
        {"on": "l.at > r.start", "cuts": "width"},
        r"cuts='width' says nothing to algorithm 'auto'.*'fast-theta', 'prefap'",
    ),
    ({"on": "l.at > r.start", "prefilter": False, "algorithm": "fast-theta"}, r"it is for 'prefap'. Hint: add"),
    (
        {"on": "l.at > r.start", "cuts": "quantiles", "algorithm": "prefap"},
        r"cuts 'quantiles' is not known; it is one of 'width', 'quantile'. Hint: did you mean 'quantile'",
    ),
    (
        {"on": "l.at > r.start", "amalgamate": "no", "algorithm": "prefap"},
        r"amalgamate is 'no'; it is True or False. Hint",
    ),
    ({"on": "l.at > r.start", "agg": {"n": "count(*)"}}, r"agg is given without per"),
    ({"on": "l.at > r.start", "per": "l"}, r"per is given without agg"),
    ({"on": "l.at > r.start", "agg": {"n": "count(*)"}, "per": 5}, r"per 5 is not known; it is one of 'l', 'r'"),
    ({"on": "l.at > r.start", "agg": {"n": "count(*)"}, "per": "x"}, r"input 'x' not found; the inputs are 'l', 'r'"),
    (
        {"on": "l.at > r.start", "agg": ["count(*)"], "per": "l"},
        r"agg is \['count\(\*\)'\]; it is a dict of names and calls. Hint",
    ),
    ({"on": "l.at > r.start", "agg": {5: "count(*)"}, "per": "l"}, r"agg is \{5: .*; it is a dict of names and calls"),
    ({"on": "l.at > r.start", "agg": {"n": 5}, "per": "l"}, r"aggregate 5 is not known"),
    ({"on": "l.at > r.start", "select": 5}, r"select 5 cannot be read: it is no text. Hint"),
    ({"on": "l.at > r.start", "select": ["l.at"]}, r"it is no text. Hint: it is Spark SQL, as in 'l.id, r.price AS"),
    (
        {"on": "l.at > r.start", "agg": {"n": "median(r.id)"}, "per": "l"},
        r"aggregate 'median\(r.id\)' is not known; there .*Hint: for any other, group the pairs of dv.join.",
    ),
    ({"on": "l.at > r.start", "agg": {"n": "sum(l.id)"}, "per": "l"}, r"reads the side it is computed for"),
    (
        {"on": "l.at > r.start", "agg": {"n": "sum(r.tag)"}, "per": "l"},
        r"'sum\(r.tag\) AS n' needs a number; got BINARY",
    ),
    (
        {"on": "l.at > r.start", "agg": {"n": "count(*)"}, "per": "l", "how": "full"},
        r"how 'full' cannot be had with agg",
    ),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES, ids=[str(call) for call, _ in MISTAKES])
@pytest.mark.parametrize("function", [dv.join, dv.explain])
def test_arrow_refuses_in_one_line(function: Callable[..., Any], call: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        function(LEFT, RIGHT, **call)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("option", ["on", "how", "algorithm", "order", "partitions", "window"])
@pytest.mark.parametrize("got", [LEFT, LEFT["id"], np.array([1, 2])], ids=["table", "column", "array"])
def test_a_frame_or_an_array_in_place_of_an_option_is_told_in_one_line(option: str, got: Any) -> None:
    call: dict[str, Any] = {"on": "l.at > r.start", option: got}
    with pytest.raises(UsageError, match=r"Spark SQL boolean|one of 'auto'|'inner'|whole number") as caught:
        dv.join(LEFT, RIGHT, **call)
    assert "\n" not in str(caught.value)


def test_a_ring_in_this_process_has_as_many_workers_as_it_can_bear() -> None:
    with pytest.raises(UsageError, match=r"partitions is 10000; a ring has 1 to 1,024 workers. Hint"):
        dv.join(LEFT, RIGHT, on="l.id = r.id", algorithm="ring", partitions=10_000)


def test_a_window_longer_than_any_input_joins_all_rows() -> None:
    assert dv.join(LEFT, RIGHT, on="l.at > r.start", window=2**70).num_rows == 1


def test_spark_refuses_in_one_line_before_any_job_starts(spark: SparkSession) -> None:
    left, right = spark.createDataFrame(LEFT), spark.createDataFrame(RIGHT)
    tracker = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("refused", "calls that must start no job")
    for call, message in MISTAKES:
        with pytest.raises(UsageError, match=message) as caught:
            dv.join(left, right, **call)
        assert "\n" not in str(caught.value)
    assert list(tracker.getJobIdsForGroup("refused")) == []
    spark.sparkContext.setJobGroup("", "")


def test_spark_logs_nothing_of_what_is_told_in_one_line(spark: SparkSession) -> None:
    left, right = spark.createDataFrame(LEFT), spark.createDataFrame(RIGHT)
    logged: SimpleQueue[Any] = SimpleQueue()
    handler = QueueHandler(logged)
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    logger.addHandler(handler)
    try:
        with pytest.raises(UsageError, match=r"Spark refuses 'NO_SUCH\(l.at\) > r.start'"):
            dv.join(left, right, on="no_such(l.at) > r.start")
        with pytest.raises(UsageError, match=r"Spark refuses .*NO_SUCH"):
            dv.join(a=left, b=right, c=right, on="no_such(a.at) > b.start AND b.start > c.start")
        assert logged.empty()
        with pytest.raises(AnalysisException):
            left.selectExpr("no_such(at)")
        assert not logged.empty()
    finally:
        logger.removeHandler(handler)


def test_what_arrow_lacks_is_named_and_spark_is_pointed_to() -> None:
    with pytest.raises(UnsupportedError, match=r"(?i)soundex.*Hint: pass Spark DataFrames"):
        dv.join(LEFT, RIGHT, on="soundex(l.name) < r.tag")


@pytest.mark.parametrize("call", ["log10()", "pmod(l.at)", "btrim('a', 'b', 'c')", "positive(l.at, 1)"])
def test_a_named_function_with_other_arguments_is_named_too(call: str) -> None:
    name, _, _ = call.partition("(")
    with pytest.raises(UnsupportedError, match=rf"function {name} with \d arguments in .*Hint: pass Spark"):
        dv.join(LEFT, RIGHT, on=f"{call} < r.start")


def test_intervals_of_months_are_not_compared_on_arrow() -> None:
    table = pa.table({"v": pa.array([pa.MonthDayNano([1, 0, 0])], pa.month_day_nano_interval())})
    with pytest.raises(UnsupportedError, match=r"a comparison of INTERVAL YEAR TO MONTH in .* is not evaluated"):
        dv.join(table, table, on="l.v < r.v")


UNORDERED: dict[str, pa.Array] = {
    "EXTENSION<ARROW.UUID>": pa.array([b"a" * 16], pa.uuid()),
    "LIST_VIEW<ITEM: INT64>": pa.array([[1]], pa.list_view(pa.int64())),
    r"FIXED_SIZE_LIST<ITEM: INT64>\[1\]": pa.array([[1]], pa.list_(pa.int64(), 1)),
    "SPARSE_UNION<0: INT64=0>": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]),
    "ARRAY<BIGINT>": pa.array([[1]]),
}


@pytest.mark.parametrize(("kind", "values"), UNORDERED.items())
@pytest.mark.parametrize(
    "test", ["{l} = {r}", "{l} <> {r}", "{l} <=> {r} OR l.j > 0", "greatest({l}, {r}) IS NULL", "{l} IN ({r}, {r})"]
)
@pytest.mark.parametrize("value", ["{}.t", "struct({}.t)"])
def test_types_without_an_order_are_refused_wherever_they_are_compared(
    kind: str, values: pa.Array, test: str, value: str
) -> None:
    table = pa.table({"j": [0], "t": values})
    on = "l.j <= r.j AND " + test.format(l=value.format("l"), r=value.format("r"))
    with pytest.raises(UnsupportedError, match=rf"a comparison of (STRUCT<t: )?{kind}>? in .* is not evaluated.*Hint"):
        dv.join(table, table, on=on)


@pytest.mark.parametrize(("kind", "values"), [*UNORDERED.items(), ("STRUCT<a: BIGINT>", pa.array([{"a": 1}]))])
@pytest.mark.parametrize("function", ["min", "max", "first", "last", "count_distinct"])
def test_aggregates_that_need_an_order_name_a_type_without_one(kind: str, values: pa.Array, function: str) -> None:
    table = pa.table({"j": [0], "t": values})
    agg = {"n": f"{function}(r.t)"}
    message = rf"aggregate '{function}\(r.t\) AS n' is over {kind}, which is not folded. Hint"
    for call in (dv.join, dv.explain):
        with pytest.raises(UnsupportedError, match=message):
            call(table, table, on="l.j <= r.j", agg=agg, per="l")
    with pytest.raises(UnsupportedError, match=message):
        dv.window_join(table, table, on="j", preceding=1, agg=agg)


@pytest.mark.parametrize("values", UNORDERED.values(), ids=UNORDERED)
def test_values_of_every_type_are_counted(values: pa.Array) -> None:
    table = pa.table({"j": [0], "t": values})
    agg = {"n": "count(r.t)", "m": "count(r.t) FILTER (WHERE r.j > 0)"}
    assert dv.join(table, table, on="l.j <= r.j", agg=agg, per="l", select="l.j").to_pylist() == [
        {"j": 0, "n": 1, "m": 0}
    ]


def test_one_frame_and_three_without_names_are_refused() -> None:
    with pytest.raises(UsageError, match=r"join got 1 input; it takes two, or more if each has a name. Hint"):
        dv.join(LEFT, on="l.at > 1")
    with pytest.raises(UsageError, match=r"join got 1 input; .*, by names that no option has."):
        dv.join(order=LEFT, r=RIGHT, on="order.at > r.start")
    with pytest.raises(UsageError, match=r"join got 3 inputs"):
        dv.join(LEFT, RIGHT, c=RIGHT, on="l.at > r.start")


@pytest.mark.parametrize("function", [dv.asof_join, dv.window_join, dv.explain])
def test_joins_by_time_of_three_inputs_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match=r"_join got 3 inputs; it takes two. Hint: \w+_join\(left, right, on=...\)"):
        function(a=LEFT, b=RIGHT, c=RIGHT, on="id", keys="id")


@pytest.mark.parametrize(
    ("function", "option", "message"),
    [
        (dv.join, {"hwo": "left"}, r"hwo='left' is neither an option of join nor an input; it has 'on', .*mean 'how'"),
        (dv.explain, {"partition": 3}, r"partition=3 is neither an option of join .*did you mean 'partitions'"),
        (dv.asof_join, {"by": ["id"]}, r"by=\['id'\] is neither an option .*Hint: it is called 'keys' here"),
        (dv.asof_join, {"strategy": "nearest"}, r"strategy='nearest' is .*Hint: it is called 'direction' here"),
        (dv.join, {"by": "id"}, r"by='id' is neither an option of join .*Hint: inputs are Spark,"),
        (dv.join, {"aggs": {"n": "count(*)"}}, r"aggs=\{'n': 'count\(\*\)'\} is neither .*did you mean 'agg'"),
        (dv.asof_join, {"tol": dt.timedelta(1)}, r"tol=datetime.timedelta\(days=1\) is neither .* an input"),
        (dv.window_join, {"how": "left"}, r"how='left' is neither an option of window_join"),
        (dv.temporal_join, {"validity": None}, r"validity=None is neither .*did you mean 'valid'"),
    ],
)
def test_options_that_do_not_exist_are_not_taken_for_inputs(
    function: Callable[..., Any], option: dict[str, Any], message: str
) -> None:
    for inputs in ({"a": LEFT, "b": RIGHT}, {"a": LEFT}):
        with pytest.raises(UsageError, match=message):
            function(**inputs, on="a.at > b.start", **option)


def test_a_spark_frame_with_a_local_one_is_refused(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match=r"input 'l' is a Spark DataFrame and 'r', a Table, is not; both must"):
        dv.join(spark.createDataFrame(LEFT), RIGHT, on="l.at > r.start")


def test_a_frame_of_pandas_on_spark_is_refused(spark: SparkSession) -> None:
    frame = spark.createDataFrame(LEFT)
    for function, call in ((dv.join, "l.id > r.id"), (dv.asof_join, "id"), (dv.explain, "l.id > r.id")):
        with pytest.raises(UsageError, match=r"input 'l' is a pandas-on-Spark frame; .*Hint: frame.to_spark\(\)"):
            function(frame.pandas_api(), frame, on=call)


def test_a_condition_is_parsed_and_never_run() -> None:
    with pytest.raises((UsageError, UnsupportedError)):
        dv.join(LEFT, RIGHT, on="reflect('java.lang.System', 'exit', 1) < l.at AND l.at > r.start")


def test_case_of_names_does_not_matter_but_two_spellings_do() -> None:
    twice = pa.table({"At": [1], "aT": [2]})
    assert dv.join(LEFT, RIGHT, on="L.AT > R.Start").num_rows == 1
    with pytest.raises(UsageError, match=r"column 'at' is ambiguous in 'l'; it has 'At', 'aT'"):
        dv.join(twice, RIGHT, on="l.at > r.start")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agg": ["count(*)"], "per": "a"}, r"agg is \['count\(\*\)'\]; it is a dict of names and calls. Hint"),
        ({"agg": {5: "count(*)"}, "per": "a"}, r"agg is \{5: .*; it is a dict of names and calls. Hint"),
        ({"agg": {"n": "count(*)"}, "per": 5}, r"per 5 is not known; it is one of 'a', 'b', 'c'"),
        (
            {"agg": {"n": "count(*)"}, "per": "x"},
            r"input 'x' not found; the inputs are 'a', 'b', 'c'. Hint: name it in",
        ),
    ],
)
def test_wrong_aggregates_over_three_inputs_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        dv.join(a=LEFT, b=RIGHT, c=RIGHT, on="a.at > b.start AND b.id = c.id", **options)


def test_a_cross_join_with_a_condition_is_an_inner_one() -> None:
    assert dv.join(LEFT, RIGHT, on="l.at > r.start", how="cross") == dv.join(LEFT, RIGHT, on="l.at > r.start")


def test_an_input_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^the name of an input is ''; .* Hint: join\(p=..., o=..., on=...\)\.$"):
        dv.join(**{"": LEFT, "r": RIGHT}, on="``.at > r.start")


def test_inputs_whose_names_differ_in_case_alone_are_refused() -> None:
    with pytest.raises(UsageError, match=r"inputs 'a', 'A' have the same name in SQL.*Hint: rename one"):
        dv.join(a=LEFT, A=RIGHT, on="a.at > A.start")
    with pytest.raises(UsageError, match=r"inputs 'l', 'l' have the same name in SQL"):
        dv.join(LEFT, l=RIGHT, on="l.at > l.start")
