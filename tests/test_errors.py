"""What an error keeps on its way to the caller."""

from __future__ import annotations

import pickle
import traceback

import pytest

from dovetail.errors import DovetailError, InternalError, UnsupportedError, UsageError

ERRORS = [InternalError.no_order("void"), UnsupportedError.time_zone("noon CET"), UsageError.gone(3)]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_passes_between_processes_as_it_is(error: DovetailError) -> None:
    passed = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own
    assert (type(passed), passed.args) == (type(error), error.args)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_traceback_names_the_module_that_errors_are_imported_from(error: DovetailError) -> None:
    told = traceback.format_exception_only(error)
    assert told == [f"dovetail.errors.{type(error).__name__}: {error}\n"]
    assert DovetailError.__module__ == "dovetail.errors"


def test_only_a_call_that_cannot_be_carried_out_is_a_value_error() -> None:
    assert all(isinstance(error, DovetailError) for error in ERRORS)
    assert [isinstance(error, ValueError) for error in ERRORS] == [False, False, True]


def test_a_message_is_one_line_whatever_was_got() -> None:
    told = str(UsageError.bad_rows("base", "no column 'ts'\n  among these"))
    assert "no column 'ts' among these" in told
