"""The third document's experiments run, draw, and say what holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dovetail.lab import outer
from dovetail.lab.report import write
from dovetail.lab.run import EXPERIMENTS

if TYPE_CHECKING:
    from pathlib import Path


def test_what_moves_is_what_the_formulas_say(tmp_path: Path) -> None:
    found = outer.moves((2, 4), movies=4000, ratings=40_000)
    assert all(row.holds for row in found.rows)
    measured = found.data["measured"]
    assert measured[4]["SOJA"]["messages"] == 4 * 3
    assert measured[4]["ROJA"]["messages"] == 2 * 4 * 3
    assert measured[4]["DER"]["bytes"] < measured[4]["DOJA"]["bytes"]
    write("moves", found, tmp_path)
    assert (tmp_path / "moves.png").exists()


def test_figure_two_is_in_the_lab() -> None:
    assert {"figure-2-size", "figure-2-selectivity", "figure-2-moves"} <= set(EXPERIMENTS)


@pytest.mark.slow
def test_size_and_selectivity_are_measured_beside_spark(tmp_path: Path) -> None:
    for name, found in {
        "size": outer.by_size((200, 400), 3000),
        "selectivity": outer.by_selectivity((0.5, 1.0), 300, 3000),
    }.items():
        write(name, found, tmp_path)
        assert (tmp_path / f"{name}.png").exists()
        assert {len(own) for own in found.data["measured"].values()} == {5}
