"""Keeps a query that was taken in for the lake's table, without constants where a policy says so.

Nothing is kept unless lakes.json names a table for it (`recorded_queries`). The constants are taken
out before anything is written. A text that comes again is not parsed again.
"""

import hashlib
from collections import OrderedDict
from datetime import datetime
from threading import Lock

from django.utils.crypto import salted_hmac

from optimizer.advice.domain.shapes import parted
from optimizer.policies.domain.policy import QueryConstants
from optimizer.policies.selectors.policies import policies_of
from optimizer.queries.domain.kept_query import (
    MOST_LINE,
    HiddenConstants,
    hidden,
    query_line,
    shape_line,
)
from optimizer.queries.domain.query_record import QueryRecord
from optimizer.queries.services.spool import spool_append
from portal.access.lakes import get_lake

_KEY = "optimizer.queries.constants"
_REMEMBERED = 500
"""Texts; each has up to 40 KiB of what is remembered, most have one."""


class _Remembered:
    """What came of the last texts, by their digests: dashboards and storms send the same ones."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: OrderedDict[bytes, HiddenConstants] = OrderedDict()

    def of(self, text: str, dialect: str, key: bytes) -> HiddenConstants:
        """Return the shape and the hashes of a text."""
        said = f"{dialect}\0{text}".encode("utf-8", "surrogatepass")
        name = hashlib.sha256(key + said).digest()
        with self._lock:
            if (known := self._found.get(name)) is not None:
                self._found.move_to_end(name)
                return known
        found = hidden(parted(text, dialect), key)
        with self._lock:
            self._found[name] = found
            if len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
        return found


_remembered = _Remembered()


def keeps_queries(lake: str) -> bool:
    """Whether the lake names a table for its recorded queries."""
    return bool(get_lake(lake).recorded_queries)


def query_keep(lake: str, query: QueryRecord, *, now: datetime) -> bool:
    """Append a query to this process's segment; False where there is no room for it.

    Called once a query: each call adds a line.
    """
    found = _remembered.of(query.text, query.engine.value, constants_key())
    may_keep = found.filled is not None and bool(found.filled)
    line = query_line(query, found, keeps_constants=may_keep and _is_allowed(lake, query), now=now)
    if len(line) > MOST_LINE:
        return False
    return spool_append(
        lake, found.shape.digest, shape_line=shape_line(found.shape), line=line, now=now
    )


def constants_key() -> bytes:
    """Return the key of the hashes of constants; with another SECRET_KEY they are others."""
    return salted_hmac(_KEY, "", algorithm="sha256").digest()


def _is_allowed(lake: str, query: QueryRecord) -> bool:
    """Whether the policies of all tables of a query let its constants be kept in clear.

    Of a query whose tables are not all known none are.
    """
    if not query.names_all_tables or not query.scans:
        return False
    policies = policies_of(lake)
    return all(
        policies.of(one.db, one.table).policy.query_constants is QueryConstants.KEPT
        for one in query.scans
    )
