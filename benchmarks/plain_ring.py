"""The third document's program in plain Python, as the rival: processes, queues, dictionaries, a loop over rows.

    python -m benchmarks.plain_ring R.csv S.csv 2 out.csv

Both files are read and dealt row by row; each process makes a dictionary of its rows of S, and lists of R rows go
around with the numbers of those that still dangle. Written after the document's description, without its memory
tracing, which would slow it down. Prints the seconds from the first row read to the last one written.
"""

from __future__ import annotations

import csv
import multiprocessing
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

Rows = list[list[str]]


def read_dealt(path: str, workers: int) -> list[Rows]:
    """The rows of a file, in turn to each worker."""
    with Path(path).open(newline="") as file:
        rows = csv.reader(file)
        next(rows)
        parts: list[Rows] = [[] for _ in range(workers)]
        for number, row in enumerate(rows):
            parts[number % workers].append(row)
    return parts


def work(rank: int, workers: int, own: Queue[Any], following: Queue[Any], out: str) -> None:
    """One process of the ring."""
    stored = own.get()
    width = len(stored[0]) - 1 if stored else 0
    table: dict[int, Rows] = {}
    for row in stored:
        table.setdefault(int(row[0]), []).append(row)
    rows: Rows = []
    dangling: set[int] = set()
    with Path(f"{out}.{rank}").open("w", newline="") as file:
        writer = csv.writer(file)
        for turn in range(workers):
            rows, dangling = own.get()
            for number, row in enumerate(rows):
                found = table.get(int(row[0]))
                if found is not None:
                    dangling.discard(number)
                    for other in found:
                        writer.writerow(row + other[1:])
            if turn < workers - 1:
                following.put((rows, dangling))
        for number in dangling:
            writer.writerow(rows[number] + [""] * width)


def main(r_file: str, s_file: str, workers: int, out: str) -> float:
    """Join two files; return how long it took."""
    queues: list[Queue[Any]] = [multiprocessing.Queue() for _ in range(workers)]
    crew = [
        multiprocessing.Process(target=work, args=(i, workers, queues[i], queues[(i + 1) % workers], out))
        for i in range(workers)
    ]
    for process in crew:
        process.start()
    begun = time.perf_counter()  # with the processes there, as for us
    small, large = read_dealt(r_file, workers), read_dealt(s_file, workers)
    for queue, theirs, ours in zip(queues, large, small, strict=True):
        queue.put(theirs)
        queue.put((ours, set(range(len(ours)))))
    for process in crew:
        process.join()
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
