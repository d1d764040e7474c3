"""`python -m dovetail.lab`: the commands of `dovetail lab`; without one, all experiments run."""

from __future__ import annotations

import sys

from dovetail.lab.commands import lab

if __name__ == "__main__":
    lab(sys.argv[1:] or ["run"], prog_name="python -m dovetail.lab")
