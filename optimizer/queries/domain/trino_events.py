"""Reads Trino's events of completed queries: the Iceberg tables that were scanned, with filters.

The plan is read, not the text: in it views are resolved, filters are pushed down and columns have
the names of their table. The event is that of Trino 476's HTTP event listener.
"""

import base64
import binascii
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from optimizer.advice.domain.filters import Filter, is_name
from optimizer.cubes.domain.readers import Engine
from optimizer.queries.domain.query_record import QueryRecord, TableScan
from optimizer.queries.domain.trino_filters import Names, domain_kind, predicate_filters
from portal.lake.errors import RuleViolation

MOST_SCANS = 256
"""Places of one query at which tables are read."""
MOST_TEXT = 2 * 1024**2
MOST_NAME = 200
MOST_SECONDS = 31 * 86_400
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_READING = {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"}
"""Kinds of statements whose scans are queries; ALTER TABLE .. EXECUTE is upkeep."""


@dataclass(slots=True)
class _Read:
    """What the event says was read of a table, in all its places together."""

    n_bytes: int = 0
    n_rows: int = 0
    n_all_rows: int = 0
    n_files: int = 0

    def parted(self, scan: TableScan, n_places: int) -> TableScan:
        share = self.n_rows / n_places / self.n_all_rows if self.n_all_rows else None
        return replace(
            scan,
            n_bytes=self.n_bytes // n_places,
            share=None if share is None else min(1.0, share),
            n_files=self.n_files,
        )


def read_event(event: Mapping[str, Any], *, catalog: str) -> QueryRecord:
    """Read what a query scanned of the tables of one of Trino's catalogs.

    A failed query and one that is no query (DDL, EXPLAIN, upkeep) have no scans. A plan that
    cannot be read, of another version or cut off, is said in `unread`.

    Raises:
        RuleViolation: `queries.event`, it is no event of a completed query.
    """
    metadata, context = _mapping(event, "metadata"), _mapping(event, "context")
    query_id = metadata.get("queryId")
    if not isinstance(query_id, str) or not _ID.fullmatch(query_id):
        raise RuleViolation(
            "queries.event",
            "This is no event of a completed query: it has no `metadata.queryId`. Send what the "
            "HTTP event listener of Trino sends with http-event-listener.log-completed=true.",
        )
    known = _about(event, QueryRecord(Engine.TRINO, query_id, is_failed=False, catalog=catalog))
    if metadata.get("queryState") != "FINISHED":
        return replace(known, is_failed=True)
    read = _read(event, catalog) if context.get("queryType") in _READING else {}
    if not read:
        return known
    try:
        scans = list(_scans(_plan(metadata), catalog))
    except RuleViolation as error:
        return replace(known, unread=error.message)
    times = Counter(one.place for one in scans)
    if missing := sorted(".".join(one) for one in read.keys() - times.keys()):
        unread = f"The plan does not show where {', '.join(missing)} is read."
        return replace(known, unread=unread[:1000])
    # Which of its places read how much is not in the event: each has its part.
    parted = tuple(
        read[one.place].parted(one, times[one.place]) if one.place in read else one for one in scans
    )
    return replace(known, scans=parted, names_all_tables=_names_all(event, catalog))


def _names_all(event: Mapping[str, Any], catalog: str) -> bool:
    """Whether a query reads Iceberg tables of the catalog and nothing else, and writes nothing."""
    said = _mapping(event, "ioMetadata")
    inputs = said.get("inputs")
    return (
        _mapping(event, "context").get("queryType") == "SELECT"
        and not said.get("output")
        and isinstance(inputs, list)
        and all(
            isinstance(one, Mapping)
            and one.get("catalogName") == catalog
            and one.get("connectorName") == "iceberg"
            for one in inputs
        )
    )


def _about(event: Mapping[str, Any], record: QueryRecord) -> QueryRecord:
    """Add what the event says besides of a query: its text, who asked, and what it took."""
    context, statistics = _mapping(event, "context"), _mapping(event, "statistics")
    is_ours = context.get("catalog") == record.catalog
    return replace(
        record,
        text=_text(_mapping(event, "metadata").get("query"), MOST_TEXT),
        default_db=_text(context.get("schema"), MOST_NAME).lower() if is_ours else "",
        user=_text(context.get("user"), MOST_NAME),
        application=_text(context.get("source"), MOST_NAME),
        ended_at=_time(event.get("endTime")),
        seconds=_seconds(statistics.get("wallTime")),
        n_bytes=_number(statistics.get("physicalInputBytes")),
    )


def _text(said: object, most: int) -> str:
    return said[:most] if isinstance(said, str) else ""


def _time(said: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(said) if isinstance(said, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def _seconds(said: object) -> float | None:
    """Return a time that was taken; None where it is none, or longer than a month."""
    is_number = isinstance(said, int | float) and not isinstance(said, bool)
    return (
        float(said) if is_number and isinstance(said, int | float) and 0 <= said < 2.7e6 else None
    )


def _read(event: Mapping[str, Any], catalog: str) -> dict[tuple[str, str], _Read]:
    """Return what was read of each Iceberg table of the catalog."""
    found: defaultdict[tuple[str, str], _Read] = defaultdict(_Read)
    inputs = _mapping(event, "ioMetadata").get("inputs")
    for one in inputs if isinstance(inputs, list) else []:
        if not isinstance(one, Mapping) or one.get("catalogName") != catalog:
            continue
        table = str(one.get("table", ""))
        # What has a dollar sign is a table of Iceberg's metadata.
        if one.get("connectorName") == "iceberg" and "$" not in table:
            sums, about = found[str(one.get("schema", "")), table], _mapping(one, "connectorInfo")
            sums.n_bytes += _number(one.get("physicalInputBytes"))
            sums.n_rows += _number(one.get("physicalInputRows"))
            sums.n_all_rows = _number(about.get("totalRecords"))
            sums.n_files = _number(about.get("totalDataFiles"))
    return dict(found)


def _number(said: object) -> int:
    """Return a count, which Trino writes as a number or as its digits; 0 for all else."""
    if isinstance(said, str) and said.isdecimal() and len(said) < 20:
        said = int(said)
    is_count = isinstance(said, int) and not isinstance(said, bool) and 0 <= said < 2**62
    return said if is_count and isinstance(said, int) else 0


def _plan(metadata: Mapping[str, Any]) -> Any:
    payload = metadata.get("payload")
    if not isinstance(payload, str):
        raise RuleViolation("queries.plan", "The event has no plan (`metadata.payload`).")
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        raise RuleViolation("queries.plan", "The plan is no JSON, or is nested too deep.") from None


def _scans(plan: object, catalog: str) -> Iterator[TableScan]:
    """Give each scan of the catalog's Iceberg tables, with the filter that stands upon it."""
    n_scans = 0
    left: list[tuple[object, object]] = [(plan, None)]
    while left:
        node, predicate = left.pop()
        if isinstance(node, list):
            left += [(one, None) for one in node]
        if not isinstance(node, Mapping):
            continue
        kind = node.get("@type")
        if kind == "tableScan":
            if (scan := _scan(node, predicate, catalog)) is not None:
                n_scans += 1
                if n_scans > MOST_SCANS:
                    message = f"The plan reads tables in more than {MOST_SCANS} places."
                    raise RuleViolation("queries.plan", message)
                yield scan
            continue
        upon = node.get("predicate") if kind == "filter" else None
        left += [
            (value, upon if name == "source" else None)
            for name, value in node.items()
            if isinstance(value, Mapping | list)
        ]


def _scan(node: Mapping[str, Any], predicate: object, catalog: str) -> TableScan | None:
    table = _mapping(node, "table")
    handle = _mapping(table, "connectorHandle")
    is_ours = str(table.get("catalogHandle", "")).partition(":")[0] == catalog
    is_iceberg = str(handle.get("@type", "")).startswith("iceberg:")
    if not is_ours or not is_iceberg or handle.get("tableType") != "DATA":
        return None
    names = _names(_mapping(node, "assignments"))
    filters = [*_enforced(handle), *predicate_filters(predicate, names)]
    place = str(handle.get("schemaName", "")), str(handle.get("tableName", ""))
    return TableScan(*place, tuple(dict.fromkeys(filters))) if all(map(is_name, place)) else None


def _enforced(handle: Mapping[str, Any]) -> Iterator[Filter]:
    """Give the filters that the connector keeps by itself, which no predicate repeats."""
    domains = _mapping(handle, "enforcedPredicate").get("columnDomains")
    for one in domains if isinstance(domains, list) else []:
        if not isinstance(one, Mapping):
            continue
        if (name := _column(_mapping(one, "column"))) is not None:
            yield Filter(name, domain_kind(_mapping(one, "domain")))


def _names(assignments: Mapping[str, Any]) -> Names:
    """Return columns by symbol; keys are the symbol and its type, in base64."""
    found = {}
    for key, handle in assignments.items():
        try:
            symbol = base64.b64decode(key.partition(":")[0], validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        name = _column(handle) if isinstance(handle, Mapping) else None
        if name is not None:
            found[symbol] = name
    return found


def _column(handle: Mapping[str, Any]) -> str | None:
    """Return a column's dotted name; of a nested one the handle has the ids of its path."""
    identity = _mapping(handle, "baseColumnIdentity")
    parts, path = [identity.get("name")], handle.get("path")
    for wanted in path if isinstance(path, list) else []:
        children = identity.get("children")
        inner = [
            one
            for one in (children if isinstance(children, list) else [])
            if isinstance(one, Mapping) and one.get("id") == wanted
        ]
        if not inner:
            return None
        identity = inner[0]
        parts.append(identity.get("name"))
    if not all(isinstance(one, str) and one and not one.startswith("$") for one in parts):
        return None
    name = ".".join(map(str, parts)).lower()
    return name if is_name(name) else None


def _mapping(node: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = node.get(name)
    return found if isinstance(found, Mapping) else {}
