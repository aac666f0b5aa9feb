"""Reads what the listener in a Spark driver tells of queries, as `QueryListener` writes it.

The listener has read the plans: scans with the kinds of their filters, and what each SELECT groups,
aggregates and joins. Nothing of it is trusted; what is wrong in one query leaves the others alone.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from optimizer.advice.domain.asked import Aggregate, Asked, JoinKey
from optimizer.advice.domain.filters import Filter, FilterKind, is_name
from optimizer.cubes.domain.readers import Engine
from optimizer.queries.domain.query_record import QueryRecord, TableScan
from portal.lake.errors import RuleViolation

MOST_QUERIES = 200
MOST_PLACES = 256
"""Places of one query at which tables are read."""
MOST_OF_A_KIND = 200
"""Filters, groups, aggregates or keys of one place."""
MOST_TEXT = 200_000
MOST_NAME = 200
MOST_SECONDS = 31 * 86_400
_MOST = 2**62
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_STATES = {"FINISHED", "FAILED"}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SparkApplication:
    """The driver that tells."""

    id: str
    name: str = ""
    user: str = ""
    version: str = ""
    has_scan_reports: bool = False
    """Whether its catalog posts Iceberg's ScanReports, so that scans are summed already."""


@dataclass(frozen=True, slots=True)
class SparkBatch:
    """Queries of one driver and catalog."""

    queries: tuple[QueryRecord, ...]
    n_dropped: int
    """Queries that the driver lost, and did not tell of before."""
    dropped_id: str
    """Names this number of lost queries, so that it counts once."""


def read_batch(
    queries: Sequence[Mapping[str, Any]],
    *,
    application: SparkApplication,
    catalog: str,
    dropped: tuple[int, int] = (0, 0),
) -> SparkBatch:
    """Read queries of a driver; `dropped` is how many it had lost as it last told, and now.

    A query that cannot be read is counted: it says why in `unread`.
    """
    before, now = dropped
    return SparkBatch(
        tuple(read_query(one, application=application, catalog=catalog) for one in queries),
        max(0, now - before),
        _id("dropped", application.id, str(now), catalog),
    )


def read_query(
    said: Mapping[str, Any], *, application: SparkApplication, catalog: str
) -> QueryRecord:
    """Read a query; its id is that of the driver with the number that it has there."""
    try:
        number = _whole(said.get("execution"), "execution")
        known = QueryRecord(
            Engine.SPARK,
            _id(application.id, str(number), catalog),
            is_failed=said.get("state") == "FAILED",
            has_own_reports=application.has_scan_reports,
            catalog=catalog,
            user=application.user[:MOST_NAME],
            application=application.name[:MOST_NAME],
        )
    except RuleViolation as error:
        unread = QueryRecord(Engine.SPARK, _id("unread", _written(said)), is_failed=False)
        return replace(unread, catalog=catalog, unread=error.message)
    try:
        return _read(said, known)
    except RuleViolation as error:
        return replace(known, unread=error.message)


def _read(said: Mapping[str, Any], known: QueryRecord) -> QueryRecord:
    if _text(said.get("state"), "state", MOST_NAME) not in _STATES:
        raise _refused("state")
    read = replace(
        known,
        text=_text(said.get("text"), "text", MOST_TEXT),
        default_db=_text(said.get("default_db"), "default_db", MOST_NAME).lower(),
        ended_at=_time(said.get("ended_at")),
        seconds=_seconds(said.get("seconds")),
        n_bytes=_whole(said.get("bytes", 0), "bytes"),
        unread=_text(said.get("unread"), "unread", 1000),
    )
    if read.is_failed or read.unread:
        return read
    return replace(
        read,
        scans=_listed(said.get("scans"), "scans", _scan, MOST_PLACES),
        asked=_listed(said.get("asked"), "asked", _asked, MOST_PLACES),
        names_all_tables=_flag(said.get("names_all_tables"), "names_all_tables"),
    )


def _scan(said: object) -> TableScan:
    node = _mapping(said, "scans")
    n_read, n_skipped = (_whole(node.get(one, 0), one) for one in ("files", "skipped"))
    return TableScan(
        _name(node.get("db"), "db"),
        _name(node.get("table"), "table"),
        _filters(node),
        _whole(node.get("bytes", 0), "bytes"),
        n_files=n_read + n_skipped,
        n_skipped=n_skipped,
    )


def _asked(said: object) -> Asked:
    node = _mapping(said, "asked")
    return Asked(
        f"{_name(node.get('db'), 'db')}.{_name(node.get('table'), 'table')}",
        _filters(node),
        _listed(node.get("groups"), "groups", lambda one: _name(one, "groups")),
        _listed(node.get("aggregates"), "aggregates", _aggregate),
        _listed(node.get("joins"), "joins", _join),
        select=_whole(node.get("select", 0), "select"),
        unfit=_text(node.get("unfit"), "unfit", MOST_NAME),
    )


def _filters(node: Mapping[str, Any]) -> tuple[Filter, ...]:
    return _listed(node.get("filters"), "filters", _filter)


def _filter(said: object) -> Filter:
    column, kind = _texts(said, "filters", 2)
    try:
        return Filter(_name(column, "filters"), FilterKind(kind))
    except ValueError:
        raise _refused("filters") from None


def _aggregate(said: object) -> Aggregate:
    function, column = _texts(said, "aggregates", 2)
    found = _name(function, "aggregates")
    return Aggregate(found, _name(column, "aggregates") if column else "")


def _join(said: object) -> JoinKey:
    column, table, other = (_name(one, "joins") for one in _texts(said, "joins", 3))
    return JoinKey(column, table, other)


def _listed(
    said: object, name: str, read: Callable[[object], T], most: int = MOST_OF_A_KIND
) -> tuple[T, ...]:
    """Return each part that a list has, once; a list that is not there has none."""
    if said is None:
        return ()
    if not isinstance(said, list) or len(said) > most:
        raise _refused(name)
    found = [read(one) for one in said]
    # Places at which the same is read are as many queries of a table.
    return tuple(found if most == MOST_PLACES else dict.fromkeys(found))


def _texts(said: object, name: str, n: int) -> list[str]:
    if not isinstance(said, list) or len(said) != n:
        raise _refused(name)
    if not all(isinstance(one, str) for one in said):
        raise _refused(name)
    return said


def _name(said: object, name: str) -> str:
    """Return a name of a table or column, as Hive keeps them: in lower case."""
    if not isinstance(said, str) or not said or not is_name(said):
        raise _refused(name)
    return said.lower()


def _text(said: object, name: str, most: int) -> str:
    if said is None:
        return ""
    if not isinstance(said, str) or len(said) > most:
        raise _refused(name)
    return said


def _whole(said: object, name: str) -> int:
    if not isinstance(said, int) or isinstance(said, bool) or not 0 <= said < _MOST:
        raise _refused(name)
    return said


def _flag(said: object, name: str) -> bool:
    """Return what is said; an older listener says nothing, which is no."""
    if said is not None and not isinstance(said, bool):
        raise _refused(name)
    return said is True


def _seconds(said: object) -> float:
    is_number = isinstance(said, int | float) and not isinstance(said, bool)
    if not is_number or not isinstance(said, int | float) or not 0 <= said <= MOST_SECONDS:
        raise _refused("seconds")
    return float(said)


def _time(said: object) -> datetime:
    try:
        found = datetime.fromisoformat(_text(said, "ended_at", MOST_NAME))
    except ValueError:
        raise _refused("ended_at") from None
    if found.tzinfo is None:
        raise _refused("ended_at")
    return found


def _mapping(said: object, name: str) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise _refused(name)
    return said


def _written(said: Mapping[str, Any]) -> str:
    """Return all that is said, so that what has no number counts once as well."""
    try:
        return json.dumps(said, sort_keys=True)
    except RecursionError:
        return json.dumps(sorted(said))


def _id(*parts: str) -> str:
    text = ":".join(parts)
    if _ID.fullmatch(text):
        return text
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _refused(name: str) -> RuleViolation:
    return RuleViolation(
        "queries.spark",
        f"`{name}` of the query is not what QueryListener writes, or too long. Give drivers and "
        "portal the same release.",
    )
