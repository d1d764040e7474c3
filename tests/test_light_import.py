"""`import dovetail` must not load what a caller may not need."""

from __future__ import annotations

import subprocess
import sys


def test_importing_dovetail_loads_no_engine() -> None:
    code = "import sys, dovetail; print(sorted({'pyspark', 'numba', 'pandas', 'numpy', 'pyarrow'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
