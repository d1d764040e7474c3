"""`dovetail soja`: two CSV files in, one out; what cannot be joined is told in one line and nothing is written."""

from __future__ import annotations

import csv
import gzip
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from dovetail._cli_soja import soja
from dovetail._core.plan.knobs import OUTER
from dovetail._hosts.ring import processes
from dovetail._hosts.ring.csv_file import CsvFile
from dovetail._hosts.ring.processes import CsvJoin, join_files
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from typer.testing import Result

MOVIES = """movieId,title,genres
1,"Toy Story, The",Animation
2,"Say ""Hi"" twice",Comedy
2,"Say ""Hi"" twice",Comedy
,No key,Drama
9,"Two
lines",Drama
"""
RATINGS = """movieId,userId,rating
2,10,3.50
1,11,4
1,11,4
7,12,1
,13,2
2,14,5.0
"""
WANT = {
    ("1", "Toy Story, The", "Animation", "11", "4"): 2,
    ("2", 'Say "Hi" twice', "Comedy", "10", "3.50"): 2,
    ("2", 'Say "Hi" twice', "Comedy", "14", "5.0"): 2,
    ("", "No key", "Drama", "", ""): 1,
    ("9", "Two\nlines", "Drama", "", ""): 1,
}
UNMATCHED = {("7", "", "", "12", "1"): 1, ("", "", "", "13", "2"): 1}


def _written(folder: Path, movies: str = MOVIES, ratings: str = RATINGS) -> tuple[Path, Path]:
    paths = folder / "movies.csv", folder / "ratings.csv"
    for path, text in zip(paths, (movies, ratings), strict=True):
        path.write_bytes(text.encode())
    return paths


def _counted(path: Path) -> dict[tuple[str, ...], int]:
    with path.open(newline="") as file:
        rows = [tuple(row) for row in csv.reader(file)][1:]
    return {row: rows.count(row) for row in rows}


def _run(folder: Path, *more: str) -> Result:
    import typer  # noqa: PLC0415 -- the program alone, as one command

    app = typer.Typer()
    app.command()(soja)
    files = ["--R-file", str(folder / "movies.csv"), "--S-file", str(folder / "ratings.csv")]
    return CliRunner().invoke(app, [*files, "--out", str(folder / "out.csv"), *more])


@pytest.mark.parametrize("algorithm", OUTER)
def test_every_algorithm_keeps_rows_that_repeat_and_keys_that_are_null(tmp_path: Path, algorithm: str) -> None:
    movies, ratings = (CsvFile.open(str(path)) for path in _written(tmp_path))
    jobs = CsvJoin(movies, ratings, "left", algorithm, 2), CsvJoin(movies, ratings, "full", algorithm, 3)
    for job in jobs:
        report = join_files(job, tmp_path / "out.csv")
        want = WANT | (UNMATCHED if job.how == "full" else {})
        assert _counted(tmp_path / "out.csv") == want
        assert report.rows == sum(want.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["movies.csv", "out.csv", "ratings.csv"]


def test_the_program_says_how_long_it_took_and_what_it_held(tmp_path: Path) -> None:
    _written(tmp_path, MOVIES.replace("\n", "\r\n"), RATINGS.rstrip("\n"))
    command = [sys.executable, "-m", "dovetail._cli_soja", "--R-file", "movies.csv", "--S-file", "ratings.csv"]
    command += ["--concurrency-count", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "output-soja.csv: 8 rows in " in done.stdout
    assert "peak memory" in done.stdout
    header = "movieId,title,genres,userId,rating\n"
    assert (tmp_path / "output-soja.csv").read_text().startswith(header)


def test_keys_of_other_types(tmp_path: Path) -> None:
    movies, ratings = _written(tmp_path, "k,a\n1.5,x\n2,y\n", "k,b\n2,p\n1.50,q\n3,r\n")
    join_files(CsvJoin(CsvFile.open(str(movies)), CsvFile.open(str(ratings)), "left", "ring", 2), tmp_path / "out.csv")
    assert _counted(tmp_path / "out.csv") == {("1.5", "x", "q"): 1, ("2", "y", "p"): 1}
    movies, ratings = _written(tmp_path, "k,a\nab,x\n2020-01-01,y\n", "k,b\n2020-01-01,p\nab,q\n")
    join_files(CsvJoin(CsvFile.open(str(movies)), CsvFile.open(str(ratings)), "left", "ring", 2), tmp_path / "out.csv")
    assert _counted(tmp_path / "out.csv") == {("ab", "x", "q"): 1, ("2020-01-01", "y", "p"): 1}
    least = 1 << 63
    movies, ratings = _written(tmp_path, f"k,a\n{least},x\n{least + 1},y\n", f"k,b\n{least + 1},p\n5,q\n{least},r\n")
    for algorithm in OUTER:
        job = CsvJoin(CsvFile.open(str(movies)), CsvFile.open(str(ratings)), "left", algorithm, 2)
        join_files(job, tmp_path / "out.csv")
        assert _counted(tmp_path / "out.csv") == {(str(least), "x", "r"): 1, (str(least + 1), "y", "p"): 1}


BAD = [
    ("k,a\n1,x\n", "", r"ratings.csv' cannot be joined: it is empty"),
    ("1,2\n3,4\n", RATINGS, r"movies.csv' cannot be joined: its first line is no header: '1,2'"),
    ("k,k\n3,4\n", RATINGS, r"its first line is no header"),
    ("k,a\n1,x\n2\n3,y\n4,z,z\n", RATINGS, r"has another number of fields than its header's 2 in line [35]"),
    ('k,a\n1,x\n2,"y\n3,z\n', RATINGS, r"movies.csv' has a quote in the row of line 3 that nothing closes. Hint"),
    ("k,a\ntrue,x\nfalse,y\n", RATINGS, r"'R.k = S.movieId' compares BOOLEAN with BIGINT, which Spark refuses"),
    (
        "k,a\nabc,x\n",
        RATINGS,
        r"R.k has fields that are no BIGINT, and all of S.movieId are: such keys cannot be compared. Hint",
    ),
]


@pytest.mark.parametrize(("movies", "ratings", "message"), BAD, ids=[message for *_, message in BAD])
def test_bad_files_are_told_in_one_line(tmp_path: Path, movies: str, ratings: str, message: str) -> None:
    _written(tmp_path, movies, ratings)
    _refused(tmp_path, message)


CALLS = [
    (("--concurrency-count", "0"), r"--concurrency-count is 0; a ring has 1 to 1,024 workers"),
    (("--concurrency-count", "1025"), r"--concurrency-count is 1025; a ring has 1 to 1,024 workers"),
    (("--algorithm", "sojo"), r"algorithm 'sojo' is not known; it is one of 'soja'.*did you mean 'soja'"),
    (("--how", "right"), r"how 'right' is not known; it is one of 'left', 'full'"),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_bad_calls_are_told_in_one_line(tmp_path: Path, call: tuple[str, ...], message: str) -> None:
    _written(tmp_path)
    _refused(tmp_path, message, *call)


@pytest.mark.parametrize(
    "header", [gzip.compress(RATINGS.encode()), b"PK\x03\x04\n", "Größe,b\n1,2\n".encode("latin-1")]
)
def test_a_header_that_is_no_text_is_refused(tmp_path: Path, header: bytes) -> None:
    _, ratings = _written(tmp_path)
    ratings.write_bytes(header)
    _refused(
        tmp_path, r"ratings.csv' cannot be joined: its first line is no UTF-8 text, as if it were compressed. Hint"
    )


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    _refused(tmp_path, r"movies.csv' cannot be joined: no such file or directory")


def test_a_directory_in_the_place_of_the_result_is_left_alone(tmp_path: Path) -> None:
    _written(tmp_path)
    (tmp_path / "out.csv").mkdir()
    (tmp_path / "out.csv" / "letter.txt").write_text("dear")
    _refused(tmp_path, r"out.csv' cannot be written: it is a directory")
    assert (tmp_path / "out.csv" / "letter.txt").read_text() == "dear"


def test_a_pipe_in_the_place_of_the_result_is_left_alone(tmp_path: Path) -> None:
    _written(tmp_path)
    os.mkfifo(tmp_path / "out.csv")
    _refused(tmp_path, r"out.csv' cannot be written: it is no file")
    assert (tmp_path / "out.csv").is_fifo()


def test_lines_that_end_with_carriage_returns_alone_are_no_header(tmp_path: Path) -> None:
    _written(tmp_path, "movieId,title\r1,Heat\r")
    _refused(tmp_path, r"movies.csv' cannot be joined: its first line is no header: 'movieId,title\\r1,Heat'")


def test_a_result_in_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    _written(tmp_path)
    _refused(tmp_path, r"out.csv' cannot be written: No such file", "--out", str(tmp_path / "no" / "out.csv"))


def _refused(folder: Path, message: str, *call: str) -> None:
    before = sorted(path.name for path in folder.iterdir())
    result = _run(folder, *call)
    assert result.exit_code == 2
    assert result.output.count("\n") == 1
    assert re.search(message, result.output)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_worker_that_stands_still_is_told_and_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tell, all_have_read = processes._Crew._tell, iter([False, True])

    def stop_one(crew: processes._Crew, said: Iterable[object]) -> None:
        if next(all_have_read):
            os.kill(crew._processes[1].pid or 0, signal.SIGSTOP)
        tell(crew, said)

    monkeypatch.setattr(processes._Crew, "_tell", stop_one)
    movies, ratings = (CsvFile.open(str(path)) for path in _written(tmp_path))
    with pytest.raises(UsageError, match=r"worker 1 at 127.0.0.1:\d+ did not answer within 0.5 seconds"):
        join_files(CsvJoin(movies, ratings, "left", "ring", 2, patience=0.5), tmp_path / "out.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["movies.csv", "ratings.csv"]


def test_rows_are_found_between_quotes_wherever_a_stretch_ends(tmp_path: Path) -> None:
    lines = "".join(f'{i},"a ""{i}"",\nb"\n' for i in range(50))
    path = tmp_path / "q.csv"
    path.write_text(f"k,text\n{lines}")
    for number in (1, 2, 7, 60):
        file = CsvFile.open(str(path))
        keys = [file.rows(stretch).keys() for stretch in file.stretches(number)]
        assert pa.concat_arrays([own.cast(pa.int64()) for own in keys]).to_pylist() == list(range(50))


def test_a_quote_within_a_field_is_a_letter(tmp_path: Path) -> None:
    path = tmp_path / "inches.csv"
    path.write_text("k,text\n" + "".join(f'{i},{i}" pipe\n{i + 1},"{i}"" pipe, long"\n' for i in range(0, 40, 2)))
    for number in (1, 2, 7):
        file = CsvFile.open(str(path))
        keys = [file.rows(stretch).keys() for stretch in file.stretches(number)]
        assert pa.concat_arrays([own.cast(pa.int64()) for own in keys]).to_pylist() == list(range(40))


@pytest.mark.parametrize("algorithm", ["ring", "redistribute"])
def test_a_line_may_be_longer_than_any_block(tmp_path: Path, algorithm: str) -> None:
    text = "x" * (3 << 20)
    movies, ratings = _written(tmp_path, f"k,a\n1,{text}\n2,y\n", f"k,b\n1,{text}\n")
    job = CsvJoin(CsvFile.open(str(movies)), CsvFile.open(str(ratings)), "left", algorithm, 1)
    join_files(job, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"k,a,b\n1,{text},{text}\n2,y,\n"


@pytest.mark.parametrize("algorithm", ["ring", "redistribute"])
def test_fields_are_copied_as_they_are_written_whatever_ends_a_line(tmp_path: Path, algorithm: str) -> None:
    movies, ratings = _written(tmp_path, 'k,a\r\n1,"x\r\ny"\r\n2,z', 'k,b\r\n1,"p\r\n"\r\n2,q\r\n')
    job = CsvJoin(CsvFile.open(str(movies)), CsvFile.open(str(ratings)), "left", algorithm, 1)
    join_files(job, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == b'k,a,b\n1,"x\r\ny","p\r\n"\n2,z,q\n'


def test_a_result_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    movies, ratings = _written(tmp_path)
    (tmp_path / "out.csv").write_text("before")
    join_files(CsvJoin(CsvFile.open(str(movies)), CsvFile.open(str(ratings)), "left", "ring", 1), tmp_path / "out.csv")
    assert _counted(tmp_path / "out.csv") == WANT
    assert sorted(path.name for path in tmp_path.iterdir()) == ["movies.csv", "out.csv", "ratings.csv"]
