"""Importing this loads the kernels that a join of CSV files runs, by joining a few rows.

A server process imports it once; the workers, which are its forks, then find everything loaded.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401 -- which the first connection of a process would load

from dovetail._hosts.ring.csv_file import CsvFile, split
from dovetail._hosts.ring.csv_worker import lines_of, worker_of
from dovetail._hosts.ring.memory import MemoryLinks, Traffic
from dovetail._hosts.ring.processes import CsvJoin
from dovetail._hosts.ring.worker import ALGORITHMS

ROWS = 5000
"""Enough to be sorted as many rows are."""


def join_some(key: str) -> int:
    """Join texts of keys written in some way, by every algorithm."""
    text = "".join(f"{key.format(7919 * i % ROWS)},{i}\n" for i in range(ROWS)).encode()
    sides = [split(text, 2)[0] for _ in range(2)]
    file, rows = CsvFile("", ("key", "number"), 0, 0), 0
    for name, algorithm in ALGORITHMS.items():
        links = MemoryLinks(0, 1, {}, Traffic())
        job = CsvJoin(file, file, "full", name, 1)
        worker = worker_of(job, sides, [own.keys() for own in sides])
        rows += sum(piece.rows for piece in lines_of(job, algorithm(worker, links)))
    return rows


for written in ("{}", "k{}"):
    join_some(written)
