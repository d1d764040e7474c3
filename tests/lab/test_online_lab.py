"""The online experiments run, draw and judge; the streams are what the document tells of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import dovetail as dv
from dovetail.lab import online_experiments, online_measure
from dovetail.lab.online_experiments import ONLINE
from dovetail.lab.online_streams import STREAMS, arrivals
from dovetail.lab.report import write
from dovetail.testing import assert_same_rows

if TYPE_CHECKING:
    from pathlib import Path


def test_every_figure_has_an_experiment() -> None:
    figures = (4, 5, 6, 7, 8, 9, 11, 13, 14, 16, 17, 18, 19, 20, 21)
    assert [f"online-figure-{number:02}" for number in figures] == list(ONLINE)


@pytest.mark.parametrize("name", ["A", "C", "D", "default", "adverse"])
def test_streams_keep_their_lateness_and_the_engine_their_windows(name: str) -> None:
    stream = STREAMS[name].scaled(rate=500.0) if name in "ACD" else STREAMS[name]
    engine = online_measure.engine_for(stream, joiners=2)
    out = [engine.push(base, probe) for probe, base in arrivals(stream, 3000).batches(500)]
    base, probe = online_measure.tables(stream, 3000)
    told = engine.metrics()
    assert told["late_base_rows"] + told["late_probe_rows"] == 0
    expected = dv.window_join(base, probe, on="ts", keys="k", preceding=stream.window, agg=online_measure.AGG)
    got = [*(row for table in out for row in table.to_pylist()), *engine.close().to_pylist()]
    assert_same_rows(got, expected, tolerance=1e-12)


def test_an_experiment_leaves_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online_experiments, "ROWS", 2000)
    monkeypatch.setattr(online_experiments, "BATCH", 500)
    for name in ("online-figure-14", "online-figure-21"):
        outcome = ONLINE[name]()
        write(name, outcome, tmp_path)
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert outcome.rows
