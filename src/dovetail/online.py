"""The online interval join: the window join of `dv.window_join`, row for row, as an engine inside your process.

>>> import dovetail as dv
>>> import pyarrow as pa
>>> clicks = pa.schema([("user", pa.string()), ("ts", pa.int64())])
>>> orders = pa.schema([("user", pa.string()), ("ts", pa.int64()), ("amount", pa.float64())])
>>> engine = dv.online.WindowJoin(
...     base=clicks, probe=orders, on="ts", keys="user", preceding=10, agg={"n": "count(*)", "spend": "sum(amount)"}
... )
>>> engine.insert([{"user": "u", "ts": 4, "amount": 1.5}, {"user": "u", "ts": 9, "amount": 2.0}])
>>> engine.request({"user": "u", "ts": 10})
{'user': 'u', 'ts': 10, 'n': 2, 'spend': 3.5}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

__all__ = ["WindowJoin"]


class WindowJoin:
    """Fold, for every base row, the probe rows around its time, as they arrive: `dv.window_join`, row for row.

    Base rows are *pushed* and answered exactly, once the watermark has passed their windows; or *requested* and
    answered at once, on what has arrived. The watermark is the greatest time seen on either side, less the lateness,
    and only rises; a row that comes after it is *late*: counted, handed to `on_late`, and not joined. NULL keys match
    nothing (unless null-safe); a row without a time is refused. What is refused changes nothing.

    Parameters
    ----------
    base, probe
        The Arrow schemas of both inputs.
    on, keys, preceding, following, agg, closed, include_prevailing, windows, null_safe
        As for `dv.window_join`.
    lateness
        How far behind the greatest time a row may come: a duration ("10 seconds") or a number; 0 if left out. "auto"
        finds it from the delays seen, so that about one row in 10,000 is late; `metrics()["missed"]` tells.
    keep
        Where base columns bring distances of their own, how far windows may reach back; rows are kept so long, and
        for ever if it is left out.
    algorithm
        `scale` (Scale-OIJ), `key` (Key-OIJ, as in Flink) or `split` (SplitJoin): the same answers, at different cost.
    joiners
        How many joiners work side by side.
    index, schedule, incremental
        False leaves out that part of `scale`: the time-travel index, the shared keys, the shared work of windows.
    delta, decay, period
        Of the schedule: by how much sharing a key must lower the unbalancedness, how fast what was seen fades, and
        after how many rows to look again.
    on_late
        Called with "base" or "probe" and a batch of late rows, once the others of the call are taken. If it fails, the
        call has been carried out nevertheless, and its results come with the next one.
    log, sync
        A file in which every call is written before it is carried out, and when that is brought to the disk: `always`
        before the call returns, at an `interval` of a second, or `never` by us.

    Raises
    ------
    UsageError
        In one line, if the call cannot be carried out.

    Examples
    --------
    >>> import dovetail as dv
    >>> import pyarrow as pa
    >>> engine = dv.online.WindowJoin(
    ...     base=pa.schema([("user", pa.string()), ("ts", pa.int64())]),
    ...     probe=pa.schema([("user", pa.string()), ("ts", pa.int64()), ("amount", pa.float64())]),
    ...     on="ts", keys="user", preceding=10, agg={"n": "count(*)", "spend": "sum(amount)"}, lateness=5,
    ... )
    >>> engine.insert({"user": "u", "ts": 9, "amount": 2.0})
    >>> engine.push({"user": "u", "ts": 10})  # a row of time 5 may still come
    []
    >>> engine.insert({"user": "u", "ts": 6, "amount": 1.5})
    >>> engine.advance(11).to_pylist()
    [{'user': 'u', 'ts': 10, 'n': 2, 'spend': 3.5}]
    """

    def __init__(  # noqa: PLR0913 -- the choices of `window_join` and those of the engine
        self,
        *,
        base: pa.Schema,
        probe: pa.Schema,
        on: str | tuple[str, str],
        keys: str | Sequence[str | tuple[str, str]] | None = None,
        preceding: object = None,
        following: object = None,
        agg: Mapping[str, str] | None = None,
        closed: str | None = None,
        include_prevailing: bool | None = None,
        windows: Sequence[Mapping[str, Any]] | None = None,
        null_safe: bool | str | Sequence[str] = False,
        lateness: object = 0,
        keep: object = None,
        algorithm: str = "scale",
        joiners: int = 1,
        index: bool = True,
        schedule: bool = True,
        incremental: bool = True,
        delta: float = 0.02,
        decay: float = 0.5,
        period: int = 10_000,
        on_late: Callable[[str, pa.RecordBatch], None] | None = None,
        log: str | Path | None = None,
        sync: str = "always",
    ) -> None:
        from dovetail._hosts.online.session import Session  # noqa: PLC0415 -- importing dovetail must stay light

        call = {
            "base": base,
            "probe": probe,
            "on": on,
            "keys": keys,
            "preceding": preceding,
            "following": following,
            "agg": agg,
            "closed": closed,
            "include_prevailing": include_prevailing,
            "windows": windows,
            "null_safe": null_safe,
            "lateness": lateness,
            "keep": keep,
            "algorithm": algorithm,
            "joiners": joiners,
            "index": index,
            "schedule": schedule,
            "incremental": incremental,
            "delta": delta,
            "decay": decay,
            "period": period,
            "sync": sync,
        }
        self._session = Session.open(call, on_late, log)

    def insert(self, rows: Any) -> None:
        """Store probe rows: a mapping, a list of mappings, or any frame of the probe's columns."""
        self._session.insert(rows)

    def push(self, rows: Any, probe: Any = None) -> Any:
        """Take base rows; return the results of all rows that are due by now, in the order of their times.

        A row is due when the watermark has passed its windows. `probe` are probe rows that arrived together with the
        base rows: neither can make the other late. Results come in the form of the rows: a list of dictionaries for
        mappings, else a frame of the same library. Where a sum of a row that is due overflows, the call says so: that
        row has no result, and those of the others come with the next call.
        """
        return self._session.push(rows, probe)

    def request(self, rows: Any) -> Any:
        """Answer base rows at once, on what has arrived; of a mapping, a dictionary. The rows are not kept."""
        return self._session.request(rows)

    def advance(self, watermark: Any = None) -> pa.Table:
        """Raise the watermark to a time, if one is given; return the results of all rows that are due by now."""
        return self._session.advance(watermark)

    def close(self) -> pa.Table:
        """Return the results of all rows that wait, on what has arrived; the engine takes no more.

        An engine that was restored after its end gives the same results once more.
        """
        return self._session.close()

    @property
    def watermark(self) -> Any:
        """The time before which no row is expected any more; None before the first."""
        return self._session.watermark

    def metrics(self) -> dict[str, Any]:
        """What has been done and what is held.

        Latencies are seconds by quantile: `latency` from a row's arrival to its result, with its wait for the
        watermark; `service` from the call that made it due; `request` of requests.
        """
        return self._session.metrics()

    def prometheus(self) -> str:
        """The metrics as Prometheus reads them."""
        return self._session.prometheus()

    def snapshot(self, path: str | Path) -> None:
        """Write everything that the engine holds to a file, whole or not at all; its log begins anew."""
        self._session.snapshot(path)

    @classmethod
    def restore(
        cls,
        path: str | Path | None = None,
        *,
        log: str | Path | None = None,
        on_late: Callable[[str, pa.RecordBatch], None] | None = None,
    ) -> WindowJoin:
        """Go on with a snapshot, with the calls that its log holds behind it, or with a log alone.

        A call that the log does not hold to its end was never acknowledged; what there is of it is cut off, and a
        warning logged. The results of the last call in the log come with the next one, as its caller may not have seen
        them, and its late rows go to `on_late` again.

        Examples
        --------
        >>> import dovetail as dv, pyarrow as pa, tempfile, pathlib
        >>> only = pa.schema([("ts", pa.int64())])
        >>> path = pathlib.Path(tempfile.mkdtemp(), "engine.snapshot")
        >>> engine = dv.online.WindowJoin(base=only, probe=only, on="ts", preceding=10, agg={"n": "count(*)"})
        >>> engine.insert([{"ts": 1}, {"ts": 2}])
        >>> engine.snapshot(path)
        >>> dv.online.WindowJoin.restore(path).request({"ts": 2})
        {'ts': 2, 'n': 2}
        """
        from dovetail._hosts.online.session import Session  # noqa: PLC0415 -- importing dovetail must stay light

        engine = cls.__new__(cls)
        engine._session = Session.restore(path, log, on_late)  # noqa: SLF001 -- our own
        return engine
