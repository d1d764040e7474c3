"""Spark's daemon of Python workers: they begin with what our tasks need, and end without a word when Spark ends them.

A worker is forked from the daemon, so what the daemon has imported no worker imports again. Spark closes the
connections of workers that have had nothing to do for a minute. These notice as they flush what is left, and their
daemon prints a traceback of each, which looks as if something had gone wrong.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pyspark import daemon

if TYPE_CHECKING:
    import socket

_worker = daemon.worker
ENDED = 1
"""The daemon lets a worker go that ends with anything but 0."""
TASKS = "dovetail._hosts.spark.task"
"""What nearly all of our tasks import, Numba with it: else a join after a pause takes half a second longer."""


def worker(sock: socket.socket, authenticated: bool) -> int:  # noqa: FBT001 -- called by Spark's daemon
    """Serve Spark until it closes the connection."""
    try:
        return _worker(sock, authenticated)
    except BrokenPipeError:
        return ENDED


if __name__ == "__main__":
    import_module(TASKS)
    daemon.worker = worker
    daemon.manager()
