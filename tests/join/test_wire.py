"""Tables on their way to tasks."""

from __future__ import annotations

import pyarrow as pa

from dovetail._hosts.spark.wire import narrowed, pack, unpack, widened

LEAST, GREATEST = -(1 << 63), (1 << 63) - 1


def test_whole_numbers_travel_in_as_few_bytes_as_they_need_and_arrive_as_they_were() -> None:
    columns = {
        "tiny": [-128, None, 127],
        "short": [-128, 128, 0],
        "int": [0, 1 << 15, -(1 << 31)],
        "long": [0, 1 << 31, None],
        "whole": [LEAST, GREATEST, 0],
        "none": [None, None, None],
    }
    numbers = {name: pa.array(values, pa.int64()) for name, values in columns.items()}
    table = pa.table({**numbers, "text": ["a", None, "b"], "at": pa.array([1, 2, None], pa.timestamp("us", "UTC"))})
    narrow = narrowed(table)
    kinds = ["int8", "int16", "int32", "int64", "int64", "int64", "string", "timestamp[us, tz=UTC]"]
    assert [str(kind) for kind in narrow.schema.types] == kinds
    assert widened(unpack(pack(narrow))).equals(table, check_metadata=True)


def test_a_table_without_rows_arrives_as_it_was() -> None:
    table = pa.table({"k": pa.array([], pa.int64())})
    assert widened(unpack(pack(narrowed(table)))).equals(table)
