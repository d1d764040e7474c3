"""Races of dovetail against other engines, each at its best settings, all on two threads.

Every engine reads its number of threads when it is first imported, so it is set here, before any of them.
"""

import os

CORES = 2

for name in ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, str(CORES))
os.environ.setdefault("MIMALLOC_PURGE_DECOMMITS", "0")
ALLOCATOR = f"MIMALLOC_PURGE_DECOMMITS={os.environ['MIMALLOC_PURGE_DECOMMITS']}"
"""Arrow's allocator leaves freed pages to the system instead of giving them back between two runs; where the host takes
such pages away at once, to get them anew takes longer than a join. With 1 in the environment, races run without it."""
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
