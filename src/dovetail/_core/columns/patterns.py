"""LIKE, ILIKE and RLIKE.

LIKE is Spark's, to the errors for a stray escape. RLIKE is Java's regular expressions in Spark; here RE2 runs them,
which is close: `.` and `$` are translated to Java's idea of a line end, and what RE2 lacks (back references,
look-around, possessive quantifiers, class intersections) is refused as unsupported, not answered otherwise. Two
differences stay: `(?i)` folds letters beyond ASCII, which Java's does not, and a `$` is taken to end what it stands in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.scope import unsupported
from dovetail._core.columns.strings import by_distinct, text
from dovetail._core.columns.types import BOOLEAN
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.columns.scope import Handler, Scope

_LINE_ENDS = r"\n\r\x{85}\x{2028}\x{2029}"
_TOKEN = re.compile(r"\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[a-zA-Z-]+[:)]|.", re.DOTALL)


def like(node: exp.Expr, scope: Scope, escape: str = "\\") -> pa.Array:
    """Evaluate LIKE or ILIKE; the pattern may differ from row to row."""
    if isinstance(node.expression, exp.Any | exp.All):
        raise unsupported(node, "LIKE ANY or ALL")
    array, pattern = (text(node, scope.value(part)) for part in (node.this, node.expression))
    # Spark's ILIKE lowers both sides; the case flag would fold some letters further.
    if isinstance(node, exp.ILike):
        lowered = (exp.Lower(this=part.copy()) for part in (node.this, node.expression))
        array, pattern = (scope.value(part) for part in lowered)

    def apply(rows: pa.Array, wanted: str) -> pa.Array:
        return pc.match_substring_regex(rows, like_to_regex(wanted, escape))

    answer = by_distinct(array, [pattern], apply, BOOLEAN)
    return pc.invert(answer) if node.args.get("negate") else answer


def escaped(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate LIKE ... ESCAPE."""
    if not isinstance(node.this, exp.Like | exp.ILike) or not isinstance(node.expression, exp.Literal):
        raise unsupported(node, "this ESCAPE")
    return like(node.this, scope, node.expression.name)


def like_to_regex(pattern: str, escape: str) -> str:
    """Translate a LIKE pattern into an RE2 pattern for the whole text."""
    pieces = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            following = next(characters, "")
            if following not in {"%", "_", escape}:
                raise UsageError.bad_escape(pattern, escape)
            pieces.append(_quoted(following))
        else:
            pieces.append({"%": ".*", "_": "."}.get(character) or _quoted(character))
    return rf"(?s)\A{''.join(pieces)}\z"


def _quoted(character: str) -> str:
    return (
        f"\\{character}" if character.isascii() and not character.isalnum() and character.isprintable() else character
    )


def regex_like(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate RLIKE: does the pattern match anywhere in the text."""
    array, pattern = (text(node, scope.value(part)) for part in (node.this, node.expression))

    def apply(rows: pa.Array, wanted: str) -> pa.Array:
        try:
            return pc.match_substring_regex(rows, java_to_re2(node, wanted))
        except pa.ArrowInvalid as error:
            raise unsupported(node, f"the regular expression {wanted!r}") from error

    if isinstance(node.expression, exp.Literal):
        apply(pa.array([""]), node.expression.name)  # what RE2 cannot do is said before there is any row
    return by_distinct(array, [pattern], apply, BOOLEAN)


def java_to_re2(node: exp.Expr, pattern: str) -> str:
    """Translate the parts of a Java pattern that RE2 reads otherwise."""
    tokens = _TOKEN.findall(pattern)
    flags = "".join(token for token in tokens if token.startswith("(?") and token[-1] in ":)")
    if set(flags) - set("(?:)is") or any(_is_class_algebra(token) for token in tokens):
        raise unsupported(node, f"the regular expression {pattern!r}")
    dot = "." if "s" in flags else f"[^{_LINE_ENDS}]"
    end = rf"(?:\r\n|[{_LINE_ENDS}])?\z"
    translated = {".": dot, "$": end, r"\Z": end, r"\z": r"\z"}
    return "".join(translated.get(token, token) for token in tokens)


def _is_class_algebra(token: str) -> bool:
    """Say whether a class holds another one or an intersection, which RE2 would take for plain characters."""
    return token.startswith("[") and ("&&" in token or re.search(r"(?<!\\)\[(?!:)", token[1:]) is not None)


def _named_regex(node: exp.Expr, scope: Scope) -> pa.Array:
    return regex_like(exp.RegexpLike(this=node.expressions[0].copy(), expression=node.expressions[1].copy()), scope)


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Like: like,
    exp.ILike: like,
    exp.Escape: escaped,
    exp.RegexpLike: regex_like,
}
NAMED: dict[str, Handler] = {"regexp": _named_regex}
