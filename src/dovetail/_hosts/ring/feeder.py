"""Parts of the travelling side, kept in a file of the process that asked for the join, for workers to fetch.

A barrier stage may read one input only, and that is the side that stays. So the other side is brought part by part,
never whole into memory, and each worker of a ring of N fetches every N-th part when it starts; one that starts again
fetches the same.
"""

from __future__ import annotations

import socket
import tempfile
import threading
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._hosts.ring.sockets import LENGTH, PATIENCE, demand, prove, read_frame, write_frame
from dovetail._hosts.ring.wire import unpack
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

ASKED = 4


@dataclass(frozen=True, slots=True)
class Fetch:
    """Where the parts of one join are, for a worker to ask for: plain values that travel to it."""

    place: tuple[str, int]
    secret: bytes = field(repr=False)
    number: int
    nothing: bytes
    """A part without rows."""

    def parts(self, rank: int, size: int) -> pa.Table:
        """The rows of a worker among so many."""
        try:
            with socket.create_connection(self.place, PATIENCE) as link:
                prove(link, self.secret, rank)
                write_frame(link, self.number.to_bytes(ASKED, "big") + size.to_bytes(ASKED, "big"))
                number = int.from_bytes(memoryview(read_frame(link)), "big")
                tables = [unpack(read_frame(link)) for _ in range(number)]
        except OSError:
            msg = f"the feeder at {self.place[0]}:{self.place[1]}"
            raise UsageError.no_answer(msg, PATIENCE) from None
        return pa.concat_tables(tables) if tables else unpack(self.nothing)


class Feeder:
    """The parts of all joins of this process, in one temporary file that goes with it."""

    def __init__(self, host: str, secret: bytes) -> None:
        self._secret = secret
        self._file = tempfile.TemporaryFile(prefix="dovetail-ring-")  # noqa: SIM115 -- it lives as long as we do
        self._parts: list[list[tuple[int, int]]] = []
        self._lock = threading.Lock()
        self._listener = socket.create_server((host, 0), backlog=128)
        threading.Thread(target=self._accept, daemon=True).start()

    def keep(self, parts: Iterable[bytes], nothing: bytes) -> Fetch:
        """Store the parts of a join as they come."""
        kept = []
        for part in parts:
            with self._lock:
                kept.append((self._file.seek(0, 2), len(part)))
                self._file.write(part)
        with self._lock:
            number = len(self._parts)
            self._parts.append(kept)
        host, port = self._listener.getsockname()[:2]
        return Fetch((str(host), int(port)), self._secret, number, nothing)

    def _accept(self) -> None:
        while True:
            link, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def _serve(self, link: socket.socket) -> None:
        """Hand out what a worker asks for, if it knows the secret; one that hangs up is left alone."""
        link.settimeout(PATIENCE)
        with link:
            try:
                rank = demand(link, self._secret)
                asked = bytes(read_frame(link))
                number, size = (int.from_bytes(asked[at : at + ASKED], "big") for at in (0, ASKED))
                wanted = self._parts[number][rank::size]
                write_frame(link, len(wanted).to_bytes(LENGTH, "big"))
                for place, length in wanted:
                    write_frame(link, self._read(place, length))
            except OSError:
                return

    def _read(self, place: int, length: int) -> bytes:
        with self._lock:
            self._file.seek(place)
            return self._file.read(length)


@cache
def feeder(host: str, secret: bytes) -> Feeder:
    """The one feeder of this process at an address."""
    return Feeder(host, secret)
