"""The present, the same wherever a condition speaks of it: either side of a join is computed in jobs of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dovetail._core.condition.dialect import AsWritten
from dovetail._hosts.spark.frames import dialect_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_PRESENT = re.compile(r"\b(now|curdate|current_date|current_timestamp|localtimestamp|unix_timestamp)\b", re.IGNORECASE)
_ASKED = "SELECT unix_micros(now()), unix_date(current_date())"
_TEXTS = ("on", "where")


def at_one_moment(call: Mapping[str, Any], session: Any) -> dict[str, Any]:
    """A call whose conditions name the moment of the call, as Spark has one moment for a query."""
    texts = {name: call.get(name) for name in _TEXTS}
    spoken = {name: text for name, text in texts.items() if isinstance(text, str) and _PRESENT.search(text)}
    if not spoken:
        return dict(call)
    micros, days = session.sql(_ASKED).head()
    dialect = dialect_of(session)
    return {**call, **{name: _frozen(text, dialect, micros, days) for name, text in spoken.items()}}


def _frozen(text: str, dialect: type[AsWritten], micros: int, days: int) -> str:
    try:
        node = exp.Paren(this=sqlglot.parse_one(text, read=dialect, into=exp.Condition))
    except SqlglotError:  # who reads the condition says what is wrong with it
        return text
    stamp = _called("timestamp_micros", micros)
    for part in list(node.walk()):
        if isinstance(part, exp.CurrentTimestamp) or (isinstance(part, exp.Anonymous) and part.name.lower() == "now"):
            part.replace(stamp.copy())
        elif isinstance(part, exp.CurrentDate):
            part.replace(_called("date_from_unix_date", days))
        elif isinstance(part, exp.Localtimestamp):
            part.replace(exp.cast(stamp.copy(), "TIMESTAMP_NTZ", dialect=AsWritten))
    return str(node.this.sql(dialect=AsWritten))


def _called(function: str, number: int) -> exp.Expr:
    return exp.Anonymous(this=function, expressions=[exp.Literal.number(number)])
