"""What the metastore tells of Iceberg tables becomes rows once, in order, and is made due."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.discovery.services.event_handlers import on_event, on_events, on_missed
from optimizer.discovery.services.poll import KIND
from optimizer.iceberg.tables.domain.events import TASK_KEY, iceberg_table
from optimizer.iceberg.tables.services.poll import poll_compare
from optimizer.models import Commit, IcebergTable, OptimizeTask
from portal.connectors.lake_config import LakeConfig
from portal.events.models import EventAlarm
from portal.events.registry import Missed
from portal.events.services import follow_log
from portal.runs.models import Run
from tests.component.optimizer.iceberg.iceberg_said import (
    CLICKS,
    NOW,
    OTHER,
    altered,
    at,
    created,
    dropped,
    event,
    parameters,
)

pytestmark = pytest.mark.django_db
RECORDED = Path(__file__).parents[3] / "unit/optimizer/iceberg/tables/iceberg_events.json"


def begin(n_commits: int = 1, *, uuid: str = CLICKS, now: datetime = NOW) -> IcebergTable:
    """Let a table be made and committed to."""
    said = [created(parameters(0, uuid=uuid))]
    for version in range(n_commits):
        said.append(altered(parameters(version, uuid=uuid), parameters(version + 1, uuid=uuid)))
    on_events(said, now)
    return IcebergTable.objects.get(uuid=uuid)


def task_for(row: IcebergTable, state: TaskState = TaskState.WAITING) -> OptimizeTask:
    return OptimizeTask.objects.create(
        table=row, kind=TaskKind.MINOR, state=state, reason="many", target_bytes=1, created_at=NOW
    )


def test_a_made_table_is_known_before_its_first_commit() -> None:
    on_event(created(parameters(0)), NOW)
    row = IcebergTable.objects.get()
    assert (row.db, row.table, row.uuid, row.owner) == ("shop", "clicks", CLICKS, "olga")
    assert (row.snapshot_id, row.inspect_due_at, row.columns) == (None, NOW, {"id": "long"})
    assert not Commit.objects.exists()


def test_commits_of_one_batch_are_kept_each_and_make_one_look_due() -> None:
    row = begin(3)
    assert (row.snapshot_id, row.n_files, row.n_bytes) == (7003, 3, 3000)
    assert (row.committed_at, row.inspect_due_at) == (at(3), NOW)
    found = Commit.objects.order_by("snapshot_id").values_list("snapshot_id", "at", "n_added")
    assert list(found) == [(7001, at(1), 1), (7002, at(2), 1), (7003, at(3), 1)]
    assert set(Commit.objects.values_list("operation", "source", "is_ours")) == {
        ("append", "event", False)
    }
    on_event(altered(parameters(3), parameters(4)), at(5))
    row.refresh_from_db()
    assert (row.inspect_due_at, row.event_at) == (NOW, at(5)), "who waits keeps their place"


def test_the_same_events_twice_change_nothing() -> None:
    begin(2)
    begin(2)
    assert (IcebergTable.objects.count(), Commit.objects.count()) == (1, 2)


def test_a_commit_that_takes_files_away_is_no_append() -> None:
    begin(1)
    summary = {"added-data-files": 1, "deleted-data-files": 4, "removed-files-size": 4000}
    on_event(altered(parameters(1), parameters(2, summary=summary)), NOW)
    found = Commit.objects.get(snapshot_id=7002)
    assert (found.operation, found.n_removed, found.bytes_removed) == ("", 4, 4000)


def test_a_commit_of_ours_is_known_and_makes_a_look_due() -> None:
    begin(1)
    IcebergTable.objects.update(inspect_due_at=None)
    on_event(altered(parameters(1), parameters(2, summary={TASK_KEY: 12})), at(9))
    assert Commit.objects.get(snapshot_id=7002).is_ours
    assert IcebergTable.objects.get().inspect_due_at == at(9)


def test_a_writer_that_tells_no_snapshot_makes_a_look_due() -> None:
    row = begin(1)
    IcebergTable.objects.update(inspect_due_at=None)
    silent = parameters(1) | {"metadata_location": "file:/lake/x/metadata/00002.json"}
    on_event(altered(parameters(1), silent), at(9))
    row.refresh_from_db()
    assert (row.inspect_due_at, row.snapshot_id, row.metadata_location[-10:]) == (
        at(9),
        7001,
        "00002.json",
    )
    assert Commit.objects.count() == 1


def test_what_changes_no_metadata_changes_nothing() -> None:
    begin(1)
    before = IcebergTable.objects.values().get()
    on_event(altered(parameters(1), parameters(1) | {"comment": "x"}), at(9))
    assert IcebergTable.objects.values().get() == before


def test_other_formats_are_not_heard() -> None:
    plain = {"table_type": "EXTERNAL_TABLE"}
    on_events([created(plain), altered(plain, plain), dropped()], NOW)
    assert not IcebergTable.objects.exists()


def test_a_dropped_table_is_gone_and_its_tasks_are_given_up() -> None:
    row = begin(1)
    waiting = task_for(row)
    on_event(dropped(), at(9))
    row.refresh_from_db()
    waiting.refresh_from_db()
    assert (row.is_deleted, row.deleted_at, row.inspect_due_at) == (True, at(9), None)
    assert (waiting.state, waiting.is_open, waiting.outcome_code) == (
        TaskState.ABANDONED,
        None,
        "table.gone",
    )
    assert waiting.ended_at == at(9)


def test_a_name_that_comes_to_mean_another_table_begins_anew() -> None:
    first = begin(1)
    on_events([dropped(), created(parameters(0, uuid=OTHER), owner="stan")], at(9))
    first.refresh_from_db()
    second = IcebergTable.objects.get(is_deleted=False)
    assert (first.is_deleted, second.uuid, second.owner) == (True, OTHER, "stan")
    assert not second.commits.exists()


def test_a_name_replaced_without_a_word_of_the_drop_begins_anew() -> None:
    first = begin(1)
    on_event(altered(parameters(1), parameters(1, uuid=OTHER)), at(9))
    first.refresh_from_db()
    assert first.is_deleted
    assert IcebergTable.objects.get(is_deleted=False).commits.count() == 1


def test_a_renamed_table_keeps_its_history() -> None:
    row = begin(2)
    task = task_for(row)
    on_event(altered(parameters(2), parameters(2), table="taps", former="clicks"), at(9))
    row.refresh_from_db()
    task.refresh_from_db()
    assert (row.table, row.is_deleted, row.commits.count()) == ("taps", False, 2)
    assert task.state == TaskState.WAITING
    on_event(altered(parameters(2), parameters(2), table="clicks", former="taps"), at(10))
    row.refresh_from_db()
    assert (row.table, IcebergTable.objects.count()) == ("clicks", 1)


def test_a_table_made_anew_under_its_uuid_comes_back_with_its_history() -> None:
    row = begin(2)
    on_events([dropped(), created(parameters(2))], at(9))
    row.refresh_from_db()
    assert (row.is_deleted, row.deleted_at, row.commits.count()) == (False, None, 2)
    assert IcebergTable.objects.count() == 1


def test_a_table_registered_without_its_uuid_is_itself_again_once_that_is_told() -> None:
    row = begin(2)
    told = {key: text for key, text in parameters(2).items() if key != "uuid"}
    on_events([dropped(), created(told)], at(9))
    assert IcebergTable.objects.get(is_deleted=False).uuid == ""
    on_event(altered(told, parameters(3)), at(10))
    row.refresh_from_db()
    assert (row.is_deleted, row.snapshot_id, row.commits.count()) == (False, 7003, 3)
    assert list(IcebergTable.objects.filter(is_deleted=True).values_list("uuid", flat=True)) == [""]


def test_a_poll_gets_past_a_table_registered_without_its_uuid() -> None:
    row = begin(2)
    told = {key: text for key, text in parameters(2).items() if key != "uuid"}
    on_events([dropped(), created(told)], at(9))
    assert polled(("clicks", 3, CLICKS), ("taps", 1, OTHER), read_at=at(10), now=at(11)) == (2, 0)
    row.refresh_from_db()
    assert (row.is_deleted, row.snapshot_id) == (False, 7003)


def test_a_message_of_another_form_parks_the_table() -> None:
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError)):
        on_event(event("CREATE_TABLE", {"tableObjJson": '{"metadata_location'}), NOW)


def test_missed_events_ask_for_one_poll_however_much_was_missed() -> None:
    for _ in range(2):
        on_missed(Missed("main", "", "", "The log was cleaned."), NOW)
    run = Run.objects.get()
    assert (run.kind, run.lake, run.requested_by) == (KIND, "main", "system")
    assert "The log was cleaned." in run.reason


def polled(*versions: tuple[str, int, str], read_at: datetime, now: datetime) -> tuple[int, int]:
    """Compare with a metastore that holds these tables, versions and uuids."""
    listed = [
        one
        for table, version, uuid in versions
        if (one := iceberg_table(("shop", table), parameters(version, uuid=uuid), owner="olga"))
    ]
    return poll_compare("main", iter([listed[:1], listed[1:]]), read_at=read_at, now=now)


def test_a_poll_takes_in_what_was_there_before_the_portal() -> None:
    found = polled(("clicks", 3, CLICKS), ("taps", 1, OTHER), read_at=NOW, now=at(1))
    assert found == (2, 0)
    row = IcebergTable.objects.get(table="clicks")
    assert (row.snapshot_id, row.owner, row.inspect_due_at) == (7003, "olga", at(1))
    assert Commit.objects.get(table=row).source == "poll"
    again = polled(("clicks", 3, CLICKS), ("taps", 1, OTHER), read_at=at(2), now=at(3))
    assert again == (0, 0)


def test_a_poll_finds_what_no_event_told() -> None:
    begin(1)
    polled(("taps", 1, OTHER), read_at=at(-1), now=NOW)
    IcebergTable.objects.update(inspect_due_at=None)
    assert polled(("clicks", 4, CLICKS), read_at=at(2), now=at(3)) == (1, 1)
    row = IcebergTable.objects.get(table="clicks")
    assert (row.snapshot_id, row.inspect_due_at) == (7004, at(3))
    gone = IcebergTable.objects.get(table="taps")
    assert (gone.is_deleted, gone.deleted_at) == (True, at(3))


def test_a_poll_knows_less_than_what_was_heard_since_it_began() -> None:
    begin(3, now=at(5))
    assert polled(("clicks", 2, CLICKS), read_at=at(4), now=at(6)) == (0, 0)
    assert IcebergTable.objects.get().snapshot_id == 7003
    assert polled(read_at=at(4), now=at(6)) == (0, 0), "made while the poll read"
    on_event(dropped(), at(7))
    assert polled(("clicks", 3, CLICKS), read_at=at(6), now=at(8)) == (0, 0)
    assert IcebergTable.objects.get().is_deleted


def test_a_poll_finds_a_name_that_means_another_table() -> None:
    begin(1)
    assert polled(("clicks", 1, OTHER), read_at=at(2), now=at(3))[0] == 1
    assert list(IcebergTable.objects.order_by("pk").values_list("uuid", "is_deleted")) == [
        (CLICKS, True),
        (OTHER, False),
    ]


@dataclass
class Recorded:
    """The log of a real metastore, in which Spark made, filled, changed and dropped tables."""

    newest: int = 0
    rows: list[dict[str, Any]] = field(
        default_factory=lambda: json.loads(RECORDED.read_text(encoding="utf-8"))
    )

    def current_notification_id(self) -> int:
        return self.newest

    def notifications_after(self, event_id: int, limit: int) -> list[Any]:
        return [
            SimpleNamespace(
                eventId=n,
                eventTime=int(NOW.timestamp()),
                eventType=row["type"],
                dbName=row["db"],
                tableName=row["table"],
                messageFormat="json-0.2",
                message=json.dumps(row["message"]),
            )
            for n, row in enumerate(self.rows[: self.newest], 1)
            if n > event_id
        ]


def test_a_recorded_log_is_heard_through_the_follower(lake: LakeConfig) -> None:
    log = Recorded()
    follow_log("main", log, epoch=1, clock=lambda: NOW)
    for newest in (4, 7, len(log.rows)):
        log.newest = newest
        follow_log("main", log, epoch=1, clock=lambda: at(5))
    assert not EventAlarm.objects.exists()
    rows = IcebergTable.objects.order_by("pk").values_list("table", "is_deleted", "snapshot_id")
    assert list(rows) == [("taps", True, 5859585096735693143), ("wide", False, None)]
    commits = Commit.objects.order_by("at").values_list("operation", "n_added", "n_deletes_added")
    assert list(commits) == [("append", 1, 0), ("append", 1, 0), ("", 0, 2)]
