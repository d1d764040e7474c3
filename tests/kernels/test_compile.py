"""Loops are compiled wherever the process runs."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.test_house import ROOT

NO_FOLDER = """
from numba.core import caching
caching.CacheImpl._locator_classes = []
import numpy as np
from dovetail._core.kernels.overlaps import ascend_by_both
print(ascend_by_both(np.array([1, 2]), np.array([3, 3])))
"""


def test_where_no_folder_can_be_written_to_a_process_compiles_its_own_loops_and_says_so_once() -> None:
    told = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run([sys.executable, "-c", NO_FOLDER], capture_output=True, text=True, check=True, env=told)
    assert done.stdout == "True\n"
    assert done.stderr.count("\n") == 1
    assert "Hint: name one with the environment variable NUMBA_CACHE_DIR." in done.stderr
