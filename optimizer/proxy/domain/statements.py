"""Decides from a request's headers and text whether it may be rewritten at all."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from optimizer.proxy.domain.uses import CubeUse

MOST_REWRITTEN = 100_000
"""A longer statement (in bytes) is passed on without being read."""
_SELECT = re.compile(rb"\s*(?:(?:--[^\n]*\n|/\*.*?\*/)\s*)*\(*\s*(?:select|with)\b", re.I | re.S)
_NONE = "NONE"


@dataclass(frozen=True)
class Statement:
    """A query that may be rewritten, with the session that its names are read in."""

    sql: str
    catalog: str
    schema: str
    user: str = ""
    """As the client names them; Trino decides whether that is so."""


@dataclass(frozen=True)
class Rewriting:
    """A statement's new text, and what it has from cubes."""

    sql: str
    uses: tuple[CubeUse, ...] = ()
    reason: str = ""
    """Why the text is as it was; for the client alone, since it may hold constants of the query."""


class Rewriter(Protocol):
    """Something that may know a cheaper query with the same result."""

    name: str

    def rewrite(self, statement: Statement) -> Rewriting | None:
        """Return the query to be run instead; any error means "as it is".

        None or the same text mean that too, the latter with a reason.
        """
        ...


def statement_of(headers: Mapping[str, str], body: bytes) -> Statement | None:
    """Return the statement if it is one that may be rewritten; `headers` by lower-case names.

    Not in a transaction, which has snapshots of its own; not compressed; nothing but queries:
    EXECUTE, EXPLAIN, DDL, writes and SET are Trino's alone.
    """
    if not body or len(body) > MOST_REWRITTEN or not _SELECT.match(body):
        return None
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        return None
    if headers.get("x-trino-transaction-id", _NONE).strip().upper() != _NONE:
        return None
    try:
        sql = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    catalog, schema, user = (
        headers.get(f"x-trino-{name}", "").strip() for name in ("catalog", "schema", "user")
    )
    return Statement(sql, catalog, schema, user)
