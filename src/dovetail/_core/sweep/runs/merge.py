"""Several sorted sources read as one: slab by slab, in one order over all of them, with a batch of each in memory.

A slab holds all rows of all sources below an instant: the least of the last rows that are in memory, since behind these
more may come. Rows of one instant are never torn apart; a source that holds nothing else is read on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.dictionaries import one_batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(slots=True)
class Source:
    """Batches that ascend in the column `by`; `tag` is whatever the reader wants to know of their rows."""

    batches: Iterator[pa.RecordBatch]
    by: str
    tag: int = 0
    held: pa.RecordBatch | None = None
    keys: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    ended: bool = False

    def fill(self) -> None:
        """Read on until there is something, or nothing more."""
        while not self.ended and not self.keys.size:
            self.more()

    def more(self) -> None:
        """Read one batch more."""
        batch = next(self.batches, None)
        if batch is None:
            self.ended = True
        elif batch.num_rows:
            self.held = batch if self.held is None else one_batch([self.held, batch])
            self.keys = self.held.column(self.by).to_numpy(zero_copy_only=False)

    def taken(self, before: int | None) -> pa.RecordBatch | None:
        """Take the rows below a key (None: all) out of what is held."""
        cut = self.keys.size if before is None else int(np.searchsorted(self.keys, before))
        if not cut or self.held is None:
            return None
        found = self.held.slice(0, cut)
        self.held = self.held.slice(cut) if cut < self.keys.size else None
        self.keys = self.keys[cut:]
        return found


def slabs(sources: Sequence[Source]) -> Iterator[tuple[list[pa.RecordBatch | None], int | None]]:
    """Yield what each source holds below one key after the other, and that key (None: that was all)."""
    while True:
        for source in sources:
            source.fill()
        running = [source for source in sources if not source.ended]
        if not running:
            yield [source.taken(None) for source in sources], None
            return
        before = min(int(source.keys[-1]) for source in running)
        parts = [source.taken(before) for source in sources]
        if any(part is not None for part in parts):
            yield parts, before
        for source in running:
            if source.keys.size and int(source.keys[0]) == before:
                source.more()
