"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(ROOT.glob("src/dovetail/**/*.py"))
HEAVY = {"duckdb", "matplotlib", "numba", "numpy", "pandas", "polars", "pyarrow", "pyspark", "sqlglot"}
NAMELESS = {"base", "common", "helpers", "manager", "misc", "utils"}
MESSAGES = sorted(ROOT.glob("src/dovetail/errors/*.py"))
FAMILIES = {"InternalError", "UnsupportedError", "UsageError"}


def _name(source: Path) -> str:
    parts = source.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _calls(source: Path) -> set[str]:
    """The names that a file calls as functions, such as `f` in `f(x)`."""
    nodes = ast.walk(ast.parse(source.read_text()))
    return {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def _imports(source: Path) -> set[str]:
    """The modules that a file imports, at whatever depth."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_the_import_is_light() -> None:
    code = "import sys, dovetail; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "dovetail" in loaded
    assert HEAVY.isdisjoint(loaded)


def test_what_the_package_names_is_there_at_once() -> None:
    code = "import dovetail; print(*(name for name in dovetail.__all__ if not hasattr(dovetail, name)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def _with_examples(*, on_spark: bool) -> list[Path]:
    texts = {file: file.read_text() for file in SOURCES}
    return [file for file, text in texts.items() if ">>>" in text and ("dovetail.spark" in text) is on_spark]


@pytest.mark.parametrize("source", _with_examples(on_spark=False), ids=_name)
def test_the_examples_in_docstrings_run(source: Path) -> None:
    result = doctest.testmod(importlib.import_module(_name(source)))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.usefixtures("spark")  # so that they find the session of the tests
@pytest.mark.parametrize("source", _with_examples(on_spark=True), ids=_name)
def test_the_examples_on_spark_run(source: Path) -> None:
    test_the_examples_in_docstrings_run(source)


def test_every_public_function_shows_an_example() -> None:
    import dovetail  # noqa: PLC0415 -- the other tests do not need it
    import dovetail.spark  # noqa: PLC0415
    import dovetail.stream  # noqa: PLC0415

    public = [
        getattr(module, name) for module in (dovetail, dovetail.spark, dovetail.stream) for name in module.__all__
    ]
    assert [thing.__name__ for thing in public if callable(thing) and ">>>" not in (thing.__doc__ or "")] == []


def _message_classes() -> list[ast.ClassDef]:
    """The families of errors, and the groups of constructors that a family puts together."""
    nodes = chain(*(ast.parse(source.read_text()).body for source in MESSAGES))
    return [node for node in nodes if isinstance(node, ast.ClassDef)]


def _constructors() -> list[str]:
    """Every constructor as it is called, once for each definition; those of a stray group by the group's name."""
    classes = _message_classes()
    heirs = {ast.unparse(group): family.name for family in classes if family.name in FAMILIES for group in family.bases}
    named = {node.name: heirs.get(node.name, node.name) for node in classes}
    methods = [(named[node.name], m) for node in classes for m in node.body if isinstance(m, ast.FunctionDef)]
    return [f"{name}.{method.name}" for name, method in methods if method.name != "__init__"]


def test_every_message_has_a_named_constructor() -> None:
    raised = {node.name for node in _message_classes()}
    assert [str(source) for source in SOURCES if _calls(source) & raised] == []


def test_every_constructor_of_a_message_is_used_and_defined_once() -> None:
    made = _constructors()
    everything = "".join(source.read_text() for source in SOURCES)
    used = set(re.findall(r"\b\w+Error\.\w+", everything))
    assert {name.split(".")[0] for name in made} == FAMILIES
    assert sorted(made) == sorted(set(made))
    assert [name for name in made if name not in used] == []


def test_messages_are_reached_by_their_family_alone() -> None:
    others = {source: _imports(source) for source in SOURCES if source not in MESSAGES}
    assert [str(source) for source, names in others.items() if any(".errors._" in name for name in names)] == []


def test_a_shared_idea_has_a_name() -> None:
    names = [part for source in SOURCES for part in _name(source).split(".")]
    assert NAMELESS.isdisjoint(names)


def test_every_room_says_what_belongs_there() -> None:
    rooms = {source.parent / "__init__.py" for source in SOURCES}
    assert [str(room) for room in rooms if not ast.get_docstring(ast.parse(room.read_text()))] == []


def test_no_room_uses_the_public_door() -> None:
    """import-linter cannot say this, for it takes `dovetail` to mean everything in it."""
    doors = {"dovetail", "dovetail.join", "dovetail.explain"}
    assert [str(source) for source in SOURCES if _imports(source) & doors and _name(source) != "dovetail.cli"] == []


def test_what_the_documents_name_is_there() -> None:
    files = {str(source.relative_to(ROOT / "src/dovetail").with_suffix("")) for source in SOURCES}
    rooms = {str(Path(file).parent) for file in files}
    wrong = []
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        text = document.read_text()
        wrong += [link for link in re.findall(r"\]\(([\w/.-]+)\)", text) if not (document.parent / link).exists()]
        for name in re.findall(r"`([\w/]+/[\w/]*(?:\.py)?|\w+\.py)`", text):
            own = name.removesuffix(".py").strip("/")
            known = any(f"/{place}".endswith(f"/{own}") for place in files | rooms) or (ROOT / name).exists()
            wrong += [] if known else [f"{document.name}: {name}"]
    assert wrong == []


def test_the_map_of_the_spark_host_is_whole() -> None:
    told = (ROOT / "ARCHITECTURE.md").read_text().split("## The way of a call")[1].split("\n## ")[0]
    files = {source.stem for source in SOURCES if source.parent.name == "spark"} - {"__init__"}
    assert files - set(re.findall(r"`(\w+)`", told)) == set()


def test_the_lock_pins_every_requirement_and_holds_no_address() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {re.split(r"[<>=]", requirement)[0].lower().replace("_", "-") for requirement in wanted}
    pins = re.findall(r"^([a-z0-9-]+)==\S+[^\n]*\\\n    --hash=sha256:", lock, re.MULTILINE)
    assert names <= set(pins)
    assert len(pins) == len(re.findall(r"^[a-z]", lock, re.MULTILINE))
    assert not re.search(r"://|index-url|find-links", lock)
