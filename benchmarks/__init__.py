"""Races of dovetail against other engines, each at its best settings, all on two threads.

Every engine reads its number of threads when it is first imported, so it is set here, before any of them.
"""

import os

CORES = 2

for name in ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, str(CORES))
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
