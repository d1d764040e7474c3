"""Joins over streams of this process: iterators of Arrow batches in, an iterator of Arrow batches out.

>>> import dovetail as dv, pyarrow as pa
>>> from dovetail import stream
>>> bids = [pa.record_batch({"sym": ["A", "A"], "ts": [1, 9], "bid": [10, 12]})]
>>> asks = [pa.record_batch({"sym": ["A", "B"], "ts": [4, 5], "ask": [10, 9]})]
>>> found = stream.temporal_join(a=bids, b=asks, on="a.sym = b.sym", ts="ts", window=dv.sliding(6))
>>> found.read_all().select(["bid", "ask", "valid_start", "valid_end"]).to_pylist()
[{'bid': 10, 'ask': 10, 'valid_start': 4, 'valid_end': 7}, {'bid': 12, 'ask': 10, 'valid_start': 9, 'valid_end': 10}]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    import pyarrow as pa

    from dovetail._core.condition.window import Window
    from dovetail._hosts.arrow.streams.temporal import TemporalOperator
    from dovetail._hosts.arrow.streams.tpmj import TpmjOperator

__all__ = ["join", "temporal_join", "temporal_operator"]


def join(
    *,
    on: str,
    select: str | None = None,
    memory: int | None = None,
    directory: str | PathLike[str] | None = None,
    fan_in: int | None = None,
    strategy: str | None = None,
    **inputs: Any,
) -> pa.RecordBatchReader:
    """Join two finite streams by the progressive merge join: first results early, memory bounded, runs on disk.

    The rows are those of `dovetail.join` with `how="inner"`, each once, in no order that means anything. Two threads
    sort and merge while batches are read; batches are only read as results are asked for.

    Parameters
    ----------
    **inputs
        Two streams by name: iterables of `pyarrow.RecordBatch`, readers or tables.
    on, select
        As for `dovetail.join`. The condition must give the rows of both inputs one order: equalities, or `< <= > >=`.
    memory
        How many bytes rows may take in memory: 64 MB if left out. The first results come after at most as much input.
    directory
        Where runs are kept, made if it is not there; a temporary one if left out. The runs are gone when the join has
        ended.
    fan_in
        How many runs of an input a merge reads at once: 8 if left out.
    strategy
        When to merge: `max-fan-in` only if so many runs wait, `greedy` (if left out) whenever there is time,
        `adaptive` greedily while nothing is to be sorted.

    Returns
    -------
    A reader of the results.

    Raises
    ------
    UsageError
        In one line, if the call cannot be carried out; while reading, if a run cannot be written.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from dovetail import stream
    >>> orders = [pa.record_batch({"id": [1, 2], "item": ["pen", "ink"]})]
    >>> parcels = [pa.record_batch({"parcel": [7, 8], "holds": [2, 3]})]
    >>> stream.join(o=orders, p=parcels, on="o.id = p.holds", select="o.item, p.parcel").read_all().to_pylist()
    [{'item': 'ink', 'parcel': 7}]
    """
    from dovetail._hosts.arrow.streams.run import progressive  # noqa: PLC0415 -- importing dovetail.stream must stay light

    disk = {"memory": memory, "directory": directory, "fan_in": fan_in, "strategy": strategy}
    return progressive(inputs, {"on": on, "select": select}, disk)


def temporal_join(
    *,
    on: str,
    ts: str | Mapping[str, str] | None = None,
    window: Window | Mapping[str, Window] | None = None,
    valid: tuple[str, str] | Mapping[str, tuple[str, str]] | None = None,
    how: str = "inner",
    algorithm: str = "auto",
    lateness: object = 0,
    late: Callable[[str, pa.RecordBatch], None] | None = None,
    memory: int | None = None,
    directory: str | PathLike[str] | None = None,
    fan_in: int | None = None,
    strategy: str | None = None,
    **inputs: Any,
) -> pa.RecordBatchReader:
    """Join streams while their rows are valid; results come in the order of (`valid_start`, `valid_end`).

    As `dovetail.temporal_join`, which says what the rows are. Batches are taken from the input whose time is furthest
    behind, and only as results are asked for.

    Parameters
    ----------
    **inputs
        Two streams or more by name: iterables of `pyarrow.RecordBatch`, readers or tables, whose rows come by start.
    on, ts, window, valid, how
        As for `dovetail.temporal_join`. An outer join holds results back until the unmatched stretches before them are
        known: up to as long as a row is valid.
    algorithm
        `buffer-input` (`auto`) keeps rows back until all inputs have passed them, which suits joins with many results;
        `buffer-output` joins rows as they arrive and keeps the results back, which suits joins with few. `tpmj` keeps
        rows in runs on disk, for windows larger than memory: inner joins whose condition gives all rows one order.
    lateness
        How far a row may be behind the latest one of its input: a duration, or a number on an axis of whole numbers.
    late
        Is given the name of the input and the rows that were later still; without it, such a row is an error.
    memory, directory, fan_in, strategy
        Of `tpmj`, as for `join`.

    Returns
    -------
    A reader of the results.

    Raises
    ------
    UsageError
        In one line, if the call cannot be carried out; while reading, for a row that ends before it starts, or is late.

    Examples
    --------
    >>> import dovetail as dv, pyarrow as pa
    >>> from dovetail import stream
    >>> calls = [pa.record_batch({"id": [1, 2], "start": [0, 5], "end": [8, 6]})]
    >>> faults = [pa.record_batch({"cell": ["x"], "start": [4], "end": [20]})]
    >>> found = stream.temporal_join(c=calls, f=faults, on="TRUE", valid=("start", "end"), how="anti")
    >>> found.read_all().to_pylist()
    [{'id': 1, 'start': 0, 'end': 8, 'valid_start': 0, 'valid_end': 4}]
    """
    from dovetail._hosts.arrow.streams.run import temporal  # noqa: PLC0415 -- importing dovetail.stream must stay light

    call = {"on": on, "ts": ts, "window": window, "valid": valid, "how": how, "algorithm": algorithm}
    disk = {"memory": memory, "directory": directory, "fan_in": fan_in, "strategy": strategy}
    return temporal(inputs, call, lateness=lateness, late=late, disk=disk)


def temporal_operator(
    schemas: Mapping[str, pa.Schema],
    *,
    on: str,
    ts: str | Mapping[str, str] | None = None,
    window: Window | Mapping[str, Window] | None = None,
    valid: tuple[str, str] | Mapping[str, tuple[str, str]] | None = None,
    how: str = "inner",
    algorithm: str = "auto",
    lateness: object = 0,
    late: Callable[[str, pa.RecordBatch], None] | None = None,
    memory: int | None = None,
    directory: str | PathLike[str] | None = None,
    fan_in: int | None = None,
    strategy: str | None = None,
) -> TemporalOperator | TpmjOperator:
    """Make the operator of `temporal_join` itself, for sources that push: batches of any input, in any order.

    Parameters
    ----------
    schemas
        The columns of every input, by its name.
    on, ts, window, valid, how, algorithm, lateness, late, memory, directory, fan_in, strategy
        As for `temporal_join`.

    Returns
    -------
    An operator with `on_batch(name, batch)` and `on_end(name)`, which yield batches of results that are certain, and
    `late_rows`; but for `tpmj`, also with `snapshot()`, which can be pickled, and `restore(state)`. All that a call
    yields is to be taken before the next one, and before a snapshot.

    Examples
    --------
    >>> import dovetail as dv, pyarrow as pa
    >>> from dovetail import stream
    >>> schema = pa.schema([("ts", pa.int64())])
    >>> join = stream.temporal_operator({"a": schema, "b": schema}, on="TRUE", ts="ts", window=dv.sliding(5))
    >>> list(join.on_batch("a", pa.record_batch({"ts": [1, 7]})))
    []
    >>> [batch.to_pylist() for batch in join.on_batch("b", pa.record_batch({"ts": [3, 8]}))]
    [[{'ts': 1, 'b_ts': 3, 'valid_start': 3, 'valid_end': 6}]]
    """
    from dovetail._hosts.arrow.streams.run import operator_of  # noqa: PLC0415 -- as above

    if not isinstance(schemas, Mapping):
        raise UsageError.no_schemas(type(schemas).__name__)
    call = {"on": on, "ts": ts, "window": window, "valid": valid, "how": how, "algorithm": algorithm}
    disk = {"memory": memory, "directory": directory, "fan_in": fan_in, "strategy": strategy}
    return operator_of(dict(schemas), call, lateness=lateness, late=late, disk=disk)
