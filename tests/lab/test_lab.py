"""The lab runs the document's experiments, draws them, and tells what holds and what does not."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

from dovetail._core.plan.knobs import Knobs
from dovetail.errors import UsageError
from dovetail.lab import workloads
from dovetail.lab.commands import lab
from dovetail.lab.experiments import EXPERIMENTS, NORMAL, Workload, ablation, by_parts, compared
from dovetail.lab.measure import measure
from dovetail.lab.report import write, write_report
from dovetail.lab.run import EXPERIMENTS as EVERY_EXPERIMENT

if TYPE_CHECKING:
    from pathlib import Path


def test_every_figure_and_table_has_an_experiment() -> None:
    figures = [f"figure-{number:02}" for number in range(5, 16)]
    assert {*figures, "table-3", "table-4", "at-scale"} <= set(EXPERIMENTS)


def test_experiments_leave_figures_numbers_and_a_report(tmp_path: Path) -> None:
    small = Workload("three", ("<", "<="), lambda **_: workloads.uniform([(2, 5), (1, 4), (0, 3)], 60))
    outcomes = {
        "bars": compared(small, 24.1),
        "lines": by_parts(NORMAL),
        "steps": ablation(small, {"neither": 12.9}),
        "figure-08": EXPERIMENTS["figure-08"](),
    }
    for name, outcome in outcomes.items():
        write(name, outcome, tmp_path)
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"{name}.svg").read_text()
        assert json.loads((tmp_path / f"{name}.json").read_text())["title"] == outcome.title
    report = write_report(outcomes, tmp_path).read_text()
    assert "Prefap performs 37.7% fewer products than FastThetaJoin | 38.7% fewer at p = 10" in report


def test_a_run_of_one_experiment_leaves_those_before_in_the_report(tmp_path: Path) -> None:
    for name in ("table-3", "figure-08"):
        assert CliRunner().invoke(lab, ["run", name, "--out", str(tmp_path)]).exit_code == 0
    report = (tmp_path / "report.md").read_text()
    assert report.index("[figure-08](figure-08.png)") < report.index("[table-3](table-3.png)")


def test_a_cascade_counts_products_and_results_of_every_step() -> None:
    r, s, t = np.array([1.0, 5.0]), np.array([2.0, 6.0]), np.array([3.0, 1.0])
    found = measure([r, s, t], ["<", "<="], Knobs("range-based", 2, 2))
    assert found.results == 3 + 1  # 1 < 2, 1 < 6, 5 < 6; then 2 <= 3
    assert found.products == 4 + 3 * 2


def test_real_data_are_real() -> None:
    june, october = workloads.wind([6, 10])
    assert (june.size, june.min() >= 0, october.max() < 100) == (1000, True, True)
    assert workloads.highs(["IBM"])[0].size == 755
    assert workloads.highs(["IBM"], size=5000)[0].size == 5000


def test_missing_data_are_told_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"the lab needs the data of 'nowhere'.*Hint: pip install nowhere"):
        workloads._data("nowhere", "x")


def test_an_unknown_experiment_is_refused() -> None:
    result = CliRunner().invoke(lab, ["run", "figure-99"])
    assert result.exit_code == 2
    assert "experiment 'figure-99' is not known" in result.output


def test_the_module_takes_the_commands_of_the_lab() -> None:
    listed = subprocess.run([sys.executable, "-m", "dovetail.lab", "list"], capture_output=True, text=True, check=True)
    assert listed.stdout.split() == list(EVERY_EXPERIMENT)


def test_a_folder_that_cannot_be_made_is_one_line_before_any_experiment(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = CliRunner().invoke(lab, ["run", "figure-05", "--out", str(tmp_path / "file" / "folder")])
    assert result.exit_code == 2
    assert "folder' cannot be written: Not a directory" in result.stderr
