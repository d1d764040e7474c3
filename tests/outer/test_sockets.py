"""Links over TCP: strangers learn nothing, a neighbour that is gone is told at once, a slow one is waited for."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack

import pyarrow as pa
import pytest

from dovetail._hosts.ring.feeder import Feeder
from dovetail._hosts.ring.sockets import SocketLinks, prove
from dovetail._hosts.ring.wire import pack
from dovetail.errors import UsageError

HOST = "127.0.0.1"
SECRET = b"s" * 32
TABLE = pa.table({"x": list(range(1000))})


def _two(stack: ExitStack, secrets: tuple[bytes, bytes] = (SECRET, SECRET), patience: float = 5.0) -> list[SocketLinks]:
    links = [SocketLinks(HOST, secret, patience) for secret in secrets]
    for rank, own in enumerate(links):
        own.join(rank, [other.place for other in links])
        stack.callback(own.abort)
    return links


def test_tables_arrive_in_order_and_back_pressure_holds_the_sender() -> None:
    with ExitStack() as stack:
        one, two = _two(stack)
        large = pa.table({"x": pa.array(range(400_000), pa.int64())})
        left = threading.Event()

        def send() -> None:
            for _ in range(8):
                one.send(1, large)
            left.set()

        threading.Thread(target=send, daemon=True).start()
        assert not left.wait(0.3)  # 25 MB do not fit a queue of one and the system's own buffers
        assert all(two.receive(0).equals(large) for _ in range(8))
        assert left.wait(5)
        one.close()


def test_a_worker_without_the_secret_is_turned_away() -> None:
    with ExitStack() as stack:
        one, two = _two(stack, (SECRET, b"t" * 32), patience=0.5)
        with pytest.raises(UsageError, match=r"worker 1 at 127.0.0.1:\d+ did not answer within 0.5 seconds"):
            one.send(1, TABLE)
        with pytest.raises(UsageError, match=r"worker 0 at .* did not answer"):
            two.receive(0)


def test_a_neighbour_that_is_gone_is_told_at_once_and_one_that_never_came_in_time() -> None:
    with ExitStack() as stack:
        one, two = _two(stack, patience=0.5)
        with pytest.raises(UsageError, match=r"did not answer within 0.5 seconds"):
            two.receive(0)
        one.send(1, TABLE)
        assert two.receive(0).equals(TABLE)
        one.close()
        with pytest.raises(UsageError, match=r"or hung up"):
            two.receive(0)


def test_a_neighbour_that_works_long_is_waited_for() -> None:
    with ExitStack() as stack:
        one, two = _two(stack, patience=0.4)
        one.send(1, TABLE)
        two.receive(0)
        timer = threading.Timer(1.0, one.send, (1, TABLE))  # longer than its patience, but it gives signs of life
        timer.start()
        assert two.receive(0).equals(TABLE)
        timer.join()


def test_the_feeder_hands_out_every_nth_part_to_those_who_know_the_secret() -> None:
    feeder = Feeder(HOST, SECRET)
    parts = [bytes(pack(pa.table({"x": [i]}))) for i in range(5)]
    fetch = feeder.keep(parts, bytes(pack(pa.table({"x": pa.array([], pa.int64())}))))
    assert fetch.parts(0, 2)["x"].to_pylist() == [0, 2, 4]
    assert fetch.parts(1, 2)["x"].to_pylist() == [1, 3]
    assert fetch.parts(7, 8).num_rows == 0
    with socket.create_connection(fetch.place, 5) as link, pytest.raises(OSError):  # noqa: PT011 -- reset or refused
        prove(link, b"t" * 32, 0)
