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
    """Fold, for every base row, the probe rows around its time, as they arrive.

    Examples
    --------
    >>> import dovetail as dv
    """

    def __init__(
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
        delta: float = 0.01,
        decay: float = 0.5,
        period: int = 10_000,
        on_late: Callable[[str, pa.RecordBatch], None] | None = None,
        log: str | Path | None = None,
        sync: str = "always",
    ) -> None:
        from dovetail._hosts.online.open import open_engine  # noqa: PLC0415 -- importing dovetail must stay light

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
        self._session = open_engine(call, on_late, log)

    def insert(self, rows: Any) -> None:
        """Store probe rows."""
        self._session.insert(rows)

    def push(self, rows: Any) -> Any:
        """Take base rows; return results."""
        return self._session.push(rows)

    def request(self, row: Any) -> Any:
        """Answer base rows at once."""
        return self._session.request(row)

    def advance(self, watermark: Any = None) -> pa.Table:
        """Raise the watermark; return results."""
        return self._session.advance(watermark)

    def close(self) -> pa.Table:
        """Return the results of all rows that wait."""
        return self._session.close()
