"""Folds queries that differ in constants alone into one shape, in which no constant is left.

A page may show a shape to everybody who sees its tables; constants may be a customer's number.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

MOST_TEXT = 200_000
"""Characters of a query that are read; a longer one is folded by its tokens up to here."""
MOST_WORDS = 10_000
"""Tokens of a query that is parsed, which takes up to a second; one of more is folded by them."""
MOST_SHOWN = 20_000
MOST_CONSTANTS = 256
"""Of a query, and in a list, that are told apart; of further ones nothing is said."""
_HIDDEN = "?"
_HIDDEN_LIST = re.compile(r"\?(?: , \?)+")
_MARK = "lwc"
_TAILS = ("", "'", '"', "*/")
"""With one of them a text ends in no open quote or comment, wherever it was cut."""
_MOST_PLACE = 4
"""Digits of a place in the SELECT list."""
# Words that the parser takes out of their quotes, and that are written in quotes again.
_UNITS = {
    *("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER"),
    *("YEAR", "DECADE", "CENTURY"),
}
_LISTS = (exp.In, exp.Tuple, exp.Array)
# Their numbers are places in the SELECT list, which belong to the shape.
_PLACES = (exp.Group, exp.Ordered)
_CONSTANTS = {
    TokenType.STRING,
    TokenType.NUMBER,
    TokenType.NATIONAL_STRING,
    TokenType.RAW_STRING,
    TokenType.HEREDOC_STRING,
    TokenType.UNICODE_STRING,
    TokenType.BYTE_STRING,
    TokenType.BIT_STRING,
    TokenType.HEX_STRING,
}


@dataclass(frozen=True, slots=True)
class Shape:
    """A query without its constants; `is_parsed` is False where only its words were read."""

    digest: str
    text: str
    is_parsed: bool


@dataclass(frozen=True, slots=True)
class Parted:
    """A query parted into its shape and its constants."""

    shape: Shape
    constants: tuple[str, ...] = ()
    """As SQL writes them, in the order of the shape, MOST_CONSTANTS at most."""
    filled: tuple[str, ...] | None = None
    """For each `?` of the shape what stood there, so that the query can be put together again;
    None where it cannot."""


def shape_of(sql: str, dialect: str) -> Shape:
    """Return the shape of a query; any text has one, also one that is no SQL."""
    return parted(sql, dialect).shape


def parted(sql: str, dialect: str) -> Parted:
    """Part a query into its shape and its constants.

    Of what is no SQL, or very long, the words are the shape, in which a list is one constant, too.
    """
    # Half a character, which JSON can say, has no bytes.
    sql = sql.encode("utf-8", "replace").decode("utf-8")
    if len(sql) <= MOST_TEXT:
        try:
            found = None if _is_long(sql, dialect) else _parsed(sql, dialect)
        except (SqlglotError, RecursionError, ValueError):
            found = None
        if found is not None:
            return found
    words, constants = _words(sql[:MOST_TEXT], dialect)
    return Parted(_shape(words, dialect, is_parsed=False), constants)


def _is_long(sql: str, dialect: str) -> bool:
    return len(sql) > MOST_WORDS and len(sqlglot.tokenize(sql, dialect=dialect)) > MOST_WORDS


def _parsed(sql: str, dialect: str) -> Parted | None:
    trees = [one for one in sqlglot.parse(sql, dialect=dialect) if one is not None]
    if command := next((one for one in trees if one.find(exp.Command)), None):
        # The parser keeps all but the first word of it as it was written.
        return Parted(_shape(f"{command.name.lower()} {_HIDDEN}", dialect, is_parsed=False))
    hiding = _Hiding(_mark_for(sql), dialect)
    written = "; ".join(
        one.transform(hiding.hide).sql(dialect=dialect, comments=False) for one in trees
    )
    places = re.compile(rf":{hiding.mark}(\d+)z")
    text = places.sub(_HIDDEN, written)
    if not text or not _is_clean(text, sql, dialect):
        return None
    shape = _shape(text, dialect, is_parsed=True)
    found = [hiding.values[int(n)] for n in places.findall(written)]
    is_whole = len(text) <= MOST_SHOWN and text.count(_HIDDEN) == len(found)
    constants = islice((one for _, ones in found for one in ones), MOST_CONSTANTS)
    filled = tuple(value for value, _ in found)
    return Parted(shape, tuple(constants), filled if is_whole else None)


def _mark_for(sql: str) -> str:
    """Return a name for our placeholders that no name of the text begins with."""
    mark = _MARK
    while mark in sql.lower():
        mark += "q"
    return mark


def _shape(text: str, dialect: str, *, is_parsed: bool) -> Shape:
    digest = hashlib.sha256(f"{dialect}\0{text}".encode()).hexdigest()[:32]
    return Shape(digest, text[:MOST_SHOWN], is_parsed)


class _Hiding:
    """Puts a placeholder in place of each constant, and one for each list of them."""

    def __init__(self, mark: str, dialect: str) -> None:
        self.mark, self._dialect = mark, dialect
        self.values: list[tuple[str, list[str]]] = []
        """What stood at each place, and its single constants."""

    def hide(self, node: exp.Expr) -> exp.Expr:
        """Return the node without its constants."""
        if isinstance(node, exp.Identifier):
            # Engines of the lake find names whatever their case is.
            return exp.to_identifier(node.name.lower(), quoted=bool(node.args.get("quoted")))
        if isinstance(node, _LISTS) and _is_all_constants(node.expressions):
            node.set("expressions", [self._place(node.expressions, self._said(node.expressions))])
            return node
        if isinstance(node, exp.Values):
            # Its placeholder stands in the parentheses of one row.
            rows = self._said(node.expressions).removeprefix("(").removesuffix(")")
            within = [each for each in node.find_all(exp.Expr) if _is_constant(each)]
            node.set("expressions", [exp.Tuple(expressions=[self._place(within, rows)])])
            return node
        # What is looked for in JSON is written as a text, and may hold a condition.
        is_hidden = _is_constant(node) or isinstance(node, exp.JSONPath)
        if is_hidden and not isinstance(node.parent, _PLACES):
            return self._place([node], self._said([node]))
        return node

    def _place(self, constants: Iterable[exp.Expr], value: str) -> exp.Placeholder:
        each = [self._said([one]) for one in islice(constants, MOST_CONSTANTS)]
        self.values.append((value, each))
        return exp.Placeholder(this=f"{self.mark}{len(self.values) - 1}z")

    def _said(self, nodes: Iterable[exp.Expr]) -> str:
        return ", ".join(one.sql(dialect=self._dialect, comments=False) for one in nodes)


def _is_clean(text: str, sql: str, dialect: str) -> bool:
    """Whether no constant is left in a shape but places of the SELECT list and units of time.

    The parser keeps some constants in forms of its own, or as names; a text in which one is left
    is folded by its words.
    """
    try:
        tokens: list[Token] = sqlglot.tokenize(text, dialect=dialect)
        given: list[Token] = sqlglot.tokenize(sql, dialect=dialect)
    except (SqlglotError, ValueError):
        return False
    constants = {one.text.upper() for one in given if one.token_type in _CONSTANTS}
    words = {one.text.upper() for one in given if one.token_type not in _CONSTANTS}
    hidden = constants - words - _UNITS
    return not any(
        _is_left(one) if one.token_type in _CONSTANTS else one.text.upper() in hidden
        for one in tokens
    )


def _is_left(constant: Token) -> bool:
    if constant.token_type is TokenType.NUMBER:
        return not constant.text.isdigit() or len(constant.text) > _MOST_PLACE
    return constant.text.upper() not in _UNITS


def _is_constant(node: exp.Expr) -> bool:
    if isinstance(node, exp.Neg):
        return _is_constant(node.this)
    strings = (exp.Literal, exp.Boolean, exp.HexString, exp.BitString, exp.ByteString)
    return isinstance(node, (*strings, exp.RawString, exp.National, exp.UnicodeString))


def _is_all_constants(nodes: list[exp.Expr]) -> bool:
    return bool(nodes) and all(_is_constant(one) for one in nodes)


def _words(sql: str, dialect: str) -> tuple[str, tuple[str, ...]]:
    """Return the tokens of a text that is no statement, without what may be a constant; and that.

    A text that was cut may end within quotes.
    """
    for tail in _TAILS:
        try:
            tokens: list[Token] = sqlglot.tokenize(sql + tail, dialect=dialect)
        except (SqlglotError, ValueError):
            if len(sql) < MOST_TEXT:
                break
            continue
        words = [_HIDDEN if one.token_type in _CONSTANTS else one.text.lower() for one in tokens]
        constants = (one.text for one in tokens if one.token_type in _CONSTANTS)
        text = _HIDDEN_LIST.sub(_HIDDEN, " ".join(words))
        return text, tuple(islice(constants, MOST_CONSTANTS))
    return "", ()
