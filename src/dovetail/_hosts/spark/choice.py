"""What `auto` takes among the ways to join by one inequality: Spark's own nested loop, value ranges, or dealt cells.

Where most pairs match, the time goes into handing out results, and Spark, which never leaves its own process, is a
little quicker at that than results from Python; small sides are unfolded before anything is weighed (`unfold.py`).
Elsewhere rows are placed: by ranges of the anchor, which move fewer rows, or by Prefap's cells cut at quantiles and
dealt to tasks, which share out skewed results more evenly.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dovetail._core.plan.knobs import Knobs
from dovetail._hosts.spark.digests import can_digest
from dovetail._hosts.spark.known import FEW_PAIRS
from dovetail._hosts.spark.loads import Loads
from dovetail._hosts.spark.place import plan_cells
from dovetail._hosts.spark.sampled import sample_of
from dovetail._hosts.spark.small import sample_brought
from dovetail._hosts.spark.statistics import Statistics
from dovetail._hosts.spark.theta import ThetaCells

if TYPE_CHECKING:
    import pyarrow as pa

    from dovetail._core.condition.values import Condition
    from dovetail._core.plan.decide import Decision
    from dovetail._core.plan.query import Query
    from dovetail._hosts.spark.known import Known

PAIR_NANOSECONDS = 2.7
"""What Spark's nested loop takes to compare a pair, on two cores (10,000 x 10,000 doubles without a match)."""
RESULT_NANOSECONDS = 5.0
"""How much longer a result takes to reach Spark from a Python task than from its own loop, likewise.

Between 3, in a session of ours, and some 13 without its settings.
"""
DEALT = Knobs("prefap", cuts="quantile")


def may_be_sparks(query: Query, condition: Condition) -> bool:
    """Whether Spark's own nested loop is among the plans of a call: one inequality, and the choice is ours."""
    return query.free_pairs and not condition.keys and not condition.residuals and len(condition.comparisons) == 1


def spark_is_best(query: Query, known: Known) -> str | None:
    """Why Spark's own nested loop is the best plan for a call that leaves the choice to us; None if it is not."""
    if not may_be_sparks(query, known.sides.condition) or known.few_pairs or known.both is not None:
        return None
    share, pairs = _matching(known)
    if pairs < FEW_PAIRS or share * RESULT_NANOSECONDS < PAIR_NANOSECONDS:
        return None
    return (
        f"about {share:.0%} of all pairs match, {round(share * pairs):,}: the results take longer than finding them, "
        "and Spark's own nested loop hands them out fastest"
    )


def _matching(known: Known) -> tuple[float, int]:
    """The share of the pairs that match, by samples, and how many pairs there are."""
    turned = known.larger_left
    brought = turned.brought
    if brought is None or not isinstance(brought.pieces, Statistics):
        left, right = known.statistics
        return _share(known.sides.condition, left.sample, right.sample), left.fitting * right.fitting
    theirs = sample_brought(brought.table, turned.sides.right)
    share = _share(turned.sides.condition, brought.pieces.sample, theirs)
    return share, brought.pieces.fitting * brought.table.num_rows


def _share(condition: Condition, left: pa.Table, right: pa.Table) -> float:
    ops = tuple(comparison.op for comparison in condition.comparisons)
    return sample_of(condition, left, right)[0].share(ops)


def weighed(query: Query, known: Known, decision: Decision, cores: int) -> Decision:
    """Ranges or dealt cells, whichever keeps the busiest core less busy; a decision for anything else stays."""
    sides, condition = known.sides, known.sides.condition
    if decision.algorithm == "range" and can_digest(query.aggregates, sides):
        return replace(decision, reason=f"{decision.reason}; rows that match all of a cell go there as a digest")
    free = query.algorithm == "auto" and query.cells is None and decision.algorithm == "range"
    if not free or condition.keys or len(condition.comparisons) != 1:
        return decision
    found = known.statistics
    sample, anchors = sample_of(condition, *(own.sample for own in found))
    ops = (condition.comparisons[0].op,)
    rows = found[0].fitting, found[1].fitting
    theta = ThetaCells.cut(DEALT, ops[0], sample, anchors, decision.cells)
    if theta is None:
        return decision
    ranges = Loads.of(plan_cells(sides, sample, anchors, decision.cells).members(sample, ops), sample, ops, rows)
    dealt = Loads.of(theta.members(sample), sample, ops, rows)
    assert ranges is not None
    assert dealt is not None
    name = "range" if ranges.longest(cores) <= dealt.longest(cores) else "prefap"
    words = " and ".join(
        f"{way} move about {own.moved:,} rows and leave {own.results.max():,.0f} results to the fullest task"
        for way, own in (("value ranges", ranges), ("prefap's cells by quantile", dealt))
    )
    return replace(decision, algorithm=name, reason=f"{decision.reason}; {words}")
