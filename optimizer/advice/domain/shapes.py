"""Folds queries that differ in constants alone into one shape, in which no constant is left.

A page may show a shape to everybody who sees its tables; constants may be a customer's number.
"""

import hashlib
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

MOST_TEXT = 200_000
"""Characters of a query that are read; a longer one is folded by its tokens up to here."""
MOST_SHOWN = 20_000
_HIDDEN = "?"
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


def shape_of(sql: str, dialect: str) -> Shape:
    """Return the shape of a query; any text has one, also one that is no SQL."""
    if len(sql) <= MOST_TEXT:
        try:
            trees = [one for one in sqlglot.parse(sql, dialect=dialect) if one is not None]
            if command := next((one for one in trees if one.find(exp.Command)), None):
                # The parser keeps all but the first word of it as it was written.
                return _shape(f"{command.name.lower()} {_HIDDEN}", dialect, is_parsed=False)
            text = "; ".join(_folded(one).sql(dialect=dialect, comments=False) for one in trees)
        except (SqlglotError, RecursionError, ValueError):
            text = ""
        if text:
            return _shape(text, dialect, is_parsed=True)
    return _shape(_words(sql[:MOST_TEXT], dialect), dialect, is_parsed=False)


def _shape(text: str, dialect: str, *, is_parsed: bool) -> Shape:
    digest = hashlib.sha256(f"{dialect}\0{text}".encode()).hexdigest()[:32]
    return Shape(digest, text[:MOST_SHOWN], is_parsed)


def _folded(tree: exp.Expr) -> exp.Expr:
    """Return the tree with a placeholder for each constant, and one for each list of them."""
    return tree.transform(_hide)


def _hide(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Identifier):
        # Engines of the lake find names whatever their case is.
        return exp.to_identifier(node.name.lower(), quoted=bool(node.args.get("quoted")))
    if isinstance(node, _LISTS) and _is_all_constants(node.expressions):
        node.set("expressions", [exp.Placeholder()])
        return node
    if isinstance(node, exp.Values):
        node.set("expressions", [exp.Tuple(expressions=[exp.Placeholder()])])
        return node
    if _is_constant(node) and not isinstance(node.parent, _PLACES):
        return exp.Placeholder()
    return node


def _is_constant(node: exp.Expr) -> bool:
    if isinstance(node, exp.Neg):
        return _is_constant(node.this)
    strings = (exp.Literal, exp.Boolean, exp.HexString, exp.BitString, exp.ByteString)
    return isinstance(node, (*strings, exp.RawString, exp.National, exp.UnicodeString))


def _is_all_constants(nodes: list[exp.Expr]) -> bool:
    return bool(nodes) and all(_is_constant(one) for one in nodes)


def _words(sql: str, dialect: str) -> str:
    """Return the tokens of a text that is no statement, without what may be a constant."""
    try:
        tokens: list[Token] = sqlglot.tokenize(sql, dialect=dialect)
    except (SqlglotError, ValueError):
        return ""
    words = [_HIDDEN if one.token_type in _CONSTANTS else one.text.lower() for one in tokens]
    return " ".join(words)
