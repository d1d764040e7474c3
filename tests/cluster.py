"""A real Spark cluster on loopback: a master and some workers, each a process of its own.

    with StandaloneCluster() as cluster:
        gate = Gate(tmp_path / "gate")
        driver = cluster.run_driver(SCRIPT, str(gate.path))  # a task of its job calls Gate(path).hold()
        gate.wait_until_reached()
        cluster.kill_executor()
        gate.open()
        rows = cluster.answer(driver)

The driver is a process of its own, too, since this one may hold the local session of the other tests. Its script asks
for `SparkSession.builder.getOrCreate()`; master, secret and addresses come from the configuration of the cluster.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

import psutil
import pyspark

from dovetail._java import use_java

if TYPE_CHECKING:
    from collections.abc import Callable

HOST = "127.0.0.1"
ROOT = Path(__file__).parent.parent
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # a JVM that starts with less work
PATIENCE = 300  # seconds; a JVM takes long to start on a busy machine

Seen = TypeVar("Seen")


def wait_for(what: str, look: Callable[[], Seen | None]) -> Seen:
    """Look again and again until there is something to see."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if seen := look():
            return seen
        time.sleep(0.05)  # other processes, their logs and their files can only be polled
    message = f"waited {PATIENCE} s for {what}"
    raise TimeoutError(message)


@dataclass(frozen=True, slots=True)
class Gate:
    """A place in a job where tasks wait, so that a test can act in the middle of it; the path is a folder to make."""

    path: Path

    def hold(self) -> None:
        """Wait here until the gate is open; called by a task."""
        self.path.mkdir(exist_ok=True)
        wait_for("the gate to open", (self.path / "open").exists)

    def wait_until_reached(self) -> None:
        """Wait until a task is at the gate; called by the test."""
        wait_for("a task at the gate", self.path.exists)

    def open(self) -> None:
        """Let the tasks go on, now and later; called by the test."""
        (self.path / "open").touch()


class StandaloneCluster:
    """A master and `workers` workers, each with so many cores and so much memory, until the end of the `with`.

    `options` are those of the JVMs of driver and executors; those that are not given make a JVM for a short test.
    """

    def __init__(self, workers: int = 2, cores: int = 1, memory: str = "1g", options: str = SHORT_LIVED) -> None:
        self.workers = workers
        self.cores = cores
        self.memory = memory
        self.options = options
        self.url = ""
        self._secret = secrets.token_hex()
        self._started: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        use_java()
        with ExitStack() as stack:
            # Only we can look into this folder: it holds the secret and the logs.
            self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dovetail-cluster-")))
            stack.callback(self._stop)
            self._start_all()
            self._exit = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._exit.close()

    def run_driver(self, script: str, *arguments: str) -> subprocess.Popen[str]:
        """Run a Python script as a driver of this cluster."""
        self._start([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE)
        return self._started[-1]

    def answer(self, driver: subprocess.Popen[str], patience: float = PATIENCE) -> str:
        """What the driver has printed when it is done; it must end well."""
        printed, _ = driver.communicate(timeout=patience)
        assert driver.returncode == 0, self._log(self._started.index(driver)).read_text()
        return printed

    def processes(self) -> list[psutil.Process]:
        """Every process of the cluster that runs now: the daemons, the drivers, and all that they have started."""
        family = []
        for process in self._started:
            with suppress(psutil.NoSuchProcess):
                parent = psutil.Process(process.pid)
                family += [parent, *parent.children(recursive=True)]
        return family

    def executors(self) -> list[psutil.Process]:
        """The executors that run now."""
        return [process for process in self.processes() if "CoarseGrainedExecutorBackend" in _command(process)]

    def kill_executor(self) -> int:
        """Kill one executor and its Python workers at once, as a lost machine would; return its process id."""
        victim = wait_for("an executor", self.executors)[0]
        _kill([victim, *victim.children(recursive=True)])
        return victim.pid

    def _start_all(self) -> None:
        self._configure()
        master = self._start_daemon("master.Master")
        self.url = wait_for("the master", lambda: _find(r"Starting Spark master at (spark://\S+)", master))
        self._configure()  # drivers read the address there
        sizes = ["--cores", str(self.cores), "--memory", self.memory, "--work-dir", str(self._folder / "work")]
        for log in [self._start_daemon("worker.Worker", *sizes, self.url) for _ in range(self.workers)]:
            wait_for("a worker", partial(_find, r"(Successfully registered with master)", log))

    def _start_daemon(self, name: str, *arguments: str) -> Path:
        """Start a process of the cluster on ports of its own choice; return its log."""
        command = [str(SPARK_CLASS), f"org.apache.spark.deploy.{name}", "--host", HOST, "--port", "0"]
        return self._start([*command, "--webui-port", "0", *arguments])

    def _start(self, command: list[str], stdout: int | None = None) -> Path:
        log = self._log(len(self._started))
        with log.open("w") as file:
            process = subprocess.Popen(
                command, cwd=ROOT, env=self._environment(), stdout=stdout or file, stderr=file, text=True
            )
        self._started.append(process)
        return log

    def _log(self, number: int) -> Path:
        return self._folder / f"{number}.log"

    def _configure(self) -> None:
        """Write what every process of the cluster reads when it starts."""
        settings = {
            "spark.authenticate": "true",
            "spark.authenticate.secret": self._secret,
            "spark.driver.bindAddress": HOST,
            "spark.driver.host": HOST,
            "spark.driver.extraJavaOptions": self.options,
            "spark.executor.extraJavaOptions": self.options,
            "spark.executor.memory": self.memory,
            "spark.log.level": "WARN",
            "spark.master": self.url,
            "spark.sql.execution.arrow.pyspark.enabled": "true",
            "spark.sql.session.timeZone": "UTC",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        lines = [f"{key} {value}\n" for key, value in settings.items() if value]
        (self._folder / "spark-defaults.conf").write_text("".join(lines))

    def _environment(self) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
        return ours | {
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src"))),  # so that tasks find `tests.cluster`
            "SPARK_CONF_DIR": str(self._folder),
            "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_IP": HOST,
        }

    def _stop(self) -> None:
        """End every process of the cluster, by its id."""
        _kill(self.processes())
        for child in self._started:
            child.communicate()  # reaps it and closes its pipe


def ended(process: psutil.Process) -> bool:
    """Whether a process is gone, though nobody may have taken notice."""
    with suppress(psutil.NoSuchProcess):
        return process.status() == psutil.STATUS_ZOMBIE
    return True


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    wait_for("the end of the killed", lambda: all(map(ended, processes)))


def _command(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def _find(pattern: str, log: Path) -> str | None:
    found = re.search(pattern, log.read_text())
    return found[1] if found else None
