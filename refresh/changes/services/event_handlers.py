"""Handles metastore events, and events that were missed.

Both write rows only: they run in the transaction that moves the follower's position, so an event
is either taken in with all it means, or still to come.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from portal.events.messages import LakeEvent
from portal.events.registry import Missed, Subscriber, subscribe
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from refresh.changes.domain.changes import EVENT_TYPES, Cause, heard
from refresh.changes.services.record_changes import Change, queue, record_table_changes
from refresh.core.selectors.names import is_shown
from refresh.models import RefreshTarget, WatchedTable

NAME = "refresh"
HOT = timedelta(days=7)


def on_event(event: LakeEvent, now: datetime) -> None:
    """Note what one notification means for the tables that show its Hive table.

    Raises:
        RuleViolation: `name.grammar`, a name on which the portal does not act; the follower parks
            that table with an alarm that says so.
    """
    on_events([event], now)


def on_events(events: Sequence[LakeEvent], now: datetime) -> None:
    """Note what many notifications mean, all or none of them."""
    shown = {lake for lake in {event.lake for event in events} if is_shown(lake)}
    meant = (change for event in events if event.lake in shown for change in _meant(event))
    record_table_changes(meant, now=now)


def _meant(event: LakeEvent) -> Iterator[Change]:
    whole, partitions = heard(event.type, event.partitions)
    lake = LakeId(event.lake)
    yield Change(TableName(lake, event.db, event.table), Cause.EVENT, whole, partitions)
    if event.former is not None:
        # Whoever has the old name in a cache would go on answering for a table that is no more.
        yield Change(TableName(lake, *event.former), Cause.EVENT, whole=True)


def on_missed(missed: Missed, now: datetime) -> None:
    """Refresh what is hot among the tables of which events were missed.

    From now on is known again what changes; what was cached before is shown as unknown until it
    was renewed. Colder tables wait for the sweep, or for somebody who asks.
    """
    rows = WatchedTable.objects.filter(lake=missed.lake)
    if missed.db:
        rows = rows.filter(db=missed.db)
    if missed.table:
        rows = rows.filter(table=missed.table)
    rows.update(tracked_since=now)
    hot = rows.filter(changed_at__gte=now - HOT)
    hot.update(table_changed_at=now)
    queue(RefreshTarget.objects.filter(watched__in=hot), is_urgent=False, now=now)


def register_subscriber() -> None:
    """Tell the follower what the room wants of it."""
    subscribe(Subscriber(NAME, EVENT_TYPES, on_event, on_missed, on_events))
