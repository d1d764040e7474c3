"""Links over TCP: strangers learn nothing, a neighbour that is gone is told at once, a slow one is waited for."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
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


def _two(stack: ExitStack, patience: float = 5.0) -> list[SocketLinks]:
    links = [SocketLinks(HOST, SECRET, patience) for _ in range(2)]
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
        links = [SocketLinks(HOST, secret, 0.5) for secret in (SECRET, b"t" * 32)]
        for rank, own in enumerate(links):
            stack.callback(own.abort)
            with pytest.raises(UsageError, match=rf"worker {1 - rank} at 127.0.0.1:\d+ did not answer within 0.5 sec"):
                own.join(rank, [other.place for other in links])
        with pytest.raises(UsageError, match=r"worker 0 at .* did not answer"):
            links[1].receive(0)


def test_a_neighbour_that_is_gone_is_told_at_once_and_one_that_never_came_in_time() -> None:
    with ExitStack() as stack:
        one, two = (SocketLinks(HOST, SECRET, 0.5) for _ in range(2))
        stack.callback(one.abort)
        stack.callback(two.abort)
        two.join(1, [one.place, two.place])
        with pytest.raises(UsageError, match=r"did not answer within 0.5 seconds"):
            two.receive(0)
        one.join(0, [one.place, two.place])
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


def test_a_neighbour_that_works_long_before_its_first_table_is_waited_for() -> None:
    with ExitStack() as stack:
        one, two = _two(stack, patience=0.4)
        timer = threading.Timer(1.0, one.send, (1, TABLE))
        timer.start()
        assert two.receive(0).equals(TABLE)
        timer.join()


def test_threads_end_when_a_worker_hangs_up_whatever_they_wait_for() -> None:
    before = set(threading.enumerate())
    with ExitStack() as stack:
        one, two = _two(stack)
        large = pa.table({"x": pa.array(range(4_000_000), pa.int64())})
        one.send(1, large)  # of which nobody takes anything, so that the thread stands in the middle of it
        one.send(1, large)
        two.send(0, TABLE)
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()


def test_joins_begun_at_once_get_parts_of_their_own() -> None:
    feeder = Feeder(HOST, SECRET)
    nothing = bytes(pack(pa.table({"x": pa.array([], pa.int64())})))
    with ThreadPoolExecutor(8) as pool:
        kept = pool.map(lambda i: feeder.keep([bytes(pack(pa.table({"x": [i]})))], nothing), range(64))
    assert [own.parts(0, 1)["x"].to_pylist() for own in kept] == [[i] for i in range(64)]


def test_the_secret_is_not_shown() -> None:
    assert "sss" not in repr(Feeder(HOST, SECRET).keep([], b""))


def test_the_feeder_hands_out_every_nth_part_to_those_who_know_the_secret() -> None:
    feeder = Feeder(HOST, SECRET)
    parts = [bytes(pack(pa.table({"x": [i]}))) for i in range(5)]
    fetch = feeder.keep(parts, bytes(pack(pa.table({"x": pa.array([], pa.int64())}))))
    assert fetch.parts(0, 2)["x"].to_pylist() == [0, 2, 4]
    assert fetch.parts(1, 2)["x"].to_pylist() == [1, 3]
    assert fetch.parts(7, 8).num_rows == 0
    with socket.create_connection(fetch.place, 5) as link, pytest.raises(OSError):  # noqa: PT011 -- reset or refused
        prove(link, b"t" * 32, 0)
