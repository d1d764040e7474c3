"""The `dovetail` command, as a process of its own where its exit counts, and in this one elsewhere."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet
from typer.testing import CliRunner

import dovetail as dv
from dovetail.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

LEFT = pa.table({"id": [1, 2, 3], "x": [5, 1, None]})
RIGHT = pa.table({"name": ["a", "b, c"], "y": [3, 9]})
JOIN = ["--on", "l.x < r.y"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    parquet.write_table(LEFT, tmp_path / "left.parquet")
    csv.write_csv(RIGHT, tmp_path / "right.csv")
    return ["--left", str(tmp_path / "left.parquet"), "--right", str(tmp_path / "right.csv")]


def _run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(args))
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("how", ["inner", "left", "full", "anti"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_join_writes_what_the_library_returns(files: list[str], tmp_path: Path, how: str, ending: str) -> None:
    out = tmp_path / f"out.{ending}"
    code, _, said = _run("join", *files, *JOIN, "--how", how, "--out", str(out))
    expected = dv.join(LEFT, RIGHT, on=JOIN[1], how=how)
    read = {"csv": csv.read_csv, "parquet": parquet.read_table, "arrow": feather.read_table}[ending]
    assert code == 0
    assert f"{expected.num_rows} rows in" in said
    assert _rows(read(out)) == _rows(expected)


def _rows(table: pa.Table) -> list[tuple[str, ...]]:
    return sorted(tuple(str(value or "") for value in row.values()) for row in table.to_pylist())


def test_aggregates_are_named(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    assert _run("join", *files, *JOIN, "--agg", "n=count(*)", "--per", "l", "--out", str(out))[0] == 0
    assert parquet.read_table(out)["n"].to_pylist() == [1, 2, 0]


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert _run("--version") == (0, f"{project['version']}\n", "")


def test_explain_prints_the_plan(files: list[str], tmp_path: Path) -> None:
    picture = tmp_path / "matrix.png"
    code, shown, _ = _run("explain", *files, *JOIN, "--plot", str(picture))
    assert code == 0
    assert "one inequality" in shown
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("picture", "line"),
    [
        ("matrix.docx", "the format of 'matrix.docx' is not known"),
        ("no/matrix.png", "'no/matrix.png' cannot be written"),
        (".", "'.' cannot be written: it is a directory"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_one_line(files: list[str], picture: str, line: str) -> None:
    code, shown, said = _run("explain", *files, *JOIN, "--plot", picture)
    assert (code, shown) == (2, "")
    assert line in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"--on": "l.nothing < r.y"}, "column 'nothing' not found in 'l'"),
        ({"--how": "sideways"}, "how 'sideways' is not known"),
        ({"--left": "nowhere.csv"}, "'nowhere.csv' cannot be read: there is no such file"),
        ({"--out": "out.xls"}, "the format of 'out.xls' is not known"),
        ({"--out": "no/such/folder/out.csv"}, "cannot be written: there is no folder 'no/such/folder'; nothing"),
        ({"--out": "noext"}, "its ending must be one of '.arrow', '.csv', '.feather', '.parquet'. Hint"),
        ({"--out": "out.json"}, "its ending must be one of '.arrow', '.csv', '.feather', '.parquet'. Hint"),
        ({"--out": "out.csv.gz"}, "its ending must be one of '.arrow', '.csv', '.feather', '.parquet'. Hint"),
        ({"--left": "latin.csv"}, "'latin.csv' cannot be read: 'utf-8' codec can't decode"),
        ({"--left": f"{'x' * 300}.csv"}, "cannot be read: [Errno 36] File name too long"),
        ({"--out": f"{'x' * 300}.csv"}, "cannot be written: File name too long"),
        ({"--left": "right.xls"}, "the format of 'right.xls' is not known"),
        ({"--left": "right.parquet.gz"}, "the format of 'right.parquet.gz' is not known"),
        ({"--left": "nothing"}, "'nothing' cannot be read: there is no Parquet file in it"),
        ({"--agg": "count(*)"}, "aggregate 'count(*)' has no name or no call"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nothing").mkdir()
    for name in ("right.xls", "right.parquet.gz"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "latin.csv").write_bytes(b"x,caf\xe9\n1,2\n")
    before = sorted(tmp_path.iterdir())
    given = dict(zip(files[::2], files[1::2], strict=True)) | {"--on": JOIN[1], "--out": "out.parquet"} | change
    code, shown, said = _run("join", *(word for option in given.items() for word in option))
    assert (code, shown) == (2, "")
    assert line in said
    assert said.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (["join"], "missing option '--left'. Hint: "),
        (["jion"], "no such command 'jion'"),
        (["join", "--bogus", "1"], "no such option: --bogus"),
        (["explain", "--left"], "option '--left' requires an argument. Hint: "),
        (["soja", "--concurrency-count", "x"], "invalid value for '--concurrency-count': "),
        (["lab", "list", "more"], "lab list --help names all that it takes."),
    ],
)
def test_a_call_that_does_not_fit_the_command_is_one_line_and_exit_code_2(call: list[str], line: str) -> None:
    code, shown, said = _run(*call)
    assert (code, shown) == (2, "")
    assert line in said
    assert said.count("\n") == 1


def test_a_command_without_arguments_shows_its_help() -> None:
    for call in ([], ["lab"]):
        code, shown, said = _run(*call)
        assert code == 2
        assert "Commands" in shown + said


def test_two_aggregates_of_one_name_are_refused(files: list[str], tmp_path: Path) -> None:
    twice = ["--agg", "n=count(*)", "--agg", "n=max(r.y)", "--per", "l"]
    code, _, said = _run("join", *files, *JOIN, *twice, "--out", str(tmp_path / "out.csv"))
    assert code == 2
    assert "the result would have two columns named 'n'" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(("ending", "codec"), [("gz", "gzip"), ("bz2", "bz2"), ("zst", "zstd"), ("lz4", "lz4")])
@pytest.mark.parametrize(("kind", "text"), [("csv", b"x,y\n1,2\n"), ("jsonl", b'{"x": 1, "y": 2}\n')])
def test_compressed_text_is_read(tmp_path: Path, kind: str, text: bytes, ending: str, codec: str) -> None:
    with pa.CompressedOutputStream(str(tmp_path / f"in.{kind}.{ending}"), codec) as file:
        file.write(text)
    out = tmp_path / "out.parquet"
    assert _run("join", *_options(tmp_path, f"in.{kind}.{ending}"), *JOIN, "--out", str(out))[0] == 0
    assert parquet.read_table(out).to_pylist() == [{"x": 1, "y": 2, "r_x": 1, "r_y": 2}]


@pytest.mark.parametrize("packed", [False, True])
def test_a_quote_that_nothing_closes_is_refused_with_its_line(tmp_path: Path, *, packed: bool) -> None:
    text = 'k,v\n1,a\n2,"open\n' + "3,c\n" * 50_000
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    code, _, said = _run("join", *_options(tmp_path, path.name), *JOIN, "--out", str(tmp_path / "out.csv"))
    assert (code, (tmp_path / "out.csv").exists()) == (2, False)
    assert "has a quote in the row of line 3 that nothing closes. Hint" in said


def test_a_text_of_several_lines_may_end_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('k,at\n1,5\n2,6" pipe\n3,"of\ntwo lines"\n')
    code, _, _ = _run("join", *_options(tmp_path, "a.csv"), "--on", "l.k = r.k", "--out", str(tmp_path / "out.csv"))
    assert (code, csv.read_csv(tmp_path / "out.csv").num_rows) == (0, 3)


def test_ids_of_more_than_64_bits_and_long_fields_are_read_from_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"id,t\n{1 << 63},{'x' * (3 << 20)}\n{(1 << 63) + 1},y\n")
    call = [
        *_options(tmp_path, "a.csv"),
        "--on",
        "l.id = r.id",
        "--select",
        "l.id, r.t",
        "--out",
        str(tmp_path / "o.arrow"),
    ]
    assert _run("join", *call)[0] == 0
    assert feather.read_table(tmp_path / "o.arrow")["id"].to_pylist() == [1 << 63, (1 << 63) + 1]


def test_a_request_to_end_leaves_nothing_half_written(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*_: object, **__: object) -> pa.RecordBatchReader:
        def batches() -> Iterator[pa.RecordBatch]:
            yield from LEFT.to_batches()
            assert [path.name.startswith(".out.csv") for path in tmp_path.iterdir()].count(True) == 1
            os.kill(os.getpid(), signal.SIGTERM)
            yield from LEFT.to_batches()

        return pa.RecordBatchReader.from_batches(LEFT.schema, batches())

    monkeypatch.setattr(dv, "join", endless)
    before = sorted(tmp_path.iterdir())
    assert _run("join", *files, *JOIN, "--out", str(tmp_path / "out.csv"))[0] == 128 + signal.SIGTERM
    assert sorted(tmp_path.iterdir()) == before


def test_columns_that_a_format_cannot_hold_are_told(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"x": [1], "y": [2], "list": [[1]]}), tmp_path / "nested.parquet")
    out = tmp_path / "out.csv"
    code, _, said = _run("join", *_options(tmp_path, "nested.parquet"), *JOIN, "--out", str(out))
    assert code == 2
    assert "out.csv' cannot be written: Unsupported Type:list" in said
    assert "Hint: choose another format, such as .parquet" in said
    assert said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["nested.parquet"]


def test_a_long_line_of_json_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(f'{{"x": 1, "t": "{"t" * (3 << 20)}"}}\n{{"x": 2}}\n')
    out = tmp_path / "out.parquet"
    assert _run("join", *_options(tmp_path, "a.jsonl"), "--on", "l.x = r.x", "--out", str(out))[0] == 0
    assert parquet.read_table(out)["x"].to_pylist() == [1, 2]


def test_brackets_in_a_name_are_told_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "old["
    folder.mkdir()
    csv.write_csv(RIGHT, folder / "b].csv")
    out = folder / "[new].csv"
    code, _, said = _run("join", *_options(folder, "b].csv"), "--on", "l.y = r.y", "--out", str(out))
    assert (code, said) == (0, f"2 rows in {out}\n")


@pytest.mark.parametrize("text", [b'[{"x": 1}, {"x": 2}]', b"null\n", b"5\n", b'{"x": 1\n', b'{"x": "caf\xe9"}\n'])
def test_json_that_is_no_lines_of_objects_says_so(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a.json").write_bytes(text)
    code, _, said = _run("join", *_options(tmp_path, "a.json"), *JOIN, "--out", str(tmp_path / "out.csv"))
    assert code == 2
    assert "it is read as lines of JSON, an object each. Hint" in said
    assert said.count("\n") == 1


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "left.parquet").write_bytes(b"no parquet")
    code, _, said = _run("join", *_options(tmp_path, "left.parquet"), *JOIN, "--out", str(tmp_path / "out.csv"))
    assert code == 2
    assert "left.parquet' cannot be read" in said


def _options(folder: Path, name: str) -> list[str]:
    return ["--left", str(folder / name), "--right", str(folder / name)]


def test_the_lab_is_listed_and_its_report_shown(tmp_path: Path) -> None:
    assert "figure-05" in _run("lab", "list")[1].split()
    assert _run("lab", "report", "--out", str(tmp_path))[0] == 2
    (tmp_path / "report.md").write_text("what was found")
    assert "what was found" in _run("lab", "report", "--out", str(tmp_path))[1]


def test_an_unknown_experiment_is_one_line_as_it_was_given(tmp_path: Path) -> None:
    code, shown, said = _run("lab", "run", "[red]nope[/red]", "--out", str(tmp_path))
    assert (code, shown) == (2, "")
    assert "experiment '[red]nope[/red]' is not known; it is one of 'figure-05'" in said
    assert said.count("\n") == 1


def test_the_command_is_installed() -> None:
    command = Path(sys.executable).with_name("dovetail")
    shown = subprocess.run([command, "bench", "--", "--list"], capture_output=True, text=True, check=True).stdout
    assert "arrow-point" in shown


def test_the_help_is_light() -> None:
    code = "import sys; from dovetail.cli import app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"numba", "numpy", "pyarrow", "pyspark"}.isdisjoint(loaded)
