"""Which drawn conditions have an equality that a join can go by: an OR without parentheses may leave none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.condition.split import read_condition

if TYPE_CHECKING:
    from tests.strategies import Case


def keyed(case: Case) -> bool:
    inputs = Inputs(Input("l", tuple(case.left.column_names)), Input("r", tuple(case.right.column_names)))
    return bool(read_condition(case.on, inputs).keys)
