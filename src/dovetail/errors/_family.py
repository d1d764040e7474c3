"""What all errors of Dovetail are."""

from __future__ import annotations


class DovetailError(Exception):
    """The root of everything that Dovetail raises on purpose."""

    __module__ = "dovetail.errors"  # the public name, in tracebacks and pickles

    def __init__(self, message: str) -> None:
        # What was got may be a frame or an array, whose text has many lines.
        super().__init__(" ".join(line.strip() for line in message.splitlines()))
