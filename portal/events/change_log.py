"""Reads from the metastore's notification log what changed since a known event.

The events name tables and, where they can be read, partitions. An event that cannot be read counts
for its whole table. Jobs use it, so it needs no Django.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from pymetastore.hive_metastore.ttypes import NotificationEvent

from portal.events.names import former_name, partitions_named
from portal.lake.errors import ExternalFailure, RuleViolation
from portal.spark.registered import Changes

_PAGE = 1_000
_MAX_EVENTS = 200_000
# With more changed tables than this, everything is read again.
_MOST_TABLES = 500
_READ_ONLY = frozenset({"OPEN_TXN", "COMMIT_TXN", "ABORT_TXN", "ALLOC_WRITE_ID_EVENT"})


class NotificationLog(Protocol):
    """The part of a metastore connection that reads its log."""

    def current_notification_id(self) -> int:
        """Return the newest id."""

    def notifications_after(self, event_id: int, limit: int) -> list[Any]:
        """Return the next events, oldest first."""


@dataclass(frozen=True, slots=True)
class Touched:
    """A database (`table` empty), table (`partition` empty) or partition that changed."""

    db: str
    table: str
    partition: str
    event_id: int


def touched_since(metastore: NotificationLog, event_id: int) -> list[Touched]:
    """Read the events after `event_id`, each thing once.

    Raises:
        ExternalFailure: the log went backwards or is too long; the scan must be run again.
    """
    if metastore.current_notification_id() < event_id:
        raise _unusable("The metastore's notification log went backwards during the scan.")
    found: dict[tuple[str, str, str], Touched] = {}
    last = event_id
    while events := metastore.notifications_after(last, _PAGE):
        last = max(event.eventId for event in events)
        for item in touched_by(events):
            found.setdefault((item.db, item.table, item.partition), item)
        if last - event_id > _MAX_EVENTS:
            raise _unusable("More than 200,000 events came in during the scan.")
    return list(found.values())


def touched_by(events: Iterable[NotificationEvent]) -> Iterator[Touched]:
    """Yield what each event changed; a renamed table or partition by both its names."""
    for event in events:
        if event.eventType in _READ_ONLY or not event.dbName:
            continue
        partitions, former = _named(event)
        for partition in partitions or ("",):
            yield Touched(event.dbName, event.tableName or "", partition, event.eventId)
        if former is not None:
            yield Touched(*former, "", event.eventId)


class ChangeLog:
    """What changed in the metastore since the last look, by its notification log."""

    def __init__(self, metastore: NotificationLog) -> None:
        self._metastore = metastore
        self._position = metastore.current_notification_id()

    def changes(self) -> Changes | None:
        """Return what changed since the last call; None: the log does not say, read everything."""
        newest = self._metastore.current_notification_id()
        if not newest:
            return None  # nothing was ever logged: no listener writes the log
        if newest == self._position:
            return Changes()
        since, self._position = self._position, newest
        try:
            touched = touched_since(self._metastore, since)
        except ExternalFailure as error:
            if error.code != "scan.events":
                raise
            return None
        tables: dict[tuple[str, str], set[str]] = {}
        whole = {(one.db, one.table) for one in touched if one.table and not one.partition}
        for one in touched:
            if one.table:
                names = tables.setdefault((one.db, one.table), set())
                names |= {one.partition} if (one.db, one.table) not in whole else set()
        if len(tables) > _MOST_TABLES:
            return None
        return Changes(databases=any(not one.table for one in touched), tables=tables)


def _named(event: NotificationEvent) -> tuple[tuple[str, ...], tuple[str, str] | None]:
    """Return the partitions that an event is about, none is the whole table, and a former name."""
    try:
        message = json.loads(event.message or "")
        return partitions_named(message), former_name(message)
    except (RuleViolation, LookupError, TypeError, ValueError, AttributeError):
        return (), None


def _unusable(message: str) -> ExternalFailure:
    return ExternalFailure(
        "scan.events", f"{message} Run the scan again.", service="metastore", retryable=True
    )
