"""Every mistake in a join by time is one clear line with a hint, on either host, before any job starts."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.errors import UnsupportedError, UsageError
from tests.spark_answers import spark_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

NOON = dt.datetime(2024, 1, 1, 12, tzinfo=dt.UTC)
LEFT = pa.table(
    {
        "id": [1],
        "at": [5],
        "name": ["x"],
        "ts": pa.array([NOON], pa.timestamp("us", "UTC")),
        "wall": pa.array([NOON.replace(tzinfo=None)], pa.timestamp("us")),
    }
)
RIGHT = LEFT.append_column("v", pa.array([1.5]))
COUNT = {"n": "count(*)"}

ASOF: list[tuple[dict[str, Any], str]] = [
    ({"on": "att"}, r"column 'att' not found in 'l'; it has 'id', 'at'.* Hint: did you mean 'at'"),
    ({"on": ("at", "v2")}, r"column 'v2' not found in 'r'"),
    ({"on": "l.at >= r.at"}, r"column 'at' of 'r' cannot be read here. Hint: use columns of the other input"),
    ({"on": ("r.at", "at")}, r"column 'at' of 'r' cannot be read here. Hint"),
    ({"on": ["at"]}, r"on is \['at'\]; it is one column's name, or a pair of names.*Hint"),
    ({"on": "at", "keys": [("id", "id", "id")]}, r"keys is \('id', 'id', 'id'\); it is one column's name"),
    ({"on": "at", "keys": "idd"}, r"column 'idd' not found in 'l'.*Hint: did you mean 'id'"),
    ({"on": ("ts", "wall")}, r"'l.ts >= r.wall' compares TIMESTAMP with TIMESTAMP_NTZ; .*Hint: cast one side"),
    ({"on": ("at", "name")}, r"'l.at >= r.name' compares .*; an axis is of numbers, dates or timestamps.*Hint"),
    (
        {"on": "name", "direction": "nearest"},
        r"nearest measures distances, but 'l.name' is STRING, which has none.*Hint",
    ),
    ({"on": "name", "tolerance": 1}, r"tolerance measures distances, but 'l.name' is STRING"),
    ({"on": "at", "direction": "back"}, r"direction 'back' is not known; it is one of 'backward', .*did you mean"),
    ({"on": "at", "ties": "some"}, r"ties 'some' is not known; it is one of 'last', 'first', 'all', 'error'"),
    ({"on": "at", "nearest_tie": "all"}, r"nearest_tie 'all' is not known"),
    ({"on": "at", "strict": "no"}, r"strict is 'no'; it is True or False. Hint: strict=True"),
    ({"on": "at", "how": "outerr"}, r"how 'outerr' is not known"),
    ({"on": "at", "how": "cross"}, r"how 'cross' is not known; it is one of 'inner', 'left', 'right'"),
    ({"on": "at", "tolerance": -1}, r"tolerance -1 is negative; it is a distance. Hint"),
    ({"on": "ts", "tolerance": "-5 minutes"}, r"tolerance '-5 minutes' is negative"),
    (
        {"on": "at", "tolerance": "soon"},
        r"tolerance 'soon' is no duration, no finite number and no column of 'l'. Hint",
    ),
    ({"on": "at", "tolerance": float("nan")}, r"tolerance nan is no duration, no finite number"),
    ({"on": "ts", "tolerance": "1 month"}, r"duration '1 month' has no fixed length; months and years differ. Hint"),
    ({"on": "ts", "tolerance": 5}, r"tolerance is the number 5, but the axis is TIMESTAMP. Hint: .*'5 seconds'"),
    ({"on": "at", "tolerance": "5 seconds"}, r"tolerance is a duration, but the axis is BIGINT. Hint"),
    ({"on": "ts", "tolerance": "at"}, r"tolerance is a column of BIGINT, but the axis is TIMESTAMP; .*Hint"),
    ({"on": "at", "tie_break": "w"}, r"column 'w' not found in 'r'"),
    ({"on": "at", "where": "l.at > "}, r"condition .* cannot be read"),
    ({"on": "at", "where": "l.idd = 1"}, r"column 'idd' not found in 'l'"),
    (
        {"on": "at", "keys": "id", "null_safe": ["name"]},
        r"null_safe 'name' is not known; it is one of 'True', 'False', 'id'",
    ),
    ({"on": "at", "null_safe": "id"}, r"null_safe 'id' is not known; it is one of 'True', 'False'"),
    ({"on": "at", "keys": "id", "null_safe": 5}, r"null_safe is 5; it is a column's name, or a list of them. Hint"),
    ({"on": "at", "null_safe": 5}, r"null_safe is 5; it is a column's name, or a list of them. Hint"),
    ({"on": "at", "keys": 5}, r"keys is 5; it is a column's name, or a list of them. Hint: keys='symbol' or"),
    ({"on": "at", "keys": [5]}, r"keys is 5; it is one column's name, or a pair of names"),
    ({"on": "at", "tie_break": 5}, r"tie_break is 5; it is a column's name, or a list of them. Hint"),
    ({"on": "at", "tie_break": [5]}, r"column 5 not found in 'r'; it has 'id'"),
    ({"on": "at", "tolerance": np.float64("nan")}, r"tolerance np.float64\(nan\) is no duration, no finite number"),
    ({"on": "at", "tolerance": np.timedelta64(5, "m")}, r"tolerance np.timedelta64\(5,'m'\) is no duration, no finite"),
    ({"on": "at", "tolerance": True}, r"tolerance True is no duration, no finite number"),
    ({"on": "at", "partitions": 0}, r"partitions is 0; it is a whole number of at least 1"),
]
WINDOW: list[tuple[dict[str, Any], str]] = [
    ({"on": "tss", "preceding": 1, "agg": COUNT}, r"column 'tss' not found in 'l'.*did you mean 'ts'"),
    ({"on": "name", "preceding": 1, "agg": COUNT}, r"a window measures distances, but 'l.name' is STRING"),
    ({"on": "at", "agg": COUNT}, r"a window needs preceding. Hint"),
    ({"on": "at", "preceding": 1}, r"a window needs agg. Hint"),
    (
        {"on": "at", "preceding": 1, "following": -2, "agg": COUNT},
        r"window is empty: preceding 1 is below minus .*Hint",
    ),
    ({"on": "at", "preceding": "1 hour", "agg": COUNT}, r"preceding is a duration, but the axis is BIGINT"),
    (
        {"on": "at", "preceding": 1, "closed": "open", "agg": COUNT},
        r"closed 'open' is not known; it is one of 'both', ",
    ),
    (
        {"on": "at", "preceding": 1, "agg": {"m": "median(v)"}},
        r"aggregate 'median\(v\)' is not known; there are 'count', 'sum', .*'variance', 'count_distinct' of one expr",
    ),
    ({"on": "at", "preceding": 1, "agg": {"m": "sum(l.at)"}}, r"column 'at' of 'l' cannot be read here. Hint"),
    ({"on": "at", "preceding": 1, "agg": {"m": "sum(name)"}}, r"needs a number; got STRING"),
    ({"on": "at", "preceding": 1, "agg": {"m": "sum(vv)"}}, r"column 'vv' not found"),
    ({"on": "at", "preceding": 1, "agg": {"ID": "count(*)"}}, r"two columns named 'ID'.*Hint"),
    ({"on": "at", "preceding": 1, "agg": {}}, r"a window needs agg. Hint"),
    ({"on": "at", "preceding": 1, "agg": {5: "count(*)"}}, r"agg is \{5: 'count\(\*\)'\}; it is a dict of names.*Hint"),
    ({"on": "at", "preceding": 1, "agg": ["count(*)"]}, r"\['count\(\*\)'\] describes no window.* and so is agg. Hint"),
    ({"on": "at", "preceding": 1, "agg": {"n": 5}}, r"aggregate 5 is not known"),
    ({"on": "at", "preceding": np.array([1, 2]), "agg": COUNT}, r"preceding array\(\[1, 2\]\) is no duration"),
    ({"on": "at", "windows": []}, r"\[\] describes no window; .*Hint"),
    ({"on": "at", "windows": 5}, r"5 describes no window; .*Hint"),
    ({"on": "at", "windows": {"preceding": 1}}, r"\{'preceding': 1\} describes no window; .*Hint"),
    ({"on": "at", "windows": np.array([1, 2])}, r"array\(\[1, 2\]\) describes no window; .*Hint"),
    ({"on": "at", "windows": [5]}, r"5 describes no window; .*Hint"),
    ({"on": "at", "windows": [{"preceeding": 1, "agg": COUNT}]}, r"option 'preceeding' is not known; .*'preceding'"),
    (
        {"on": "at", "agg": COUNT, "windows": [{"preceding": 1}, {"preceding": 2}]},
        r"the result would have two columns named 'n'",
    ),
]


@pytest.mark.parametrize(
    ("function", "call", "message"),
    [(dv.asof_join, *own) for own in ASOF] + [(dv.window_join, *own) for own in WINDOW],
)
def test_arrow_refuses_in_one_line(function: Callable[..., Any], call: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        function(LEFT, RIGHT, **call)
    assert "\n" not in str(caught.value)


def test_spark_refuses_in_one_line_before_any_job_starts(spark: SparkSession) -> None:
    left, right = spark_frame(spark, LEFT), spark_frame(spark, RIGHT)
    tracker = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("refused by time", "calls that must start no job")
    for function, mistakes in ((dv.asof_join, ASOF), (dv.window_join, WINDOW)):
        for call, message in mistakes:
            with pytest.raises(UsageError, match=message) as caught:
                function(left, right, **call)
            assert "\n" not in str(caught.value)
    with pytest.raises(UnsupportedError, match=r"(?i)soundex.*is not supported in a join by time.*Hint"):
        dv.asof_join(left, right, on="at", where="soundex(l.name) <> r.name")
    assert list(tracker.getJobIdsForGroup("refused by time")) == []
    spark.sparkContext.setJobGroup("", "")


@pytest.mark.parametrize(
    "three", [np.int64(3), np.uint8(3), np.float32(3), np.float64(3), Fraction(3), Decimal(3), 3.0]
)
def test_numbers_of_every_kind_are_distances(three: Any) -> None:
    table = pa.table({"at": [1, 4, 8]})
    found = dv.window_join(table, table, on="at", preceding=three, following=three, agg=COUNT)
    assert found.column("n").to_pylist() == [2, 2, 1]
    near = dv.asof_join(table, table, on="at", strict=True, tolerance=three, how="inner")
    assert near.column("at").to_pylist() == [4]
    valid = dv.temporal_join(a=table, b=table, on="TRUE", ts="at", window=dv.sliding(three))
    assert valid.num_rows == 3


def test_null_safe_names_a_key_by_either_of_its_names() -> None:
    left, right = pa.table({"a": pa.array([None], pa.int64()), "at": [1]}), pa.table({"b": [None], "at": [1]})
    for name in ("a", "b"):
        found = dv.asof_join(left, right, on="at", keys=[("a", "b")], null_safe=name, how="inner")
        assert found.num_rows == 1
