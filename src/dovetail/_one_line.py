"""What every command tells a person: progress and notes beside the answer, and a mistake as one line."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from dovetail.errors import DovetailError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

told = Console(stderr=True)


def tell(line: str, style: str | None = None) -> None:
    """Tell one line as it stands: brackets in a name are no markup, and a long line is not broken."""
    told.print(line, style=style, markup=False, highlight=False, soft_wrap=True)


class OneLineGroup(TyperGroup):
    """Commands whose missing and unknown options are told in one line, too, instead of in a frame."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command and end the process."""
        try:
            with _ended_in_order():
                code = super().main(*args, **{**extra, "standalone_mode": False})
        except typer.Abort:
            told.print("aborted", style="red")
            sys.exit(1)
        except Exception as error:
            # Typer brings a click of its own, whose errors it does not export; they alone can do both.
            if not (hasattr(error, "format_message") and hasattr(error, "show")):
                raise
            _tell_call(error)
            sys.exit(2)
        sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Make an exit of a request to end (SIGTERM), so that what is half-written goes, as it does at Ctrl-C."""
    if current_thread() is not main_thread():  # signals are its alone
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _tell_call(error: Any) -> None:
    """Tell what is wrong with a call in one line; a command without any argument shows its help."""
    reason = error.format_message().strip()
    if "\n" in reason or not reason:
        error.show()
        return
    command = error.ctx.command_path if getattr(error, "ctx", None) else "dovetail"
    tell(str(UsageError.bad_call(reason, command)), "red")


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Show what Dovetail raises as one line, and exit with code 2."""
    try:
        yield
    except DovetailError as error:
        tell(str(error), "red")
        raise typer.Exit(2) from None
