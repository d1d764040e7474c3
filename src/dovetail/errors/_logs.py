"""What is wrong with what the online engine keeps on disk: its log and its snapshots."""

from __future__ import annotations

from typing import Self

from dovetail.errors._family import DovetailError


class OfLogs(DovetailError):
    """Files that cannot be written, that are in use, or from which nothing can be restored."""

    @classmethod
    def unwritable_state(cls, path: object, reason: str) -> Self:
        """Say that the disk took no more; nothing has changed."""
        return cls(
            f"{str(path)!r} cannot be written: {reason}; the call had no effect. Hint: make room, and call again."
        )

    @classmethod
    def log_exists(cls, path: object) -> Self:
        """Refuse to write over a log."""
        return cls(
            f"log {str(path)!r} already holds rows. Hint: WindowJoin.restore(log=...) goes on with it; or move it away."
        )

    @classmethod
    def log_in_use(cls, path: object) -> Self:
        """Refuse a log that another process writes to."""
        return cls(
            f"log {str(path)!r} is written to by another process. Hint: end that one first; two would mix their calls."
        )

    @classmethod
    def log_taken_over(cls, path: object) -> Self:
        """Refuse an engine behind whose back the log has changed."""
        return cls(
            f"log {str(path)!r} is not as this engine left it: another one has gone on with it. "
            "Hint: go on with that one; two would mix their calls."
        )

    @classmethod
    def snapshot_over_log(cls, path: object) -> Self:
        """Refuse to write a snapshot over the log, which then begins anew."""
        return cls(
            f"{str(path)!r} is the log of this engine; a snapshot is a file beside it. "
            "Hint: snapshot('engine.snapshot')."
        )

    @classmethod
    def no_snapshot(cls, path: object, reason: str) -> Self:
        """Refuse a file that is no whole snapshot or log of ours."""
        return cls(f"{str(path)!r} cannot be restored: {reason}. Hint: restore an older snapshot with all of its log.")

    @classmethod
    def nothing_to_restore(cls) -> Self:
        """Say that neither a snapshot nor a log was named."""
        return cls(
            "nothing to restore: neither a snapshot nor a log is named; an engine goes on with one or both. "
            "Hint: WindowJoin.restore('engine.snapshot', log='engine.log')."
        )

    @classmethod
    def other_definition(cls, path: object) -> Self:
        """Refuse state of another join."""
        return cls(
            f"{str(path)!r} belongs to another join than asked for. Hint: restore it without the log of another."
        )
