"""The follower takes in each event once, whoever leads, and what is missed becomes an alarm.

`Log` stands for the metastore's log here; tests/integration/portal/events/test_events_follower.py
runs the same promises against the real one.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from lifecycle.backup.domain.states import BackupState
from lifecycle.backup.models import BackupBatch
from lifecycle.backup.run_kinds import NAME as REPAIR
from portal.events.gaps import HOLE_GRACE, AlarmKind
from portal.events.messages import LakeEvent
from portal.events.models import EventAlarm, EventPosition, TableTouch
from portal.events.registry import Missed, Subscriber, subscribe, unsubscribe
from portal.events.selectors import (
    alarms_open,
    clock_behind,
    follower_state,
    knows_all_since,
)
from portal.events.services import BATCH, alarms_rescanned, follow_log
from portal.lake.errors import RuleViolation, StaleState
from portal.runs.models import Run

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)


@dataclass
class Log:
    """A notification log that can be cleaned, torn and set back."""

    events: dict[int, SimpleNamespace] = field(default_factory=dict)
    newest: int = 100

    def add(self, table: str, kind: str = "ALTER_TABLE", **message: object) -> int:
        self.newest += 1
        self.events[self.newest] = SimpleNamespace(
            eventId=self.newest,
            eventTime=int(NOW.timestamp()),
            eventType=kind,
            dbName="sales",
            tableName=table,
            messageFormat="json-0.2",
            message=json.dumps(message),
        )
        return self.newest

    def current_notification_id(self) -> int:
        return self.newest

    def notifications_after(self, event_id: int, limit: int) -> list[SimpleNamespace]:
        return [self.events[key] for key in sorted(self.events) if key > event_id][:limit]


@dataclass
class Ears:
    """A subscriber that remembers, and raises for the tables it is told to."""

    heard: list[tuple[int, str]] = field(default_factory=list)
    missed: list[Missed] = field(default_factory=list)
    poison: set[str] = field(default_factory=set)

    def handle(self, event: LakeEvent, now: datetime) -> None:
        TableTouch.objects.create(
            lake="side", db="x", table=str(event.id), event_id=1, event_type="x", at=now
        )
        if event.table in self.poison:
            raise RuleViolation("ears.poison", "I cannot take this.")
        self.heard.append((event.id, event.table))

    def rescan(self, missed: Missed, now: datetime) -> None:
        assert now.tzinfo is not None
        self.missed.append(missed)


@pytest.fixture
def log() -> Log:
    log = Log()
    follow_log("main", log, epoch=1, clock=lambda: NOW)
    return log


@pytest.fixture
def ears() -> Iterator[Ears]:
    ears = Ears()
    subscribe(Subscriber("ears", None, ears.handle, ears.rescan))
    yield ears
    unsubscribe("ears")


def follow(log: Log, *, epoch: int = 1, now: datetime = NOW) -> tuple[int, int]:
    followed = follow_log("main", log, epoch=epoch, clock=lambda: now)
    return followed.n_events, followed.n_behind


def position() -> int:
    return EventPosition.objects.get(lake="main").position


def test_following_begins_at_the_newest_event(log: Log, ears: Ears) -> None:
    assert position() == 100
    assert follow(log) == (0, 0)
    assert ears.heard == []


def test_each_event_is_handed_over_once_and_tables_are_touched(log: Log, ears: Ears) -> None:
    first, second = log.add("orders"), log.add("users")
    assert follow(log) == (2, 0)
    assert follow(log) == (0, 0)
    assert ears.heard == [(first, "orders"), (second, "users")]
    touched = TableTouch.objects.filter(lake="main").values_list("event_id", "db", "table")
    assert set(touched) == {(first, "sales", "orders"), (second, "sales", "users")}
    assert knows_all_since("main", 100)
    assert not knows_all_since("main", 99)
    assert not knows_all_since("other", 100)


def test_a_load_does_not_hide_that_a_table_was_made(log: Log) -> None:
    made = log.add("orders", "CREATE_TABLE")
    follow(log)
    loaded = log.add("orders", "INSERT")
    log.add("users", "INSERT")
    follow(log)
    rows = TableTouch.objects.filter(lake="main").order_by("table")
    found = list(rows.values_list("table", "event_id", "event_type", "altered_event_id"))
    assert found == [("orders", loaded, "INSERT", made), ("users", loaded + 1, "INSERT", 0)]


def test_a_clock_that_lies_behind_shows_in_the_next_event(log: Log) -> None:
    quiet = NOW + timedelta(hours=5)
    follow(log, now=quiet)
    assert clock_behind("main") == 0, "a quiet lake says nothing"
    late = log.add("orders")
    # Written after the look at 14:30, by a clock that says 14:28.
    log.events[late].eventTime = int((quiet - timedelta(seconds=120)).timestamp())
    follow(log, now=quiet + timedelta(seconds=5))
    assert clock_behind("main") == 120
    follow(log, now=quiet + timedelta(seconds=10))
    assert clock_behind("main") == 120, "until an event shows otherwise"
    mended = log.add("orders")
    log.events[mended].eventTime = int((quiet + timedelta(seconds=11)).timestamp())
    follow(log, now=quiet + timedelta(seconds=15))
    assert clock_behind("main") == 0


def test_what_was_waiting_says_nothing_of_the_clock(log: Log) -> None:
    for _ in range(BATCH + 1):
        log.add("orders")
    follow(log)
    follow(log, now=NOW + timedelta(hours=1))
    assert clock_behind("main") == 0, "the last of the batch was there at the look before"


def thrift(number: str, location: str) -> str:
    """Return a Thrift object in JSON with a storage descriptor."""
    return json.dumps({number: {"rec": {"2": {"str": location}}}})


def test_partitions_that_were_put_outside_their_table_are_kept(log: Log) -> None:
    table = thrift("7", "hdfs://nn/w/orders/")
    inside, outside = "hdfs://nn/w/orders/dt=1", "hdfs://nn/elsewhere/dt=2"
    added = log.add(
        "orders",
        "ADD_PARTITION",
        tableObjJson=table,
        partitionListJson=[thrift("6", inside), thrift("6", outside)],
    )
    follow(log)
    log.add("orders", "ADD_PARTITION", tableObjJson=table, partitionListJson=["broken"])
    last = log.add("orders", "INSERT")
    follow(log)
    row = TableTouch.objects.get(lake="main", table="orders")
    assert row.stray_places == [[added, outside]]
    assert (row.event_id, row.altered_event_id) == (last, last - 1)


def test_what_is_read_is_noted_under_an_instant_after_the_reading(log: Log) -> None:
    """Else work that began before an event would be taken for an answer to it."""
    clock = [NOW]
    noted: list[datetime] = []

    def slow(event_id: int, limit: int) -> list[SimpleNamespace]:
        clock[0] += timedelta(seconds=20)
        return Log.notifications_after(log, event_id, limit)

    busy = SimpleNamespace(
        current_notification_id=log.current_notification_id, notifications_after=slow
    )
    subscribe(Subscriber("instants", None, lambda _event, now: noted.append(now)))
    try:
        for number in range(BATCH + 1):
            log.add(f"t{number}")
        for _ in range(2):
            follow_log("main", busy, epoch=1, clock=lambda: clock[0])
    finally:
        unsubscribe("instants")
    assert noted == [NOW + timedelta(seconds=20)] * BATCH + [NOW + timedelta(seconds=40)]


def test_more_events_than_a_batch_are_taken_in_turns(log: Log, ears: Ears) -> None:
    n_events = 2 * BATCH + 50
    for number in range(n_events):
        log.add(f"t{number}")
    turns = [(BATCH, BATCH + 50), (BATCH, 50), (50, 0)]
    assert [follow(log), follow(log), follow(log)] == turns
    assert [event_id for event_id, _ in ears.heard] == list(range(101, 101 + n_events))


def test_a_follower_that_lost_its_lease_moves_nothing(log: Log, ears: Ears) -> None:
    log.add("orders")
    follow(log, epoch=2)
    log.add("users")
    with pytest.raises(StaleState):
        follow(log, epoch=1)
    assert position() == 101
    assert ears.heard == [(101, "orders")]
    assert follow(log, epoch=2) == (1, 0)


def test_a_poison_event_parks_its_table_for_that_subscriber_only(log: Log, ears: Ears) -> None:
    ears.poison = {"bad"}
    failed = log.add("bad")
    log.add("good")
    log.add("bad")
    assert follow(log) == (3, 0)
    assert ears.heard == [(102, "good")]
    alarm = alarms_open("main").get()
    assert (alarm.kind, alarm.event_id, alarm.table) == (AlarmKind.SUBSCRIBER_FAILED, failed, "bad")
    assert not TableTouch.objects.filter(lake="side", table=str(failed)).exists()
    assert [(missed.db, missed.table) for missed in ears.missed] == [("sales", "bad")]
    assert not knows_all_since("main", 100)

    ears.poison = set()
    log.add("bad")
    follow(log)
    assert ears.heard == [(102, "good")]
    assert alarms_rescanned("main", read_at=NOW - timedelta(seconds=1), now=NOW) == 0
    assert alarms_rescanned("main", read_at=NOW + timedelta(seconds=1), now=NOW) == 1
    log.add("bad")
    follow(log)
    assert ears.heard == [(102, "good"), (105, "bad")]


def test_who_takes_many_at_once_gets_one_by_one_what_it_cannot_take(log: Log, ears: Ears) -> None:
    def take(events: Sequence[LakeEvent], now: datetime) -> None:
        heard = list(ears.heard)
        for event in events:
            try:
                ears.handle(event, now)
            except RuleViolation:
                ears.heard = heard
                raise

    ears.poison = {"bad"}
    subscribe(Subscriber("ears", None, ears.handle, ears.rescan, take))
    for table in ("good", "bad", "bad", "other"):
        log.add(table)
    assert follow(log) == (4, 0)
    assert ears.heard == [(101, "good"), (104, "other")]
    assert TableTouch.objects.filter(lake="side").count() == 2, "the spoiled batch left nothing"
    assert [alarm.event_id for alarm in alarms_open("main")] == [102]
    log.add("bad")
    log.add("good")
    assert follow(log) == (2, 0)
    assert ears.heard[2:] == [(106, "good")]


def test_an_unreadable_message_parks_its_table_and_the_rest_goes_on(log: Log, ears: Ears) -> None:
    log.events[log.add("torn")].message = "{"
    log.add("fine")
    assert follow(log) == (2, 0)
    assert ears.heard == [(102, "fine")]
    assert alarms_open("main").get().kind == AlarmKind.UNREADABLE
    assert [missed.table for missed in ears.missed] == ["torn"]


def test_a_cleaned_log_becomes_an_alarm_and_a_rescan_of_the_lake(log: Log, ears: Ears) -> None:
    log.add("orders")
    log.add("users")
    log.events.clear()
    assert follow(log) == (0, 0)
    assert position() == 102
    assert alarms_open("main").get().kind == AlarmKind.LOG_CLEANED
    assert [(missed.db, missed.table) for missed in ears.missed] == [("", "")]
    assert follow(log) == (0, 0)
    assert EventAlarm.objects.count() == 1


def test_a_log_that_starts_over_is_followed_from_its_new_end(log: Log, ears: Ears) -> None:
    log.newest = 3
    assert follow(log) == (0, 0)
    assert position() == 3
    assert alarms_open("main").get().kind == AlarmKind.ID_BELOW_POSITION
    log.add("orders")
    follow(log)
    assert ears.heard == [(4, "orders")]


def test_a_hole_is_waited_for_then_reported(log: Log, ears: Ears) -> None:
    lost = log.add("late")
    log.add("orders")
    late = log.events.pop(lost)
    assert follow(log) == (0, 2)
    log.events[lost] = late
    assert follow(log) == (2, 0)
    assert not alarms_open("main").exists()

    del log.events[log.add("lost")]
    log.add("users")
    follow(log)
    later = NOW + HOLE_GRACE
    follow(log, now=later)
    assert follow(log, now=later) == (1, 0)
    assert alarms_open("main").get().kind == AlarmKind.HOLE
    assert [table for _, table in ears.heard] == ["late", "orders", "users"]
    state = follower_state("main")
    assert state is not None
    assert state.hole_since is None


def restored_batch(table: str, state: BackupState) -> BackupBatch:
    return BackupBatch.objects.create(
        lake="main",
        run_id="5f8e2f9e-7a36-4a53-9a36-2c9f5a4a1f00",
        epoch=1,
        db="sales",
        table=table,
        batch=0,
        day=NOW.date(),
        root="file:///backup",
        path="file:///backup/x",
        state=state,
        is_table=False,
        manifest_sha256="0" * 64,
        dropped_at=NOW,
    )


def test_a_drop_of_something_restored_asks_for_a_look_once(log: Log) -> None:
    restored_batch("orders", BackupState.RESTORED)
    restored_batch("gone", BackupState.DROPPED)
    for table in ["orders", "gone", "other"]:
        log.add(table, "DROP_PARTITION", partitions=[{"dt": "2026-11-21"}])
    log.add("orders", "ALTER_TABLE")
    follow(log)
    run = Run.objects.get(kind=REPAIR)
    assert run.params == {"db": "sales", "table": "orders", "partitions": ["dt=2026-11-21"]}
    assert run.queue == "restore"

    EventPosition.objects.update(position=100)
    follow(log)
    assert Run.objects.filter(kind=REPAIR).count() == 1


def test_missed_events_ask_for_one_scan_an_hour(log: Log) -> None:
    for _ in range(2):
        log.add("orders")
        log.events.clear()
        follow(log)
    scan = Run.objects.get(kind="lifecycle.scan")
    assert scan.requested_by == "system"
    assert "cleaned from the log" in scan.reason
    assert alarms_open("main").count() == 2
