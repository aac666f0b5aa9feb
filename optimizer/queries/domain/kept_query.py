"""The form in which a query is kept: its shape, hashes of its constants, and what it read.

What is written here goes to the portal's disk and into a table of the lake, which many may read:
nothing but `constants` may hold a constant, and it is empty unless every table's policy allows it.
"""

import hashlib
import hmac
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from optimizer.advice.domain.shapes import Parted, Shape
from optimizer.queries.domain.query_record import QueryRecord, TableScan

MOST_LINE = 512 * 1024
"""Bytes of a query's line; a longer one is not kept."""
MOST_FILLED = 16 * 1024
"""Letters of all constants of a query that are kept in clear; those of a larger one are not."""
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class HiddenConstants:
    """A query's shape with its constants hashed; what is remembered of a text that comes again."""

    shape: Shape
    hashes: tuple[str, ...]
    filled: tuple[str, ...] | None
    """In clear, for each `?` of the shape; None where they are too long, or not known."""


def hidden(parted: Parted, key: bytes) -> HiddenConstants:
    """Hash the constants of a query with a key; equal constants have equal hashes."""
    filled = parted.filled
    if filled is not None and sum(map(len, filled)) > MOST_FILLED:
        filled = None
    return HiddenConstants(parted.shape, tuple(hashed(parted.constants, key)), filled)


def hashed(constants: Iterable[str], key: bytes) -> Iterable[str]:
    """Return each constant's hash; without the key nobody can try which constant has it."""
    return (
        hmac.new(key, one.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:_DIGITS]
        for one in constants
    )


def shape_line(shape: Shape) -> bytes:
    """Return the line that says a shape's text, once in a segment."""
    return _line({"shape": shape.digest, "text": shape.text, "is_parsed": shape.is_parsed})


def query_line(
    query: QueryRecord, said: HiddenConstants, *, keeps_constants: bool, now: datetime
) -> bytes:
    """Return the line of a query; `now` is when the portal took it."""
    return _line(
        {
            "shape": said.shape.digest,
            "query_id": query.query_id,
            "engine": query.engine.value,
            "ended_at": _time(query.ended_at),
            "took_at": _time(now),
            "user": query.user,
            "application": query.application,
            "seconds": _finite(query.seconds),
            "n_bytes": query.n_bytes,
            "failed": query.is_failed,
            "hashes": list(said.hashes),
            "constants": list(said.filled) if keeps_constants and said.filled is not None else None,
            "names_all_tables": query.names_all_tables,
            "tables": [_table(one) for one in query.scans],
        }
    )


def _table(scan: TableScan) -> dict[str, Any]:
    return {
        "db": scan.db,
        "table": scan.table,
        "filters": [{"column": one.column, "kind": one.kind.value} for one in scan.filters],
        "n_bytes": scan.n_bytes,
        "n_files": scan.n_files,
        "share": _finite(scan.share),
    }


def _finite(number: float | None) -> float | None:
    """Return a number that JSON has."""
    return number if number is not None and math.isfinite(number) else None


def _time(at: datetime | None) -> str | None:
    try:
        return None if at is None else at.astimezone(UTC).isoformat(timespec="milliseconds")
    except OverflowError:
        return None  # the first or the last day that there is


def _line(said: dict[str, Any]) -> bytes:
    # Escaped: half a character, which JSON can say, has no bytes of its own.
    return json.dumps(said, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"
