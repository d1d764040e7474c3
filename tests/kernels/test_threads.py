"""Kernels side by side: the same answers in a process that was forked from one with threads."""

from __future__ import annotations

import os
import signal
import sys
import threading
from functools import partial

import pytest

from dovetail._core.kernels.threads import in_turn, together

CALLS = [lambda i=i: i * i for i in range(8)]
SQUARES = [i * i for i in range(8)]


def test_calls_return_in_their_order() -> None:
    assert together(2, CALLS) == SQUARES
    assert list(in_turn(2, CALLS)) == SQUARES


def test_calls_within_calls_do_not_wait_for_threads_that_wait_for_them() -> None:
    assert together(2, [partial(together, 2, CALLS)] * 3) == [SQUARES] * 3


def test_the_caller_takes_what_no_other_thread_has_begun() -> None:
    begun, held = threading.Event(), threading.Event()

    def hold() -> bool:
        begun.set()
        return held.wait(20)

    def take() -> threading.Thread:
        held.set()
        return threading.current_thread()

    assert together(2, [lambda: begun.wait(20), hold, take]) == [True, True, threading.current_thread()]


def test_nothing_runs_on_behind_an_error() -> None:
    running, failed, ended = threading.Event(), threading.Event(), []

    def fail() -> None:
        running.wait(20)
        failed.set()
        raise ZeroDivisionError

    def go_on() -> None:
        running.set()
        failed.wait(20)
        ended.append(sum(range(2_000_000)))

    with pytest.raises(ZeroDivisionError):
        together(2, [fail, go_on, go_on])
    assert len(ended) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    assert together(2, CALLS) == SQUARES  # so that the pool is there
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # which ends a child that waits for threads that it does not have
        os._exit(together(2, CALLS) != SQUARES)
    assert os.waitpid(child, 0)[1] == 0
