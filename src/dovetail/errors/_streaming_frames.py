"""What is wrong with a join of streaming DataFrames."""

from __future__ import annotations

from typing import Self

from dovetail.errors._family import DovetailError


class OfStreamingFrames(DovetailError):
    """Watermarks, rows that would wait for good, and checkpoints and sessions that a query cannot go on with."""

    @classmethod
    def no_watermark(cls, name: str) -> Self:
        """Refuse a stream of which nobody knows how late its rows may be."""
        return cls(
            f"input {name!r} has no watermark; a join of streams needs one on each of them. "
            f"Hint: {name}.withWatermark('ts', '10 seconds'), with the column of its event time."
        )

    @classmethod
    def watermark_of_window(cls, name: str, column: str) -> Self:
        """Refuse a stream whose watermark is that of windows, which have two times."""
        return cls(
            f"the watermark of input {name!r} is on {column!r}, a window; a join of streams needs it on a time. "
            f"Hint: {name}.withColumn('ts', window_time({column!r})), and join by ts."
        )

    @classmethod
    def not_of_streams(cls, option: str, got: object, taken: str) -> Self:
        """Refuse an option that a join of streams does not have."""
        return cls(
            f"a join of streams does not take {option}={got!r}; it takes {taken}. Hint: join batch frames instead, "
            "for example of one micro-batch in foreachBatch."
        )

    @classmethod
    def never_due(cls, name: str, other: str, time: str) -> Self:
        """Refuse to wait for partners without end."""
        return cls(
            f"rows of {name!r} would wait for partners for good; a join that keeps or folds them needs an end to "
            f"{other}.{time}, the event time of {other!r}. "
            f"Hint: add AND {other}.{time} <= (a time of {name!r})."
        )

    @classmethod
    def other_time(cls, name: str, got: str, time: str) -> Self:
        """Refuse to join streams by a time that has no watermark."""
        return cls(
            f"{name}.{got} is not the event time of {name!r}; streams are joined by the column of their watermark, "
            f"{time!r}. Hint: withWatermark({got!r}, '10 seconds')."
        )

    @classmethod
    def static_side_kept(cls, name: str) -> Self:
        """Refuse to say of a batch frame which rows have no partner in a stream without end."""
        return cls(
            f"input {name!r} is no stream, so its rows would wait for their partners for good; beside a stream, a "
            "batch frame can be joined or looked up. Hint: how='inner', or the stream first with how='left'."
        )

    @classmethod
    def no_state_store(cls, setting: str, needed: str) -> Self:
        """Refuse a session whose state store cannot remember rows."""
        return cls(
            "this session's state store cannot hold the rows of a join of streams; Spark has another that can. "
            f"Hint: spark.conf.set({setting!r}, {needed!r}), or dovetail.spark.session()."
        )

    @classmethod
    def stream_setting(cls, setting: str, got: str, needed: str) -> Self:
        """Refuse a session in which tasks would evaluate otherwise than Spark."""
        return cls(
            f"{setting} is {got!r}; a join of streams that computes with its columns needs {needed!r}. "
            "Hint: compute them with withColumn before the join, or change the setting."
        )

    @classmethod
    def other_join(cls, what: str, known: str, got: str) -> Self:
        """Refuse to go on from what another join has remembered."""
        return cls(
            f"the checkpoint was made with {what} {known!r}, the join now has {got!r}; what is remembered for one join "
            "serves no other. Hint: start with a new checkpoint, or ask for the join as before."
        )
