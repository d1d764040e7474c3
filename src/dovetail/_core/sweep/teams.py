"""Who joins which keys: virtual teams of joiners, and the dynamic schedule that makes them.

Keys belong to *partitions*. At first each has one joiner; the schedule gives a part of the partition that weighs most
on the most loaded joiner to the least loaded one, as long as that helps. Ownership is only ever added, so no row moves:
a row goes to some member of its team, and whoever joins a base row reads what all members hold.

Source: fourth document, section V-B, lines 323 to 418, algorithm 3. There every member takes an equal part, which
leaves 5 keys on 16 joiners unbalanced by 0.12 whatever is shared; here a new member takes as much as evens out the two.
Its unbalancedness (equation 2) as printed is always 0; the text says that it is a standard deviation, so here it is
that of the loads over their mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.dealing import deal_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Loads = NDArray[np.float64]

PARTITIONS = 1024
_STEPS = 8
"""Per joiner, in one go: without delta, two joiners could be evened out for ever."""


def unbalancedness(loads: Loads) -> float:
    """How far loads lie apart: their standard deviation over their mean; 0 is perfect."""
    apart = loads - loads.sum() / loads.size
    total = float(loads.sum())
    return float(np.sqrt((apart @ apart) * loads.size)) / total if total > 0 else 0.0


class Teams:
    """The part that every joiner takes of every partition, and the rows seen of each, older ones weighing less."""

    def __init__(self, joiners: int, *, delta: float = 0.001, decay: float = 0.5, partitions: int = PARTITIONS) -> None:
        self._delta, self._decay = delta, decay
        self.parts = np.zeros((partitions, joiners))
        self.parts[np.arange(partitions), np.arange(partitions) % joiners] = 1.0
        self.seen = np.zeros(partitions)
        self._dealt = 0
        self.shared = False
        self.handled = np.zeros(joiners)
        """How many rows each joiner has been dealt."""
        self._sum_up()

    def deal(self, codes: Ints) -> Ints:
        """A joiner for each row, by its key's number; members of a team by chance, weighed by their parts."""
        owners = np.empty(codes.size, np.int64)
        deal_rows(codes, self._up_to, self._dealt, self.seen, self.handled, owners)
        self._dealt += codes.size
        return owners

    def loads(self) -> Loads:
        """What each joiner has to do (equation 3)."""
        return np.asarray(self.seen @ self.parts, np.float64)

    def schedule(self) -> int:
        """Share partitions while that lowers the unbalancedness by more than delta; return how often."""
        shared = 0
        while shared < _STEPS * self.parts.shape[1] and self._share_one():
            shared += 1
        self.seen *= self._decay
        if shared:
            self._sum_up()
        return shared

    def _share_one(self) -> bool:
        """Even out the most and the least loaded joiner by the heaviest partition that helps; False if none does."""
        loads = self.loads()
        before = unbalancedness(loads)
        if before <= self._delta:
            return False
        most, least = int(loads.argmax()), int(loads.argmin())
        weights = self.seen * self.parts[:, most]
        partition = int(weights.argmax())
        moved = min(float(weights[partition]), float(loads[most] - loads[least]) / 2)
        loads[most] -= moved
        loads[least] += moved
        if before - unbalancedness(loads) <= self._delta:
            return False
        part = moved / self.seen[partition]
        self.parts[partition, most] -= part
        self.parts[partition, least] += part
        self.shared = True
        return True

    def _sum_up(self) -> None:
        """Parts as shares of a whole, one after the other; what is left is the last joiner's."""
        self._up_to = np.ascontiguousarray(np.cumsum(self.parts, axis=1)[:, :-1])
