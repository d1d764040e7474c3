"""Every mistake in a temporal join, a stream or a join with runs is one clear line with a hint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail import stream
from dovetail.errors import UsageError
from tests.spark_answers import spark_frame

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

A = pa.table({"k": [1], "s": [3], "e": [5], "name": ["x"], "f": [1.5], "d": pa.array([1], pa.decimal128(20, 0))})
B = A.rename_columns(["k", "s", "e", "label", "f", "d"])
VALID: dict[str, Any] = {"on": "a.k = b.k", "valid": ("s", "e")}
WINDOW: dict[str, Any] = {"on": "a.k = b.k", "ts": "s", "window": dv.sliding(5)}

WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"on": "a.k = b.k"},
        r"temporal_join got ts=None, window=None, valid=None; it takes ts and window, or valid. Hint",
    ),
    ({**VALID, "ts": "s", "window": dv.sliding(1)}, r"it takes ts and window, or valid"),
    ({"on": "a.k = b.k", "ts": "s"}, r"it takes ts and window, or valid"),
    ({**WINDOW, "window": 5}, r"window is 5; it is one of dv.sliding.*Hint: window=dv.sliding"),
    ({**WINDOW, "window": {"a": dv.sliding(1)}}, r"window says nothing of input 'b'; it names 'a'.*Hint"),
    ({**WINDOW, "ts": {"a": "s", "b": "s", "c": "s"}}, r"input 'c' is not known; it is one of 'a', 'b'"),
    ({**WINDOW, "window": dv.sliding("5 seconds")}, r"sliding is a duration, but the axis is BIGINT.*Hint"),
    ({**WINDOW, "ts": "t"}, r"column 't' not found in 'a'; it has 'k'"),
    ({**WINDOW, "ts": {"a": "name", "b": "s"}}, r"'a.name < b.s' compares STRING with BIGINT; an axis is of numbers"),
    ({**WINDOW, "ts": {"a": "name", "b": "label"}}, r"temporal_join measures distances, but .* is STRING"),
    ({**WINDOW, "ts": "d"}, r"'a.d < b.d' is DECIMAL\(20,0\); instants have at most 18 digits. Hint"),
    ({**VALID, "valid": "s"}, r"valid is 's'; it is a pair of columns, the start and the end. Hint"),
    ({**VALID, "valid": ("s", "end")}, r"column 'end' not found in 'a'"),
    ({**VALID, "valid": ("e", "s")}, r"a row of 'a' ends at 3, before its start 5; .*Hint: swap the two columns"),
    ({**VALID, "how": "sideways"}, r"how 'sideways' is not known"),
    ({**VALID, "algorithm": "best"}, r"algorithm 'best' is not known; it is one of 'auto', 'buffer-input'"),
    ({**VALID, "on": "a.k = b.q"}, r"column 'q' not found in 'b'"),
    ({**VALID, "on": "a.k = b.k) OR (TRUE"}, r"cannot be read"),
    ({**VALID, "on": "a.k + b.k"}, r"condition 'a.k \+ b.k' is no boolean"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_a_wrong_call_is_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        dv.temporal_join(a=A, b=B, **options)
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match=message):
        stream.temporal_join(a=A, b=B, **options).read_all()


def test_spark_refuses_the_same(spark: SparkSession) -> None:
    frames: dict[str, Any] = {"a": spark_frame(spark, A), "b": spark_frame(spark, B)}
    with pytest.raises(UsageError, match=r"a row of 'a' ends at 3, before its start 5"):
        dv.temporal_join(**frames, on="a.k = b.k", valid=("e", "s"))
    with pytest.raises(UsageError, match=r"algorithm 'tpmj' joins tables and iterators of this process"):
        dv.temporal_join(**frames, **VALID, algorithm="tpmj")
    with pytest.raises(UsageError, match=r"algorithm 'progressive' joins tables and iterators of this process"):
        dv.join(**frames, on="a.k = b.k", algorithm="progressive")


@pytest.mark.parametrize("length", [0, -1, "soon", None, float("inf"), "0 seconds"])
def test_a_window_needs_a_length(length: Any) -> None:
    with pytest.raises(UsageError, match=r"sliding window of .*: its length is a duration or a number above 0. Hint"):
        dv.sliding(length)


def test_three_inputs_are_joined_by_inner_alone() -> None:
    with pytest.raises(UsageError, match=r"how 'left' takes two inputs"):
        dv.temporal_join(a=A, b=B, c=A, on="a.k = b.k AND b.k = c.k", valid=("s", "e"), how="left")


def test_two_columns_of_one_name_are_refused() -> None:
    again = A.append_column("valid_start", pa.array([1]))
    with pytest.raises(UsageError, match=r"two columns named 'valid_start'"):
        dv.temporal_join(a=again, b=B, **VALID)


def _stamps(*starts: int) -> pa.RecordBatch:
    return pa.record_batch({"s": pa.array(starts, pa.int64())})


STAMPED: dict[str, Any] = {"on": "TRUE", "ts": "s", "window": dv.sliding(5)}


def test_a_start_that_runs_backwards_is_an_error() -> None:
    found = stream.temporal_join(a=[_stamps(1, 7), _stamps(6)], b=[_stamps(1)], **STAMPED)
    with pytest.raises(
        UsageError, match=r"input 'a' runs backwards: a row starts at 6 after one at 7, .*lateness="
    ) as e:
        found.read_all()
    assert "\n" not in str(e.value)


@pytest.mark.parametrize("algorithm", ["buffer-input", "buffer-output"])
def test_late_rows_are_put_in_order_counted_or_handed_over(algorithm: str) -> None:
    late: list[tuple[str, int]] = []
    operator = stream.temporal_operator(
        {"a": _stamps().schema, "b": _stamps().schema},
        **STAMPED,
        algorithm=algorithm,
        lateness=3,
        late=lambda name, batch: late.extend((name, own) for own in batch.column("s").to_pylist()),
    )
    results = [*operator.on_batch("a", _stamps(5, 3, 9, 6, 5)), *operator.on_batch("b", _stamps(8, 12, 2))]
    results += [*operator.on_end("a"), *operator.on_end("b")]
    found = [tuple(row.values()) for batch in results for row in batch.to_pylist()]
    assert late == [("a", 5), ("b", 2)]
    assert operator.late_rows == {"a": 1, "b": 1}
    assert found == [(5, 8, 8, 10), (6, 8, 8, 11), (9, 8, 9, 13), (9, 12, 12, 14)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lateness": -1}, r"lateness is -1; it is one distance for all rows, not negative. Hint"),
        ({"lateness": "soon"}, r"lateness 'soon' is no duration, no finite number. Hint: lateness='5 min"),
        ({"lateness": "1 second"}, r"lateness is a duration, but the axis is BIGINT"),
        ({"memory": 4096}, r"memory=4096 says nothing to algorithm 'auto'; it is for 'tpmj'"),
        ({"algorithm": "tpmj", "memory": 0}, r"memory is 0; it is a whole number of bytes above 0. Hint"),
        ({"algorithm": "tpmj", "memory": 16}, r"memory is 16 bytes, but one batch takes \d+; .*Hint: raise memory"),
        ({"algorithm": "tpmj", "strategy": "lazy"}, r"strategy 'lazy' is not known; it is one of 'max-fan-in'"),
        ({"algorithm": "tpmj", "fan_in": 1}, r"fan_in is 1; a merge reads at least 2 runs. Hint"),
        ({"algorithm": "tpmj", "directory": 5}, r"directory is 5; it is a path. Hint"),
        ({"algorithm": "tpmj", "how": "left"}, r"how 'left' is not done by algorithm 'tpmj', .*Hint: leave"),
        (
            {"algorithm": "tpmj", "on": "a.k <> b.k"},
            r"one order of values over all inputs, but 'a' is compared by noth",
        ),
    ],
)
def test_a_wrong_choice_for_a_stream_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        stream.temporal_join(a=A, b=B, **{**WINDOW, **options}).read_all()


def test_an_axis_of_doubles_has_no_lateness() -> None:
    with pytest.raises(UsageError, match=r"lateness counts ticks, which an axis of DOUBLE does not have"):
        stream.temporal_join(a=A, b=B, on="a.k = b.k", ts="f", window=dv.sliding(1), lateness=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (5, r"input 'b' is an int; a stream is an iterator of Arrow record batches"),
        ([5], r"input 'b' is a list of int; a stream is"),
        ([], r"input 'b' has no batch, so that its columns are not known. Hint"),
    ],
)
def test_what_is_no_stream_is_refused(given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        stream.temporal_join(a=A, b=given, **WINDOW)


OTHER_BATCHES: list[tuple[Any, str]] = [
    (pa.record_batch({"x": [1]}), r"its columns are \['x'\], not \['s'\]"),
    (pa.record_batch({"s": ["x"]}), r"its column 's' is string, not int64"),
    ({"s": [1]}, "it is a dict"),
    (pa.table({"s": [1]}), "it is a Table"),
    (None, "it is a NoneType"),
]


@pytest.mark.parametrize(("other", "reason"), OTHER_BATCHES)
@pytest.mark.parametrize("algorithm", ["buffer-input", "buffer-output", "tpmj", "progressive"])
def test_another_kind_of_batch_in_a_stream_is_refused(other: Any, reason: str, algorithm: str) -> None:
    inputs: dict[str, Any] = {"a": iter([_stamps(1), other]), "b": [_stamps(1)]}
    on = "a.s = b.s"
    found = (
        stream.join(**inputs, on=on)
        if algorithm == "progressive"
        else stream.temporal_join(**inputs, **{**STAMPED, "on": on}, algorithm=algorithm)
    )
    with pytest.raises(UsageError, match=rf"a batch of input 'a' is refused, nothing of it is taken: {reason}. Hint"):
        found.read_all()


@pytest.mark.parametrize("algorithm", ["buffer-input", "buffer-output", "tpmj"])
def test_refused_batches_change_nothing(algorithm: str) -> None:
    call: dict[str, Any] = {**STAMPED, "on": "a.s <= b.s", "algorithm": algorithm}
    operator = stream.temporal_operator({"a": _stamps().schema, "b": _stamps().schema}, **call)
    results = [*operator.on_batch("a", _stamps(5)), *operator.on_batch("b", _stamps(6))]
    for other, reason in OTHER_BATCHES:
        with pytest.raises(UsageError, match=rf"a batch of input 'a' is refused, .*{reason}. Hint"):
            list(operator.on_batch("a", other))
    with pytest.raises(UsageError, match=r"input 'a' runs backwards: a row starts at 3 after one at 90"):
        list(operator.on_batch("a", _stamps(90, 3)))
    with pytest.raises(UsageError, match=r"input 'c' is not known; it is one of 'a', 'b'"):
        list(operator.on_batch("c", _stamps(7)))
    with pytest.raises(UsageError, match=r"input 'c' is not known; it is one of 'a', 'b'"):
        list(operator.on_end("c"))
    assert operator.late_rows == {"a": 0, "b": 0}
    results += [*operator.on_batch("a", _stamps(7)), *operator.on_end("a")]
    with pytest.raises(UsageError, match=r"a batch of input 'a' is refused, .*: the input has ended. Hint"):
        list(operator.on_batch("a", _stamps(8)))
    results += [*operator.on_batch("b", _stamps(7)), *operator.on_end("b")]
    found = [tuple(row.values()) for batch in results for row in batch.to_pylist()]
    assert found == [(5, 6, 6, 10), (5, 7, 7, 10), (7, 7, 7, 12)]


def test_rows_whose_keys_cannot_be_had_change_nothing() -> None:
    schema = pa.schema([("s", pa.int64()), ("t", pa.string())])
    call: dict[str, Any] = {**STAMPED, "on": "CAST(a.t AS INT) = CAST(b.t AS INT)", "algorithm": "buffer-output"}
    operator = stream.temporal_operator({"a": schema, "b": schema}, **call, how="left")
    with pytest.raises(UsageError, match=r"'x' of type STRING cannot be cast to INT"):
        list(operator.on_batch("a", pa.record_batch({"s": [4], "t": ["x"]})))
    for name in ("a", "b"):
        list(operator.on_batch(name, pa.record_batch({"s": [1], "t": ["7"]})))
    results = [*operator.on_end("a"), *operator.on_end("b")]
    assert [tuple(row.values()) for batch in results for row in batch.to_pylist()] == [(1, "7", 1, "7", 1, 6)]


def test_a_batch_may_say_more_of_its_columns_than_the_schema() -> None:
    told = pa.schema([pa.field("s", pa.int64(), nullable=False, metadata={"unit": "s"})], metadata={"of": "a"})
    other = pa.RecordBatch.from_arrays([pa.array([2])], schema=told)
    found = stream.temporal_join(a=iter([_stamps(1), other]), b=[_stamps(1)], **STAMPED).read_all()
    assert found.column("s").to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("schemas", "options", "message"),
    [
        ([A.schema, B.schema], {}, r"schemas is a list; an operator needs the schema of every input by its name. Hint"),
        ({"a": A.schema}, {}, r"join of streams got 1 input;"),
        ({"a": A.schema, "b": {"s": "int"}}, {}, r"b is a dict; the engine needs its schema. Hint: b=table.schema"),
        ({"a": A.schema, "b": B.schema}, {"late": 5}, r"late is 5; it is called with a side and its rows. Hint"),
    ],
)
def test_an_operator_needs_schemas(schemas: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        stream.temporal_operator(schemas, **WINDOW, **options)


def test_a_stream_needs_another() -> None:
    with pytest.raises(UsageError, match=r"join of streams got 1 input;"):
        stream.join(a=A, on="TRUE")
    with pytest.raises(UsageError, match=r"algorithm 'progressive' joins two inputs; got 3"):
        stream.join(a=A, b=B, c=A, on="a.k = b.k")


def test_a_directory_must_be_writable(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("")
    with pytest.raises(UsageError, match=r"directory '.*file' cannot be written to: .*Hint: name another"):
        stream.join(a=A, b=B, on="a.k = b.k", directory=taken)


def test_a_progressive_join_has_its_own_choices() -> None:
    plan = dv.explain(A, B, on="l.k = r.k", algorithm="progressive")
    assert (plan.algorithm, plan.reason.split(":")[0]) == ("progressive", "asked for")
    with pytest.raises(UsageError, match=r"partitions=3 says nothing to algorithm 'progressive'"):
        dv.join(A, B, on="l.k = r.k", algorithm="progressive", partitions=3)
    with pytest.raises(UsageError, match=r"cuts='width' says nothing to algorithm 'progressive'.*Hint: leave it out"):
        dv.explain(A, B, on="l.k = r.k", algorithm="progressive", cuts="width")
    for function in (dv.join, dv.explain):
        with pytest.raises(UsageError, match=r"how 'left' is not done by algorithm 'progressive', .*Hint"):
            function(A, B, on="l.k = r.k", algorithm="progressive", how="left")
    with pytest.raises(UsageError, match=r"one order of values over all inputs, but 'l' is compared by nothing"):
        dv.join(A, B, on="l.k <> r.k", algorithm="progressive")


def test_three_inputs_need_one_order() -> None:
    chain = "a.s < b.e AND b.s < a.e AND b.s < c.e AND c.s < b.e"
    with pytest.raises(UsageError, match=r"one order of values over all inputs, but 'a' does not meet all others"):
        stream.temporal_join(a=A, b=B, c=A, on=chain, valid=("s", "e"), algorithm="tpmj")
    with pytest.raises(UsageError, match=r"'b' is compared by more than one"):
        stream.temporal_join(a=A, b=B, c=A, on="a.k = b.k AND b.s = c.s", valid=("s", "e"), algorithm="tpmj")


def test_types_that_cannot_be_compared_are_told_in_the_callers_words() -> None:
    days = pa.table({"x": pa.array([0], pa.date32())})
    with pytest.raises(UsageError, match=r"a\.x < b\.x"):
        list(stream.join(a=pa.table({"x": [1]}), b=days, on="a.x < b.x"))


@pytest.mark.parametrize("state", [None, 5, {"arrivals": {}}])
def test_what_is_no_snapshot_is_not_restored(state: Any) -> None:
    operator: Any = stream.temporal_operator({"a": A.schema, "b": B.schema}, **WINDOW)
    with pytest.raises(UsageError, match=r"is no snapshot of this operator. Hint: restore\(state\)"):
        operator.restore(state)
