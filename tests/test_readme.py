"""What the README and the recipes show is what the library does."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("document", ["README.md", "docs/recipes.md"])
def test_the_examples_of_a_document_run(document: str) -> None:
    found = doctest.testfile(str(ROOT / document), module_relative=False)
    assert found.attempted > 5
    assert found.failed == 0
