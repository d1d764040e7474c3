"""What every command tells a person: progress and notes beside the answer, and a mistake as one line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from collections.abc import Iterator

told = Console(stderr=True)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Show what Dovetail raises as one line, and exit with code 2."""
    try:
        yield
    except DovetailError as error:
        told.print(str(error), style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
