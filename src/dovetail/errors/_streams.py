"""What is wrong with streams in this process, which are iterators of Arrow batches."""

from __future__ import annotations

from typing import Self

from dovetail.errors._family import DovetailError
from dovetail.errors._wording import an


class OfStreams(DovetailError):
    """Batches and their schemas, the order in which rows arrive, and what is kept of them in memory and on disk."""

    @classmethod
    def no_batches(cls, name: str, got: str) -> Self:
        """Name an input that is no stream of batches."""
        return cls(
            f"input {name!r} is {an(got)}; a stream is an iterator of Arrow record batches, a reader or a table. "
            "Hint: table.to_batches()."
        )

    @classmethod
    def no_schema(cls, name: str) -> Self:
        """Say that an empty iterator does not tell its columns."""
        return cls(
            f"input {name!r} has no batch, so that its columns are not known. "
            "Hint: pass pyarrow.RecordBatchReader.from_batches(schema, batches), or at least one batch without rows."
        )

    @classmethod
    def no_schemas(cls, got: str) -> Self:
        """Say that an operator must know its inputs by name."""
        return cls(
            f"schemas is {an(got)}; an operator needs the schema of every input by its name. "
            "Hint: {'a': left.schema, 'b': right.schema}."
        )

    @classmethod
    def stream_twice(cls, name: str, other: str) -> Self:
        """Refuse one stream as two inputs."""
        return cls(
            f"inputs {name!r} and {other!r} are one stream, whose batches can be read once. "
            "Hint: give a table, or two streams."
        )

    @classmethod
    def refused_batch(cls, name: str, reason: str) -> Self:
        """Refuse a batch that an input cannot have."""
        return cls(
            f"a batch of input {name!r} is refused, nothing of it is taken: {reason}. "
            "Hint: an input has Arrow record batches of one schema, none after its end."
        )

    @classmethod
    def runs_backwards(cls, name: str, got: object, latest: object) -> Self:
        """Show a start that is further back than the lateness."""
        return cls(
            f"input {name!r} runs backwards: a row starts at {got} after one at {latest}, further back than the "
            "lateness; rows arrive by start. Hint: allow more with lateness=..., or take what is too late with late=..."
        )

    @classmethod
    def needs_ticks(cls, option: str) -> Self:
        """Refuse to count distances on an axis of doubles."""
        return cls(f"{option} counts ticks, which an axis of DOUBLE does not have. Hint: cast the times to integers.")

    @classmethod
    def no_global_order(cls, name: str, what: str) -> Self:
        """Refuse a condition by which rows of all inputs cannot be sorted."""
        return cls(
            f"runs need one order of values over all inputs, but {name!r} {what}. Hint: compare every two by the same "
            "keys, or by < <= > >= of one interval each; or use algorithm='buffer-input'."
        )

    @classmethod
    def no_memory(cls, got: object) -> Self:
        """Refuse a limit that is no number of bytes."""
        return cls(f"memory is {got!r}; it is a whole number of bytes above 0. Hint: memory=64 << 20 are 64 MB.")

    @classmethod
    def too_little_memory(cls, got: object, batch: int) -> Self:
        """Refuse a limit that not even one batch fits."""
        return cls(
            f"memory is {got!r} bytes, but one batch takes {batch}; twice a batch is the least. "
            "Hint: raise memory, or cut the input into smaller batches."
        )

    @classmethod
    def too_small_fan_in(cls, got: object) -> Self:
        """Refuse to merge fewer than two runs."""
        return cls(f"fan_in is {got!r}; a merge reads at least 2 runs. Hint: leave it out for 8.")

    @classmethod
    def unwritable_directory(cls, path: str, reason: str) -> Self:
        """Name a directory in which no run can be kept."""
        return cls(f"directory {path!r} cannot be written to: {reason}. Hint: name another with directory=...")

    @classmethod
    def unwritable_run(cls, path: str, reason: str) -> Self:
        """Say that a run could not be kept, and that its rows are not lost."""
        return cls(
            f"run {path!r} cannot be written: {reason}; the rows of it are still in memory or in older runs. "
            "Hint: make room on the disk, then call again."
        )

    @classmethod
    def other_snapshot(cls, got: object) -> Self:
        """Refuse to go on with what no snapshot gave."""
        return cls(
            f"a {type(got).__name__} is no snapshot of this operator. "
            "Hint: restore(state) takes what snapshot() of an operator of the same call gave."
        )
