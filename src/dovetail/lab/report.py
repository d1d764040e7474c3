"""What the experiments leave behind: a figure and its numbers each, and one report of all rows."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from dovetail.lab.experiments import Row
from dovetail.lab.figures import draw

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dovetail.lab.experiments import Outcome

REPORT = "report.md"


def write(name: str, outcome: Outcome, folder: Path) -> None:
    """Write an experiment's figure and the numbers behind it."""
    folder.mkdir(parents=True, exist_ok=True)
    draw(outcome, folder / name)
    whole = {"title": outcome.title, "rows": [asdict(row) for row in outcome.rows], "data": outcome.data}
    (folder / f"{name}.json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def write_report(names: Iterable[str], folder: Path) -> Path:
    """Write the rows of all these experiments that have been run into this folder as one table; return where it is."""
    lines = [
        "# The lab's report",
        "",
        "What the documents say, beside what `python -m dovetail.lab` measured. `holds` judges the direction",
        "(fewer, more, significant or not), not the size. Synthetic data are drawn anew; real ones are of the same",
        "kind, not the same (`dovetail.lab.workloads`). How far the document's zipf values reach is not told: ours go",
        "on without end, and figure-06-ranges shows others. Over one such draw its greatest value decides, so figure 6",
        "is the average of thirty.",
        "",
        "| experiment | claim | measured | holds |",
        "|---|---|---|---|",
    ]
    for name in names:
        if (numbers := folder / f"{name}.json").exists():
            found = json.loads(numbers.read_text(encoding="utf-8"))
            lines += [_line(f"[{name}]({name}.png): {found['title']}", Row(**row)) for row in found["rows"]]
    path = folder / REPORT
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def _line(told: str, row: Row) -> str:
    return f"| {told} | {row.claim} | {row.measured} | {'yes' if row.holds else 'no'} |"
