"""Follows the event log exactly once, although any number of followers may run.

One lease row picks the leader. One transaction moves the position by compare-and-set, fenced by
the lease's epoch, and writes whatever the subscribers write. What is missed becomes an alarm row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import OperationalError, transaction

from portal.access.lakes import get_lake
from portal.connectors.metastore import Metastore
from portal.events.change_log import NotificationLog
from portal.events.gaps import AlarmKind, Step, next_step
from portal.events.messages import LakeEvent, read_event
from portal.events.models import EventAlarm, EventPosition, TableTouch
from portal.events.names import stray_places
from portal.events.registry import Missed, Subscriber, subscribers
from portal.lake.clock import seconds_behind
from portal.lake.errors import PortalError, RuleViolation, StaleState
from portal.runs.claims.leases import lease_release, lease_take, new_holder
from portal.upserts import conflict_key

BATCH = 500
# Of a table's partitions that were put outside it; the job that acts asks the metastore again.
STRAYS_KEPT = 100
LEASE = timedelta(seconds=60)
Clock = Callable[[], datetime]
HOLDER = new_holder()
"""This process, as the leases of its followers name it."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What one call did: whether we lead, how many events, whether more wait, what was missed."""

    leading: bool
    n_events: int = 0
    n_behind: int = 0
    alarms: tuple[str, ...] = ()


@dataclass(slots=True)
class _Batch:
    """What one transaction will write."""

    lake: str
    now: datetime
    alarms: list[EventAlarm] = field(default_factory=list)
    touched: dict[tuple[str, str], LakeEvent] = field(default_factory=dict)
    altered: dict[tuple[str, str], LakeEvent] = field(default_factory=dict)
    strays: dict[tuple[str, str], list[tuple[int, str]]] = field(default_factory=dict)
    gathered: dict[str, list[LakeEvent]] = field(default_factory=dict)


def follow_once(lake: str, clock: Clock, *, holder: str = HOLDER) -> Followed:
    """Take in the next events of a lake, if we lead; call again at once while `n_behind` is left.

    Safe to call from any number of processes; a second call with nothing new writes nothing but
    the time of the look.

    Raises:
        ExternalFailure: the metastore does not answer; nothing was moved.
    """
    epoch = lease_take(_lease(lake), holder=holder, length=LEASE, now=clock())
    if epoch is None:
        return Followed(leading=False)
    with Metastore.connect(get_lake(lake)) as metastore:
        return follow_log(lake, metastore, epoch=epoch, clock=clock)


def follow_released(lake: str, *, now: datetime) -> None:
    """Stop leading; a follower that is still at work is fenced by the next leader's epoch."""
    lease_release(_lease(lake), holder=HOLDER, now=now)


def follow_log(lake: str, log: NotificationLog, *, epoch: int, clock: Clock) -> Followed:
    """Take in the next events of an open log as the leader of `epoch`.

    What is read is noted under an instant that comes after the reading: whoever answers an event
    by work that began after that instant has then surely begun after the event.

    Raises:
        StaleState: somebody else moved the position meanwhile; everything is rolled back.
    """
    newest = log.current_notification_id()
    now = clock()
    place, created = EventPosition.objects.get_or_create(
        lake=lake,
        defaults={
            "first_id": newest,
            "position": newest,
            "fence": epoch,
            "newest_id": newest,
            "moved_at": now,
            "checked_at": now,
        },
    )
    if created:
        return Followed(leading=True)
    raws = log.notifications_after(place.position, BATCH)
    now = clock()
    step = next_step(
        [raw.eventId for raw in raws],
        position=place.position,
        newest=newest,
        hole_since=place.hole_since,
        now=now,
    )
    # Their ids were handed out after the last look, so they happened after it.
    new = [float(raw.eventTime) for raw in raws if raw.eventId > place.newest_id]
    if new:
        place.clock_behind_seconds = seconds_behind(new, not_before=place.checked_at)
    taken = raws[: step.n_take]
    newest = max(newest, step.position)
    with transaction.atomic():
        _move(place, step, newest=newest, epoch=epoch, now=now)
        alarms = _take_in(_Batch(lake, now), taken, step)
    return Followed(
        leading=True,
        n_events=len(taken),
        n_behind=newest - step.position,
        alarms=tuple(alarm.detail for alarm in alarms),
    )


def alarms_rescanned(
    lake: str, *, read_at: datetime, now: datetime, subscriber: str | None = None
) -> int:
    """Close the alarms that a scan has made good: those raised before it began to read the lake.

    With `subscriber` only its own: what the others missed is not made good by its reading.
    Called again it closes nothing more. Parked tables are handed to their subscribers again.
    """
    stale = EventAlarm.objects.filter(lake=lake, rescanned_at=None, raised_at__lte=read_at)
    if subscriber is not None:
        stale = stale.filter(subscriber=subscriber)
    return stale.update(rescanned_at=now)


def _lease(lake: str) -> str:
    return f"events:{lake}"


def _move(place: EventPosition, step: Step, *, newest: int, epoch: int, now: datetime) -> None:
    """Move the position, unless somebody moved it first or leads since."""
    moved_at = now if step.position != place.position else place.moved_at
    won = EventPosition.objects.filter(
        pk=place.pk, position=place.position, fence__lte=epoch
    ).update(
        position=step.position,
        fence=epoch,
        newest_id=newest,
        moved_at=moved_at,
        checked_at=now,
        hole_since=step.hole_since,
        clock_behind_seconds=place.clock_behind_seconds,
    )
    if not won:
        raise StaleState(
            "events.position",
            "Another follower has moved on; this one starts over.",
            lake=place.lake,
        )


def _take_in(batch: _Batch, raws: Sequence[Any], step: Step) -> list[EventAlarm]:
    """Hand the events out and write alarms and touches; runs inside the position's transaction."""
    if step.gap is not None:
        _raise(batch, step.gap.kind, step.gap.event_id, detail=step.gap.detail)
    parked = _parked(batch.lake)
    for raw in raws:
        try:
            event = read_event(batch.lake, raw)
        except RuleViolation as error:
            _raise(
                batch,
                AlarmKind.UNREADABLE,
                raw.eventId,
                detail=error.message,
                at=(raw.dbName or "", raw.tableName or ""),
            )
            continue
        if not event.is_note:
            _touch(batch, event)
        for subscriber in subscribers():
            if subscriber.wants(event) and (subscriber.name, event.db, event.table) not in parked:
                batch.gathered.setdefault(subscriber.name, []).append(event)
    for subscriber in subscribers():
        _hand_over_many(batch, subscriber, parked)
    _write_touches(batch)
    EventAlarm.objects.bulk_create(batch.alarms, ignore_conflicts=True)
    for alarm in batch.alarms:
        _ask_for_rescan(alarm, batch.now)
    return batch.alarms


def _hand_over_many(
    batch: _Batch, subscriber: Subscriber, parked: set[tuple[str, str, str]]
) -> None:
    """Let a subscriber write all of its events in one savepoint; if one spoils it, one by one."""
    events = batch.gathered.get(subscriber.name, [])
    if not events:
        return
    try:
        with transaction.atomic():
            subscriber.take(events, batch.now)
    except OperationalError:
        raise
    except Exception:  # who of them it was shows when each comes alone
        for event in events:
            if (subscriber.name, event.db, event.table) not in parked:
                _hand_over(batch, subscriber, event, parked)


def _hand_over(
    batch: _Batch, subscriber: Subscriber, event: LakeEvent, parked: set[tuple[str, str, str]]
) -> None:
    """Let one subscriber write, in a savepoint; one that raises has the table parked for it."""
    if subscriber.handle is None:
        return
    try:
        with transaction.atomic():
            subscriber.handle(event, batch.now)
    except OperationalError:
        raise  # a lost database or a deadlock took the whole transaction, not this subscriber
    except Exception as error:  # whatever a room does wrong, the rest of the log goes on
        parked.add((subscriber.name, event.db, event.table))
        where = f"{event.type} {event.db}.{event.table}"
        _raise(
            batch,
            AlarmKind.SUBSCRIBER_FAILED,
            event.id,
            detail=f"{subscriber.name} failed on {where}: {_said(error)}",
            at=(event.db, event.table),
            subscriber=subscriber.name,
        )


def _raise(
    batch: _Batch,
    kind: AlarmKind,
    event_id: int,
    *,
    detail: str,
    at: tuple[str, str] = ("", ""),
    subscriber: str = "",
) -> None:
    batch.alarms.append(
        EventAlarm(
            lake=batch.lake,
            kind=kind,
            event_id=event_id,
            db=at[0],
            table=at[1],
            subscriber=subscriber,
            detail=detail,
            raised_at=batch.now,
        )
    )


def _ask_for_rescan(alarm: EventAlarm, now: datetime) -> None:
    """Tell everyone who can read again; one that raises leaves the alarm, which stands anyway."""
    missed = Missed(alarm.lake, alarm.db, alarm.table, alarm.detail)
    for subscriber in subscribers():
        if subscriber.rescan is None or alarm.subscriber not in ("", subscriber.name):
            continue
        try:
            with transaction.atomic():
                subscriber.rescan(missed, now)
        except PortalError as error:
            EventAlarm.objects.filter(
                lake=alarm.lake, kind=alarm.kind, event_id=alarm.event_id
            ).update(detail=f"{alarm.detail} {subscriber.name} could not ask for it: {error}")


def _parked(lake: str) -> set[tuple[str, str, str]]:
    """Return (subscriber, db, table) for which nothing is handed over until a rescan."""
    rows = EventAlarm.objects.filter(lake=lake, kind=AlarmKind.SUBSCRIBER_FAILED, rescanned_at=None)
    return set(rows.values_list("subscriber", "db", "table"))


def _touch(batch: _Batch, event: LakeEvent) -> None:
    """Take note of what an event touched; one whose places cannot be read counts for its table."""
    key = (event.db, event.table)
    batch.touched[key] = event
    try:
        places = stray_places(event.message)
    except (LookupError, TypeError, ValueError, AttributeError):
        places, batch.altered[key] = (), event
    if event.alters_table:
        batch.altered[key] = event
    batch.strays.setdefault(key, []).extend((event.id, place) for place in places)


def _write_touches(batch: _Batch) -> None:
    """Write the newest event of each table, and beside it what a later event must not hide."""
    newest = ("event_id", "event_type", "at")
    plain = [key for key in batch.touched if key not in batch.altered]
    _upsert_touches(batch, plain, newest)
    _upsert_touches(batch, list(batch.altered), (*newest, "altered_event_id"))
    for (db, table), places in batch.strays.items():
        if places:
            row = TableTouch.objects.get(lake=batch.lake, db=db, table=table)
            row.stray_places = [*row.stray_places, *places][-STRAYS_KEPT:]
            row.save(update_fields=["stray_places"])


def _upsert_touches(batch: _Batch, keys: Sequence[tuple[str, str]], fields: Sequence[str]) -> None:
    TableTouch.objects.bulk_create(
        [_touch_row(batch, key) for key in keys],
        update_conflicts=True,
        unique_fields=conflict_key("lake", "db", "table"),
        update_fields=list(fields),
    )


def _touch_row(batch: _Batch, key: tuple[str, str]) -> TableTouch:
    event, altered = batch.touched[key], batch.altered.get(key)
    return TableTouch(
        lake=batch.lake,
        db=key[0],
        table=key[1],
        event_id=event.id,
        event_type=event.type,
        altered_event_id=altered.id if altered is not None else 0,
        at=event.at,
    )


def _said(error: Exception) -> str:
    return error.message if isinstance(error, PortalError) else f"{type(error).__name__}: {error}"
