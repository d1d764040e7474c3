"""Links over TCP: frames of Arrow bytes between workers that prove to each other that they know the job's secret.

A worker listens at its own address; whoever has tables for it dials. A connection carries tables one way only. Before
the first, both ends answer the other's random challenge with a keyed hash: no secret travels, and nothing is read from
a stranger but the answer. A frame is its length and an Arrow stream; nothing is ever unpickled.

Tables leave through a thread for each receiver that holds one at a time, so a worker is at most one table ahead of its
neighbour: that, and TCP's own window, is the back-pressure. While there is nothing to send, the thread sends empty
frames, so that a worker that works long is told from one that is gone. The next worker of the ring is dialled at once:
what a worker does before its first table may take long, too.
"""

from __future__ import annotations

import hmac
import queue
import secrets
import socket
import threading
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._hosts.ring.wire import pack, unpack
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENCE = 60.0
"""How many seconds a worker may be silent; it tells every fourth of that that it is alive."""
NONCE = 32
LENGTH = 8
RANK = 4


class SocketLinks:
    """A worker's connections; to be closed, also after an error."""

    def __init__(self, host: str, secret: bytes, patience: float = PATIENCE) -> None:
        self.rank, self.size = 0, 1
        self._secret = secret
        self._patience = patience
        self._places: Sequence[tuple[str, int]] = ()
        self._senders: dict[int, _Sender] = {}
        self._accepted: dict[int, socket.socket] = {}
        self._closed = False
        self._arrived = threading.Condition()
        self._listener = socket.create_server((host, 0), backlog=128)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def place(self) -> tuple[str, int]:
        """Where the others find us."""
        host, port = self._listener.getsockname()[:2]
        return str(host), int(port)

    def join(self, rank: int, places: Sequence[tuple[str, int]]) -> None:
        """Learn our own number and where all workers are; begin to give signs of life to the next one."""
        self.rank, self.size, self._places = rank, len(places), places
        if self.size > 1:
            self._sender((rank + 1) % self.size)

    def send(self, to: int, table: pa.Table) -> None:
        """Hand a table over for another worker."""
        self._sender(to).put(pack(table))

    def receive(self, source: int) -> pa.Table:
        """The next table of another worker."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: source in self._accepted, self._patience):
                raise UsageError.no_answer(self._told(source), self._patience)
        try:
            return unpack(read_frame(self._accepted[source]))
        except OSError:
            raise UsageError.no_answer(self._told(source), self._patience) from None

    def close(self) -> None:
        """Send what is left, then hang up."""
        try:
            for sender in self._senders.values():
                sender.end()
        finally:
            self.abort()

    def abort(self) -> None:
        """Hang up at once."""
        with suppress(OSError):  # wakes the thread that waits for connections
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sender in self._senders.values():
            sender.abort()
        with self._arrived:
            self._closed = True
            for link in self._accepted.values():
                link.close()

    def _sender(self, to: int) -> _Sender:
        if to not in self._senders:
            self._senders[to] = _Sender(self._dial(to), self._told(to), self._patience)
        return self._senders[to]

    def _told(self, rank: int) -> str:
        return f"worker {rank} at {self._places[rank][0]}:{self._places[rank][1]}"

    def _dial(self, to: int) -> socket.socket:
        with ExitStack() as stack:
            try:
                link = stack.enter_context(socket.create_connection(self._places[to], self._patience))
                prove(link, self._secret, self.rank)
            except OSError:
                raise UsageError.no_answer(self._told(to), self._patience) from None
            stack.pop_all()
        link.settimeout(None)  # a neighbour may take its time; one that is gone resets the connection
        link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return link

    def _accept(self) -> None:
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._welcome, args=(link,), daemon=True).start()

    def _welcome(self, link: socket.socket) -> None:
        """Keep a connection whose other end knows the secret; hang up on any other."""
        link.settimeout(self._patience)
        try:
            rank = demand(link, self._secret)
        except OSError:
            link.close()
            return
        with self._arrived:
            if self._closed:
                link.close()
                return
            self._accepted[rank] = link
            self._arrived.notify_all()


class _Sender:
    """A thread that sends the tables for one worker, one at a time, and a sign of life between them."""

    def __init__(self, link: socket.socket, told: str, patience: float) -> None:
        self._link, self._told, self._patience = link, told, patience
        self._waiting: queue.Queue[pa.Buffer | None] = queue.Queue(1)
        self._failed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, data: pa.Buffer | None) -> None:
        """Wait until the table before has left."""
        while not self._failed.is_set():
            with suppress(queue.Full):
                self._waiting.put(data, timeout=0.2)
                return
        raise UsageError.no_answer(self._told, self._patience)

    def end(self) -> None:
        """Wait until everything has left."""
        try:
            self.put(None)
            self._thread.join()
        finally:
            self._link.close()
        if self._failed.is_set():
            raise UsageError.no_answer(self._told, self._patience)

    def abort(self) -> None:
        """Hang up at once; the thread ends, whether it waits for a table or for the other end to take one."""
        with suppress(OSError):  # the other end may have hung up first
            self._link.shutdown(socket.SHUT_RDWR)
        self._link.close()
        with suppress(queue.Full):  # what waits cannot be written any more, which ends the thread as well
            self._waiting.put_nowait(None)

    def _run(self) -> None:
        while True:
            try:
                data = self._waiting.get(timeout=self._patience / 4)
            except queue.Empty:
                with suppress(OSError):  # a worker that has all it wants may hang up
                    write_frame(self._link, b"")
                continue
            if data is None:
                return
            try:
                write_frame(self._link, data)
            except OSError:
                self._failed.set()
                return


def prove(link: socket.socket, secret: bytes, rank: int) -> None:
    """Answer the other end's challenge, with our number, and challenge it in turn."""
    _send_at_once(link)
    theirs, ours, number = _exactly(link, NONCE), secrets.token_bytes(NONCE), rank.to_bytes(RANK, "big")
    link.sendall(number + ours + _answer(secret, b"dial", theirs, ours, number))
    if not hmac.compare_digest(_exactly(link, NONCE), _answer(secret, b"host", theirs, ours, number)):
        raise ConnectionRefusedError


def demand(link: socket.socket, secret: bytes) -> int:
    """Challenge whoever has dialled; return its number."""
    _send_at_once(link)
    ours = secrets.token_bytes(NONCE)
    link.sendall(ours)
    number, theirs = _exactly(link, RANK), _exactly(link, NONCE)
    if not hmac.compare_digest(_exactly(link, NONCE), _answer(secret, b"dial", ours, theirs, number)):
        raise ConnectionRefusedError
    link.sendall(_answer(secret, b"host", ours, theirs, number))
    return int.from_bytes(number, "big")


def _send_at_once(link: socket.socket) -> None:
    """Let a short message leave before the one ahead of it was acknowledged, which takes some 40 ms."""
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _answer(secret: bytes, role: bytes, *parts: bytes) -> bytes:
    return hmac.digest(secret, role + b"".join(parts), "sha256")


def write_frame(link: socket.socket, data: pa.Buffer | bytes) -> None:
    """Send bytes after their number."""
    view = memoryview(data)
    link.sendall(view.nbytes.to_bytes(LENGTH, "big"))
    link.sendall(view)


def read_frame(link: socket.socket) -> pa.Buffer:
    """The next bytes that were sent; signs of life are passed over."""
    while True:
        size = int.from_bytes(_exactly(link, LENGTH), "big")
        if size:
            return _filled(link, pa.allocate_buffer(size))


def _filled(link: socket.socket, buffer: pa.Buffer) -> pa.Buffer:
    view, at = memoryview(buffer), 0
    while at < view.nbytes:
        got = link.recv_into(view[at:])
        if not got:
            raise ConnectionResetError
        at += got
    return buffer


def _exactly(link: socket.socket, size: int) -> bytes:
    return bytes(_filled(link, pa.allocate_buffer(size)))
