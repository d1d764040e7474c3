"""The naive references: what the right answer is, worked out slowly enough to be obviously right.

Public, for your tests as for ours. `naive_join`, `naive_aggregate`, `naive_asof` and `naive_window` compare every left
row with every right row, `naive_temporal` looks at every combination of rows, by a plain interpreter of Spark SQL that
shares no code with the joins it judges; `assert_same_rows` says, on one screen, how two answers differ. Days begin and
timestamps are read in UTC.
"""

from dovetail.testing._aggregates import naive_aggregate
from dovetail.testing._joins import naive_join
from dovetail.testing._rows import assert_same_rows
from dovetail.testing._temporal import naive_asof, naive_window
from dovetail.testing._validity import naive_temporal

__all__ = ["assert_same_rows", "naive_aggregate", "naive_asof", "naive_join", "naive_temporal", "naive_window"]
