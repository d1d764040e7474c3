"""Shares of the pairs, found and built into batches by several threads, a bounded number at a time."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from dovetail._core.sweep.matches import Matches

T = TypeVar("T")


def each(tasks: Sequence[Iterator[Matches]], build: Callable[[Matches], T], threads: int) -> Iterator[T]:
    """Yield what `build` makes of every piece of every task.

    Kernels and Arrow release the GIL, so threads really run side by side. At most two pieces per thread wait to be
    taken, which bounds memory whatever the number of pairs.
    """
    if threads == 1 or not tasks:
        yield from (build(found) for task in tasks for found in task)
        return
    waiting = deque(tasks)
    with ThreadPoolExecutor(threads) as pool:
        running: deque[tuple[Iterator[Matches], Future[T | None]]] = deque()

        def submit(task: Iterator[Matches]) -> None:
            running.append((task, pool.submit(_step, task, build)))

        while waiting and len(running) < 2 * threads:
            submit(waiting.popleft())
        while running:
            task, future = running.popleft()
            built = future.result()
            if built is not None:
                submit(task)
                yield built
            elif waiting:
                submit(waiting.popleft())


def _step(task: Iterator[Matches], build: Callable[[Matches], T]) -> T | None:
    """Find the next piece of a task and build it; None when the task has ended."""
    found = next(task, None)
    return None if found is None else build(found)
