"""Columns that no condition reads travel through every join, whatever their type."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail import stream
from dovetail._core.columns import long_texts
from dovetail._hosts.arrow import plain
from dovetail.errors import UsageError


class Tagged(pa.ExtensionType):  # type: ignore[misc]
    """A user's own type, which Python cannot hash."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__(pa.int64(), "tests.tagged")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tagged)

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, _storage: pa.DataType, _serialized: bytes) -> Tagged:
        return cls()


CODES = pa.array([0, 1, 0], pa.int8())
COLUMNS = {
    "extension": pa.ExtensionArray.from_storage(Tagged(), pa.array([1, 2, 3])),
    "view": pa.array(["a", "b", "c"], pa.string_view()),
    "runs": pa.RunEndEncodedArray.from_arrays([2, 3], ["x", "y"]),
    "struct of view": pa.array([{"x": "a"}] * 3, pa.struct([("x", pa.string_view())])),
    "list of view": pa.array([["a"], None, []], pa.list_(pa.string_view())),
    "list of two views": pa.array([["a", "b"], None, ["c", None]], pa.list_(pa.string_view(), 2)),
    "map of views": pa.array([[("a", "b")], None, []], pa.map_(pa.string_view(), pa.string_view())),
    "dense union": pa.UnionArray.from_dense(
        CODES, pa.array([0, 0, 1], pa.int32()), [pa.array([1, 2]), pa.array(["b"])]
    ),
    "sparse union": pa.UnionArray.from_sparse(CODES, [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]),
    "narrow dictionaries in chunks": pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(pa.array([at], pa.int8()), [f"{at} {i}" for i in range(100)])
            for at in range(3)
        ]
    ),
    "dictionaries with NULL in chunks": pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["a", None])),
            pa.DictionaryArray.from_arrays(pa.array([1], pa.int8()), pa.array([None, "b"])),
        ]
    ),
    "dictionary of moments": pa.array([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)] * 3).dictionary_encode(),
}


def _pushed(base: pa.Table, probe: pa.Table) -> pa.Table:
    call: dict[str, Any] = {"on": "k", "preceding": 3, "agg": {"n": "count(*)"}}
    engine = dv.online.WindowJoin(base=base.schema, probe=probe.schema, **call)
    return pa.concat_tables([engine.push(base), engine.close()])


def _operated(left: pa.Table, right: pa.Table) -> pa.Table:
    call: dict[str, Any] = {"on": "a.k = b.k", "ts": "k", "window": dv.sliding(3)}
    join = stream.temporal_operator({"a": left.schema, "b": right.schema}, **call)
    pushed = [("a", batch) for batch in left.to_batches()] + [("b", batch) for batch in right.to_batches()]
    results = [found for name, batch in pushed for found in join.on_batch(name, batch)]
    results += [found for name in "ab" for found in join.on_end(name)]
    return pa.Table.from_batches(results)


CALLS = {
    "join": lambda t, u: dv.join(t, u, on="l.k = r.k"),
    "fold": lambda t, u: dv.join(t, u, on="l.k = r.k", agg={"n": "count(*)"}, per="l"),
    "ring": lambda t, u: dv.join(t, u, on="l.k = r.k", how="left", algorithm="ring"),
    "three": lambda t, u: dv.join(a=t, b=u, c=u, on="a.k = b.k AND b.k = c.k"),
    "asof": lambda t, u: dv.asof_join(u, t, on="k"),
    "window": lambda t, u: dv.window_join(t, u, on="k", preceding=2, agg={"n": "count(*)"}),
    "temporal": lambda t, u: dv.temporal_join(a=t, b=u, on="a.k = b.k", ts="k", window=dv.sliding(3)),
    "progressive": lambda t, u: stream.join(a=iter(t.to_batches()), b=u, on="a.k = b.k").read_all(),
    "tpmj": lambda t, u: stream.temporal_join(
        a=iter(t.to_batches()), b=u, on="a.k = b.k", ts="k", window=dv.sliding(3), algorithm="tpmj"
    ).read_all(),
    "operator": _operated,
    "online": _pushed,
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("call", CALLS)
def test_a_column_of_any_type_is_carried_along(kind: str, call: str) -> None:
    table, other = pa.table({"k": [1, 2, 3], "c": COLUMNS[kind]}), pa.table({"k": [1, 2, 3]})
    got = CALLS[call](table, other)
    found = sorted(zip(got["k"].to_pylist(), map(str, got["c"].to_pylist()), strict=True))
    assert found == list(zip([1, 2, 3], map(str, table["c"].to_pylist()), strict=True))


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(12, 2)])
def test_memory_may_be_longer_than_its_values_and_begin_anywhere(kind: pa.DataType) -> None:
    values = pa.array([5, 3, 9]).cast(pa.int32()).cast(kind)
    memory = pa.py_buffer(b"." + values.buffers()[1].to_pybytes()[: 3 * kind.bit_width // 8] + b"..").slice(1)
    table = pa.table({"x": pa.Array.from_buffers(kind, 3, [None, memory])})
    got = dv.join(table, pa.table({"x": values}), on="l.x <= r.x", how="full")
    pairs = sorted(zip(*got.to_pydict().values(), strict=True))
    assert pairs == [(3, 3), (3, 5), (3, 9), (5, 5), (5, 9), (9, 9)]


def test_one_reader_may_be_both_sides_of_a_join() -> None:
    table = pa.table({"k": [1, 2]})
    one, three = table.to_reader(), table.to_reader()
    assert dv.join(one, one, on="l.k = r.k").read_all().num_rows == 2
    assert dv.join(a=three, b=three, c=three, on="a.k = b.k AND b.k = c.k").read_all().num_rows == 2


def test_one_stream_cannot_be_two_inputs() -> None:
    batches = iter(pa.table({"k": [1, 2]}).to_batches())
    with pytest.raises(UsageError, match=r"inputs 'a' and 'b' are one stream, .*Hint: give a table, or two streams"):
        stream.join(a=batches, b=batches, on="a.k = b.k")


@pytest.mark.parametrize("call", [name for name in CALLS if name not in ("progressive", "tpmj", "operator", "online")])
def test_texts_in_chunks_may_be_more_than_one_array_holds(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "_MOST", 20)
    texts = pa.chunked_array([["a" * 9, "b" * 9], ["c" * 9]])
    nested = pa.chunked_array([[[{"t": "x"}], None], [[{"t": "y" * 9}]]])
    got = CALLS[call](pa.table({"k": [1, 2, 3], "c": texts, "d": nested}), pa.table({"k": [1, 2, 3]})).sort_by("k")
    assert (got["c"].to_pylist(), got["d"].to_pylist()) == (texts.to_pylist(), nested.to_pylist())
    assert got["c"].type == pa.large_string()
    assert got["d"].type == pa.large_list(pa.struct([("t", pa.large_string())]))


@pytest.mark.parametrize("on", ["l.k <= r.k", "l.k <= r.k AND l.t <> r.t", "l.k = r.k - r.k"])
@pytest.mark.parametrize("how", ["inner", "full"])
def test_a_long_text_with_many_partners_makes_small_batches(on: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_texts, "MOST_BYTES", 5000)
    left = pa.table({"k": [0, *[9] * 2000], "t": ["x" * 1000, *["a"] * 2000]})
    right = pa.table({"k": [i % 3 for i in range(500)], "t": ["b"] * 500})
    batches = list(dv.join(left.to_reader(), right.to_reader(), on=on, how=how))
    assert max(batch.num_rows for batch in batches) <= 4
    assert sum(batch.num_rows for batch in batches) == (500 if how == "inner" else 2500)


@pytest.mark.parametrize("how", ["left", "right", "full"])
def test_rows_without_a_partner_keep_the_dictionary_so_that_one_file_holds_all_batches(how: str) -> None:
    left, right = (pa.table({"k": k, "c": pa.array(["a", "b"]).dictionary_encode()}) for k in ([1, 2], [2, 3]))
    reader = dv.join(left.to_reader(), right.to_reader(), on="l.k = r.k", how=how)
    file = pa.BufferOutputStream()
    with pa.ipc.new_file(file, reader.schema) as written:
        for batch in reader:
            written.write_batch(batch)
    assert pa.ipc.open_file(file.getvalue()).read_all() == dv.join(left, right, on="l.k = r.k", how=how)


def test_a_narrow_dictionary_stays_one_if_it_can() -> None:
    column = pa.array(["a", "b"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))
    whole = pa.table({"k": [1, 2, 1, 2], "c": pa.chunked_array([column, column])})
    assert dv.join(whole, whole, on="l.k = r.k")["c"].type == column.type
