"""How many random cases a property is tried on: 200, or as DOVETAIL_EXAMPLES says (`make test-long`: 10,000)."""

from __future__ import annotations

import os

EXAMPLES = int(os.environ.get("DOVETAIL_EXAMPLES", "200"))


def one_in(part: int, least: int = 1) -> int:
    """A part of them, where a case takes longer than most."""
    return max(least, EXAMPLES // part)
