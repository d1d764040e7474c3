"""What can only go wrong by a mistake of ours."""

from __future__ import annotations

from typing import Self

from dovetail.errors._family import DovetailError


class InternalError(DovetailError):
    """A mistake of ours; please report it."""

    __module__ = "dovetail.errors"  # the public name, in tracebacks and pickles

    @classmethod
    def no_order(cls, kind: object) -> Self:
        """Say that values were to be ordered whose type our own checks exclude."""
        return cls(f"no order is known for {kind}; this is a defect of dovetail. Hint: please report the call.")
