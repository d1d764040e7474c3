"""Who joins which keys: virtual teams of joiners, and the dynamic schedule that makes them.

Keys belong to *partitions*. At first each has one joiner; the schedule gives the partition that weighs most on the most
loaded joiner to the least loaded one as well, as long as that helps. Ownership is only ever added, so no row moves: a
row goes to any member of its team, and whoever joins a base row reads what all members hold.

Source: fourth document, section V-B, lines 323 to 418, algorithm 3. Its unbalancedness (equation 2) as printed is
always 0; the text says that it is a standard deviation, so here it is that of the loads over their mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Loads = NDArray[np.float64]

PARTITIONS = 1024
_SPREAD = np.uint64(0x9E37_79B9_7F4A_7C15)


def unbalancedness(loads: Loads) -> float:
    """How far loads lie apart: their standard deviation over their mean; 0 is perfect."""
    mean = float(loads.mean())
    return float(loads.std() / mean) if mean > 0 else 0.0


class Teams:
    """The joiners of every partition, and the rows seen of each, older ones weighing less."""

    def __init__(self, joiners: int, *, delta: float = 0.01, decay: float = 0.5, partitions: int = PARTITIONS) -> None:
        self.joiners, self._delta, self._decay = joiners, delta, decay
        self.members: Ints = np.full((partitions, joiners), -1)
        self.members[:, 0] = np.arange(partitions) % joiners
        self.sizes = np.ones(partitions, np.int64)
        self.seen = np.zeros(partitions)
        self._dealt = 0

    @property
    def shared(self) -> bool:
        """Whether any team has more than one member."""
        return bool((self.sizes > 1).any())

    def deal(self, codes: Ints) -> Ints:
        """A joiner for each row, by its key's number; members of a team by turns."""
        partitions = codes % self.sizes.size
        self.seen += np.bincount(partitions, minlength=self.sizes.size)
        sizes = self.sizes[partitions]
        if not self.shared:
            return np.asarray(self.members[partitions, 0], np.int64)
        rows = np.arange(self._dealt, self._dealt + codes.size).astype(np.uint64)
        self._dealt += codes.size
        turn = ((rows * _SPREAD) >> np.uint64(33)).astype(np.int64) % sizes
        return np.asarray(self.members[partitions, turn], np.int64)

    def loads(self) -> Loads:
        """What each joiner has to do: its share of every partition of its teams (equation 3)."""
        shares = self.seen / self.sizes
        owned = self.members >= 0
        each = np.broadcast_to(shares[:, None], owned.shape)[owned]
        return np.asarray(np.bincount(self.members[owned], each, self.joiners), np.float64)

    def schedule(self) -> int:
        """Share partitions while that lowers the unbalancedness by more than delta; return how many were shared."""
        added = 0
        while self._share_one():
            added += 1
        self.seen *= self._decay
        return added

    def _share_one(self) -> bool:
        """Share the heaviest partition of the most loaded joiner that helps; False if none does."""
        loads = self.loads()
        before = unbalancedness(loads)
        most, least = int(loads.argmax()), int(loads.argmin())
        held = (self.members == most).any(axis=1) & ~(self.members == least).any(axis=1)
        shares = np.where(held, self.seen / self.sizes, 0.0)
        for partition in np.argsort(-shares, kind="stable"):
            if shares[partition] <= 0:
                return False
            if before - unbalancedness(self._with(loads, int(partition), least)) > self._delta:
                self.members[partition, self.sizes[partition]] = least
                self.sizes[partition] += 1
                return True
        return False

    def _with(self, loads: Loads, partition: int, joiner: int) -> Loads:
        """The loads if a joiner became a member of a partition's team."""
        size = int(self.sizes[partition])
        moved = loads.copy()
        moved[self.members[partition, :size]] -= self.seen[partition] / size - self.seen[partition] / (size + 1)
        moved[joiner] += self.seen[partition] / (size + 1)
        return moved
