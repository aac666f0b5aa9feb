"""Reads SQL within limits, so that hostile text is refused and never slow."""

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from portal.lake.errors import RuleViolation

DIALECTS = {"trino": "Trino", "spark": "Spark", "starrocks": "StarRocks", "doris": "Doris"}
MOST_TEXT = 100_000
MOST_TOKENS = 20_000
MOST_NESTED = 40
MOST_SELECTS = 100
_OPEN = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSE = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}


def read_query(sql: str, dialect: str) -> exp.Query:
    """Parse one SELECT.

    Raises:
        RuleViolation: `rewrite.dialect`, `rewrite.long`, `rewrite.deep`, `rewrite.syntax`,
            `rewrite.no_select`.
    """
    if dialect not in DIALECTS:
        raise RuleViolation(
            "rewrite.dialect",
            f"{dialect!r} is no dialect that queries are rewritten for. Name one of: "
            f"{', '.join(DIALECTS)}.",
        )
    if len(sql) > MOST_TEXT:
        raise RuleViolation(
            "rewrite.long",
            f"The query has {len(sql):,} characters; at most {MOST_TEXT:,} are read.",
        )
    try:
        check_size(sql, dialect)
        trees = [one for one in sqlglot.parse(sql, dialect=dialect) if one is not None]
    except RecursionError:
        raise _deep() from None
    except (SqlglotError, ValueError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RuleViolation(
            "rewrite.syntax", f"The query cannot be read as {DIALECTS[dialect]}: {first[:300]}"
        ) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise RuleViolation("rewrite.no_select", "Give one SELECT; nothing else is rewritten.")
    return trees[0]


def check_size(sql: str, dialect: str, *, most_tokens: int = MOST_TOKENS) -> None:
    """Refuse a text that would take long to parse.

    Raises:
        RuleViolation: `rewrite.long`, `rewrite.deep`. SqlglotError: it has no tokens of SQL.
    """
    depth = deepest = selects = 0
    tokens = sqlglot.tokenize(sql, dialect=dialect)
    for token in tokens:
        selects += token.token_type is TokenType.SELECT
        depth += (token.token_type in _OPEN) - (token.token_type in _CLOSE)
        deepest = max(deepest, depth)
    if deepest > MOST_NESTED:
        raise _deep()
    if len(tokens) > most_tokens or selects > MOST_SELECTS:
        raise RuleViolation(
            "rewrite.long",
            f"The query has {len(tokens):,} words and {selects:,} SELECTs; at most "
            f"{most_tokens:,} and {MOST_SELECTS:,} are read.",
        )


def _deep() -> RuleViolation:
    return RuleViolation(
        "rewrite.deep", f"The query is nested too deeply; at most {MOST_NESTED} levels are read."
    )
