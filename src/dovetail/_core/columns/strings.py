"""String functions. Positions count characters from one; from the end if negative.

Anything that has a text is taken for one: upper(5) is '5', as in Spark. An argument that is the same on every row costs
one kernel call, and one that varies a call per distinct value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.cast import cast
from dovetail._core.columns.lanes import column, constant, present, values
from dovetail._core.columns.scope import arguments, refused, unsupported
from dovetail._core.columns.types import BINARY, BOOLEAN, INT, STRING, family, is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dovetail._core.columns.lanes import Values
    from dovetail._core.columns.scope import Handler, Scope

_NESTED = {"struct", "list", "map", "other"}
_ENDLESS = 2**31 - 1


def text(node: exp.Expr, array: pa.Array) -> pa.Array:
    """Take any flat value for its text."""
    if family(array.type) in _NESTED:
        raise refused(node, array)
    return cast(array, STRING)


def _text_or_bytes(node: exp.Expr, array: pa.Array) -> pa.Array:
    return array if array.type == BINARY else text(node, array)


def _whole(node: exp.Expr, array: pa.Array) -> pa.Array:
    """Take a number, or a string that holds one, for an INT."""
    if not is_number(array.type) and family(array.type) not in {"string", "null"}:
        raise refused(node, array)
    return cast(array, INT)


def by_distinct(
    subject: pa.Array, options: Sequence[pa.Array], apply: Callable[..., pa.Array], arrow_type: pa.DataType
) -> pa.Array:
    """Call `apply(rows of subject, *option values)` once per distinct set of options; NULL where any is NULL."""
    encoded = [option.dictionary_encode() for option in options]
    if all(len(one.dictionary) == 1 and one.null_count == 0 for one in encoded):
        return apply(subject, *(one.dictionary[0].as_py() for one in encoded))
    there = np.logical_and.reduce([present(one) for one in (subject, *options)])
    codes = np.zeros(len(subject), dtype=np.int64)
    for one in encoded:
        codes = codes * (len(one.dictionary) + 1) + values(one.indices)
    rows = np.flatnonzero(there)
    order = rows[np.argsort(codes[rows], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(order) else []
    parts = [pa.nulls(0, arrow_type)]
    for group in groups:
        chosen = [option[int(group[0])].as_py() for option in options]
        parts.append(apply(subject.take(pa.array(group)), *chosen))
    places = np.zeros(len(subject), dtype=np.int64)
    places[order] = np.arange(len(order))
    return pa.concat_arrays(parts).take(pa.array(places, mask=~there))


def _case(kernel: Callable[[pa.Array], pa.Array], fold: Callable[[str], str]) -> Handler:
    """Build upper or lower; beyond ASCII letters may change in number ('ß'), which only Python's tables know.

    As in Spark, bytes that are no text then become the replacement character.
    """

    def evaluate(node: exp.Expr, scope: Scope) -> pa.Array:
        array = text(node, scope.value(node.this))
        if pc.all(pc.string_is_ascii(array)).as_py() is not False:
            return kernel(array)
        encoded = array.cast(BINARY).dictionary_encode()
        words = (word.decode(errors="replace") for word in encoded.dictionary.to_pylist())
        folded = pa.array([fold(word) for word in words], STRING)
        return folded.take(encoded.indices)

    return evaluate


def trim(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate trim, ltrim and rtrim: blanks only, or any of the given characters."""
    side = str(node.args.get("position") or "BOTH").upper()
    given = node.args.get("expression")
    return _trimmed(
        node, scope, node.this, given, {"LEADING": pc.utf8_ltrim, "TRAILING": pc.utf8_rtrim}.get(side, pc.utf8_trim)
    )


def _btrim(node: exp.Expr, scope: Scope) -> pa.Array:
    subject, *given = node.expressions
    return _trimmed(node, scope, subject, given[0] if given else None, pc.utf8_trim)


def _trimmed(
    node: exp.Expr, scope: Scope, subject: exp.Expr, given: exp.Expr | None, kernel: Callable[[pa.Array, str], pa.Array]
) -> pa.Array:
    array = text(node, scope.value(subject))
    if given is None:
        return kernel(array, " ")
    characters = text(node, scope.value(given))
    return by_distinct(array, [characters], lambda rows, some: kernel(rows, some) if some else rows, STRING)


def length(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate length: characters of a string, bytes of a binary."""
    array = _text_or_bytes(node, scope.value(node.this))
    return (pc.binary_length if array.type == BINARY else pc.utf8_length)(array)


def _octet_length(node: exp.Expr, scope: Scope) -> pa.Array:
    return pc.binary_length(_text_or_bytes(node, scope.value(node.expressions[0])))


def substring(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate substring: from a position, one-based or from the end, and over a number of characters."""
    array = _text_or_bytes(node, scope.value(node.this))
    start = _whole(node, scope.value(node.args["start"]))
    given = node.args.get("length")
    count = _whole(node, scope.value(given)) if given else constant(_ENDLESS, INT, scope.rows)
    return _between(array, start, count)


def _between(array: pa.Array, start: pa.Array, count: pa.Array) -> pa.Array:
    """Cut each text to the characters that lie in [start, start + count)."""
    sizes = values(pc.binary_length(array) if array.type == BINARY else pc.utf8_length(array)).astype(np.int64)
    position = values(start).astype(np.int64)
    first = np.where(position > 0, position - 1, np.where(position < 0, sizes + position, 0))
    last = np.clip(first + values(count), 0, sizes)
    first = np.minimum(np.clip(first, 0, sizes), last)
    there = present(array) & present(start) & present(count)
    return _cut(array, np.where(there, first, 0), np.where(there, last, 0), there)


def _cut(array: pa.Array, first: Values, last: Values, there: Values) -> pa.Array:
    """Copy the bytes of the characters [first, last) of each text."""
    offsets, data = _bytes(array)
    heads = np.arange(len(data)) if array.type == BINARY else np.flatnonzero((data & 0xC0) != 0x80)  # noqa: PLR2004
    heads = np.append(heads, len(data))
    own = np.searchsorted(heads, offsets[:-1])
    begin, end = heads[own + first], heads[own + last]
    sizes = np.where(there, end - begin, 0)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    picked = data[np.repeat(begin - bounds[:-1], sizes) + np.arange(bounds[-1])]
    buffers = [pa.array(there).buffers()[1], pa.py_buffer(bounds.astype(np.int32)), pa.py_buffer(picked)]
    return pa.Array.from_buffers(array.type, len(array), buffers)


def _bytes(array: pa.Array) -> tuple[Values, Values]:
    """Return the offsets, from zero, and the bytes between the first and the last."""
    _, offsets, data = array.buffers()
    if not len(array):
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    bounds = np.frombuffer(offsets, dtype=np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    content = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    return bounds - bounds[0], content[bounds[0] : bounds[-1]]


def left(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate left: the first characters."""
    array, count = _text_or_bytes(node, scope.value(node.this)), _whole(node, scope.value(node.expression))
    return _between(array, constant(1, INT, scope.rows), count)


def right(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate right: the last characters, always as a string."""
    array, count = text(node, scope.value(node.this)), _whole(node, scope.value(node.expression))
    kept = np.maximum(values(count).astype(np.int64), 0)
    start = column(np.where(kept > 0, -kept, _ENDLESS), present(count), INT)
    return _between(array, start, constant(_ENDLESS, INT, scope.rows))


def replace(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate replace; an empty search replaces nothing."""
    array, search = (text(node, scope.value(part)) for part in (node.this, node.expression))
    given = node.args.get("replacement")
    new = text(node, scope.value(given)) if given else constant("", STRING, scope.rows)

    def apply(rows: pa.Array, old: str, fresh: str) -> pa.Array:
        return pc.replace_substring(rows, old, fresh) if old else rows

    return by_distinct(array, [search, new], apply, STRING)


def _search(kernel: Callable[[pa.Array, str], pa.Array]) -> Handler:
    """Build contains, startswith or endswith, on strings or on bytes."""

    def evaluate(node: exp.Expr, scope: Scope) -> pa.Array:
        sides = [scope.value(node.this), scope.value(node.expression)]
        if not all(side.type == BINARY for side in sides):
            sides = [text(node, side) for side in sides]
        return by_distinct(sides[0], [sides[1]], kernel, BOOLEAN)

    return evaluate


def position(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate instr, locate and position: where the first occurrence begins, 0 if nowhere."""
    array, wanted = (text(node, scope.value(node.args[name])) for name in ("this", "substr"))
    given = node.args.get("position")
    if given is None:
        return by_distinct(array, [wanted], _character_of, INT)
    start = _whole(node, scope.value(given))
    first = np.where(present(start), values(start), 0)
    begin = column(np.maximum(first, 1), np.ones(scope.rows, dtype=np.bool_), INT)
    rest = _between(array, begin, constant(_ENDLESS, INT, scope.rows))
    found = values(by_distinct(rest, [wanted], _character_of, INT))
    numbers = np.where(found > 0, found + np.maximum(first, 1) - 1, 0)
    # The empty text is found at once, wherever the search begins.
    numbers = np.where(values(pc.equal(wanted, "")), 1, numbers)
    # A NULL start finds nothing: locate gives 0, whatever the rest is.
    there = (present(array) & present(wanted)) | ~present(start)
    return column(np.where(first < 1, 0, numbers), there, INT)


def _character_of(rows: pa.Array, wanted: str) -> pa.Array:
    at = pc.find_substring(rows, wanted)
    offsets, data = _bytes(rows)
    heads = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])  # noqa: PLR2004
    place = np.maximum(values(at), 0)
    characters = heads[offsets[:-1] + place] - heads[offsets[:-1]] + 1
    return column(np.where(values(at) >= 0, characters, 0), present(rows), INT)


def concat(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate concat and ||; NULL if any part is."""
    if isinstance(node, exp.Concat) and not node.args.get("safe"):
        # 'a' 'b' and 'it''s' parse alike, but mean 'ab' and "it's".
        raise unsupported(node, "adjacent string literals (write a quote as \\')")
    sides = [scope.value(part) for part in arguments(node, ("this", "expression", "expressions"))]
    if not sides:
        return constant("", STRING, scope.rows)
    if not all(side.type == BINARY for side in sides):
        sides = [text(node, side) for side in sides]
    return pc.binary_join_element_wise(*sides, pa.scalar(b"" if sides[0].type == BINARY else "", sides[0].type))


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Upper: _case(pc.ascii_upper, str.upper),
    exp.Lower: _case(pc.ascii_lower, str.lower),
    exp.Trim: trim,
    exp.Length: length,
    exp.Substring: substring,
    exp.Left: left,
    exp.Right: right,
    exp.Replace: replace,
    exp.Contains: _search(pc.match_substring),
    exp.StartsWith: _search(pc.starts_with),
    exp.EndsWith: _search(pc.ends_with),
    exp.StrPosition: position,
    exp.Concat: concat,
    exp.DPipe: concat,
}
NAMED: dict[str, Handler] = {"btrim": _btrim, "octet_length": _octet_length}
