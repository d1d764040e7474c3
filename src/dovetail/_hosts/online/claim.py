"""Who may write to a log: one process at a time, told by a lock on a file beside it, which goes with the process."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, finalize

from dovetail._hosts.online.files import reason
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


class Claim:
    """A lock that is held until nobody holds this any more."""

    def __init__(self, path: Path) -> None:
        try:
            file = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise UsageError.unwritable_state(path, reason(error)) from None
        finalize(self, os.close, file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError.log_in_use(path) from None


_CLAIMS: WeakValueDictionary[Path, Claim] = WeakValueDictionary()
os.register_at_fork(after_in_child=_CLAIMS.clear)  # they are the parent's


def claim(path: Path) -> Claim:
    """What an engine holds while it writes to a log; engines of one process share it."""
    found = _CLAIMS.get(path.absolute())
    if found is None:
        found = _CLAIMS[path.absolute()] = Claim(path)
    return found
