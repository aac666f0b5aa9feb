"""Handles metastore events: tables made, changed, renamed and dropped."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction

from portal.access.lakes import get_lake
from portal.catalog.domain.entries import TableChange
from portal.catalog.domain.events import EVENT_TYPES, table_change
from portal.catalog.models import Table, VacatedName
from portal.catalog.services.entries import entries_locked, entries_write
from portal.catalog.services.facts import fitted_facts
from portal.events.messages import LakeEvent
from portal.events.registry import Missed, Subscriber, subscribe

NAME = "catalog"


def on_event(event: LakeEvent, now: datetime) -> None:
    """Take one event in.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: its message has another form; the
            follower parks the table until a scan has read it.
    """
    on_events([event], now)


def on_events(events: Sequence[LakeEvent], now: datetime) -> None:
    """Take many events in by a fixed number of statements; taken in again they change nothing."""
    changes: defaultdict[str, list[TableChange]] = defaultdict(list)
    for event in events:
        name = (event.db, event.table)
        change = table_change(event.id, event.type, name, event.message, former=event.former)
        if change is not None:
            changes[event.lake].append(change)
    for lake, some in changes.items():
        changes_record(lake, some, now=now)


def changes_record(lake: str, changes: Sequence[TableChange], *, now: datetime) -> int:
    """Write what events of one lake did, all or nothing; returns how many tables changed."""
    placed = [
        replace(one, after=fitted_facts(one.after, get_lake(lake))) if one.after else one
        for one in changes
    ]
    names = {(one.db, one.name) for one in placed} | {one.former for one in placed if one.former}
    with transaction.atomic():
        uuids = {one.after.uuid for one in placed if one.after}
        entries = entries_locked(lake, names, uuids=uuids)
        for change in placed:
            entries.apply(change, at=now)
        return entries_write(lake, entries, at=now)


def on_missed(missed: Missed, now: datetime) -> None:
    """Forget which events decided about a lake's names, where any may have been missed.

    The log may have begun again, with numbers that would all seem old. The scan that `lifecycle`
    asks for then reads every table.
    """
    if missed.db:
        return
    Table.objects.filter(lake=missed.lake, is_living=True).update(event_id=0)
    VacatedName.objects.filter(lake=missed.lake).delete()


def register_subscriber() -> None:
    """Tell the follower which events the catalog takes in."""
    subscribe(Subscriber(NAME, EVENT_TYPES, on_event, on_missed, on_events))
