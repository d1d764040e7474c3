"""Spark SQL as it is written: what the parser would change on the way from text to text keeps its name and arguments.

The parser knows many dialects, and reads some functions of Spark's as those of another. A test reads every example of
Spark's own documentation and compares the answers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.spark import Spark

from dovetail.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

    Builder = Callable[..., Any]

_READ = Spark.Parser.FUNCTIONS
_KEPT = ("array_size", "collate", "levenshtein", "log10", "parse_json", "time_diff", "time_trunc", "to_char")
"""Functions that would be written as others, which do not always answer the same, or not without a warning."""
_MATCHES = ("ILIKE", "LIKE", "REGEXP_LIKE", "RLIKE")
_BITWISE = ((TokenType.PIPE, exp.BitwiseOr), (TokenType.CARET, exp.BitwiseXor), (TokenType.AMP, exp.BitwiseAnd))
"""Operators of bits, the loosest first."""
_LETTER = "letter"
"""What a number remembers the letter behind it by."""


def _named(name: str, arguments: list[Any]) -> exp.Expr:
    """A function of which nothing more is known."""
    return exp.Anonymous(this=name, expressions=arguments)


def _matched(name: str, arguments: list[Any]) -> Any:
    """A test of a text that is called by name; the parser would write an operator, which binds less than a call."""
    return exp.Paren(this=_READ[name](arguments))


def _date_trunc(arguments: list[Any]) -> Any:
    """The unit may be any expression; the parser takes it for the name of a unit."""
    literal = arguments and isinstance(arguments[0], exp.Literal)
    return _READ["DATE_TRUNC"](arguments) if literal else _named("date_trunc", arguments)


def _trunc(arguments: list[Any]) -> Any:
    """The unit comes second, and may be any expression too."""
    literal = len(arguments) == 2 and isinstance(arguments[1], exp.Literal)  # noqa: PLR2004
    return _READ["TRUNC"](arguments) if literal else _named("trunc", arguments)


def _named_struct(arguments: list[Any]) -> Any:
    """A field may have any name; the parser would write it as it is."""
    plain = all(isinstance(name, exp.Literal) and name.name.isidentifier() for name in arguments[::2])
    return _READ["NAMED_STRUCT"](arguments) if plain else _named("named_struct", arguments)


def _instr(arguments: list[Any]) -> Any:
    """A start and an occurrence may follow; the parser drops the second."""
    return _READ["INSTR"](arguments) if len(arguments) == 2 else _named("instr", arguments)  # noqa: PLR2004


def _to_date(arguments: list[Any], dialect: Any) -> Any:
    """A format may follow; the parser drops the usual one, as if to_date read nothing else without it."""
    return _READ["TO_DATE"](arguments, dialect) if len(arguments) == 1 else _named("to_date", arguments)


def is_lettered(node: exp.Expr) -> bool:
    """Whether a node is a number with a letter behind it, such as 5L or 1.5D: the parser makes a cast of it."""
    return isinstance(node, exp.Cast) and _LETTER in node.meta


class AsWritten(Spark):
    """The dialect in which expressions are read and written."""

    # No name for a part of a format: the parser would write `y` as `yyyy`, which is another format.
    TIME_MAPPING: dict[str, str] = {}  # noqa: RUF012 -- as the parser has it

    def tokenize(self, sql: str, dialect: Any = None) -> list[Token]:
        """Read `'it''s'` as one text with a quote, as Spark does; the parser reads two texts side by side."""
        tokens: list[Token] = []
        for own in super().tokenize(sql, dialect):
            last = tokens[-1] if tokens else own
            alike = last.token_type == own.token_type == TokenType.STRING and sql[last.start] == sql[own.start]
            if alike and last.end + 1 == own.start:
                text = f"{last.text}{sql[own.start]}{own.text}"
                tokens[-1] = Token(own.token_type, text, last.line, last.col, last.start, own.end, last.comments)
            else:
                tokens.append(own)
        return tokens

    class Parser(Spark.Parser):  # type: ignore[valid-type, misc]  # made when loaded
        """Spark's parser, but for functions that it would change, and for what binds closer than what.

        Spark takes `||` like a sum, then shifts, then `&`, `^` and `|`; the parser takes all of these as they come.
        """

        FUNCTIONS: ClassVar[dict[str, Builder]] = {
            **_READ,
            **{name.upper(): partial(_named, name) for name in _KEPT},
            **{name: partial(_matched, name) for name in _MATCHES},
            "DATE_TRUNC": _date_trunc,
            "INSTR": _instr,
            "NAMED_STRUCT": _named_struct,
            "TO_DATE": _to_date,
            "TRUNC": _trunc,
        }
        TERM: ClassVar[dict[TokenType, Any]] = {**Spark.Parser.TERM, TokenType.DPIPE: exp.DPipe}

        def build_cast(self, strict: bool, **parts: Any) -> Any:  # noqa: FBT001
            """Keep the letter of `5L`: a cast has another type beside decimals, and 128Y is none without its minus."""
            letter = self._prev.text.upper()
            node = super().build_cast(strict, **parts)
            if letter in Spark.Tokenizer.NUMERIC_LITERALS:
                node.meta[_LETTER] = letter
            return node

        def _parse_interval(self, require_interval: bool = True, parse_function_unit: bool = True) -> Any:  # noqa: FBT001, FBT002
            """Read `INTERVAL 1 DAY 2 HOURS` as one operand: the parser makes a sum of it."""
            node = super()._parse_interval(require_interval, parse_function_unit)
            return exp.Paren(this=node) if require_interval and isinstance(node, exp.Add) else node

        def _parse_bitwise(self, loosest: int = 0) -> Any:
            if loosest == len(_BITWISE):
                return self._parse_shift()
            token, kind = _BITWISE[loosest]
            this = self._parse_bitwise(loosest + 1)
            while self._match(token):
                this = self.expression(kind(this=this, expression=self._parse_bitwise(loosest + 1)))
            return this

        def _parse_shift(self) -> Any:
            this = self._parse_term()
            while True:
                if self._match_pair(TokenType.LT, TokenType.LT):
                    this = self.expression(exp.BitwiseLeftShift(this=this, expression=self._parse_term()))
                elif not self._match_pair(TokenType.GT, TokenType.GT):
                    return this
                elif self._match(TokenType.GT):
                    this = _named("shiftrightunsigned", [this, self._parse_term()])
                else:
                    this = self.expression(exp.BitwiseRightShift(this=this, expression=self._parse_term()))

    class Generator(Spark.Generator):  # type: ignore[valid-type, misc]
        """Spark's generator, but for times of day, which it takes for timestamps, and for days since 1970."""

        SUPPORTS_TEMPORAL_PRECISION = True
        TRANSFORMS: ClassVar[dict[Any, Any]] = {
            **Spark.Generator.TRANSFORMS,
            exp.UnixDate: lambda self, node: self.func("UNIX_DATE", node.this),
        }
        TYPE_MAPPING: ClassVar[dict[Any, str]] = {**Spark.Generator.TYPE_MAPPING, exp.DataType.Type.TIME: "TIME"}

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            """Write `5L` and `TIME'06:30'` as literals again: Spark casts no text to a time of day."""
            if is_lettered(expression):
                return f"{expression.name}{expression.meta[_LETTER]}"
            if expression.to.is_type("time") and isinstance(expression.this, exp.Literal):
                return f"TIME{self.sql(expression, 'this')}"
            return str(super().cast_sql(expression, safe_prefix))


class DoubleQuoted(AsWritten):
    """The same for sessions in which double quotes are for names, as backticks are; it is written with backticks."""

    class Tokenizer(Spark.Tokenizer):
        """Spark's tokenizer, but for double quotes."""

        QUOTES: ClassVar[list[str | tuple[str, str]]] = ["'"]
        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`", '"']


class Unescaped(AsWritten):
    """The same for sessions that take what is between quotes as it stands (`escapedStringLiterals`)."""

    def tokenize(self, sql: str, dialect: Any = None) -> list[Token]:
        """Refuse texts that such a session would not read as they are written again."""
        tokens = super().tokenize(sql, dialect)
        for own in tokens:
            if own.token_type == TokenType.STRING:
                given, written = sql[own.start : own.end + 1], exp.Literal.string(own.text).sql(dialect=AsWritten)
                if given[1:-1] != written[1:-1]:
                    raise UnsupportedError.unescaped(given)
        return tokens


class UnescapedDoubleQuoted(Unescaped, DoubleQuoted):
    """Both at once."""
