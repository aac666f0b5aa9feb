"""Probes and purges through their run kinds: real spark-submit, metastore, files and mails.

A writer that was planned before a drop goes on writing, at the old place and in the backup. A purge
takes what it may, leaves what it must with a reason, and ends right although it is killed half way.
"""

import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import hdfs_native
import pytest
from django.contrib.auth.models import Group
from django.test import Client
from pymetastore.hive_metastore import ttypes
from pytest_django import Settings

from lifecycle.backup.domain.layout import item_name
from lifecycle.backup.domain.states import BackupState, HoldKind, ProbeState
from lifecycle.backup.engine.journal.reading import items_left, read_batch
from lifecycle.backup.engine.journal.records import FileFact
from lifecycle.backup.models import BackupBatch, BackupProbe
from lifecycle.backup.services.fencing import restore_prepare
from lifecycle.backup.services.holds import hold_place
from lifecycle.backup.services.settling import act_settle
from lifecycle.restore.services.purges import last_chance_queue
from lifecycle.schedule.run_kinds.clock import ProbeKind, PurgeKind
from portal.access.models import User
from portal.access.roles.domain import ADMIN
from portal.audit.models import AuditEvent
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.notices.services import notices_send
from portal.runs.kinds import registry as kinds
from portal.runs.models import Run
from portal.runs.requests.services import run_drive, run_request
from portal.safety.services import emergency_stop_start
from stack.stack import Stack
from tests.support.act_lake import DAY, ActLake
from tests.support.act_portal import ActPortal, instant
from tests.support.stop import end_stop

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
LAKE = "main"
OLD = timedelta(days=20)
FOUR_DAYS = timedelta(days=4)


class KilledPurge(PurgeKind):
    """The purge, whose first driver is killed in the middle of its first backup."""

    def environment(self, run: Run) -> dict[str, str]:
        """Name the failpoint for the first epoch only."""
        found = super().environment(run)
        if run.epoch == 1:
            found |= {"LW_FAILPOINT": "slice:after:kill", "LW_FAILPOINTS_ENABLED": "1"}
        return found


class PlainLake(ActLake):
    """A lake with one file a partition: on HDFS a file costs half a second."""

    def make_files(self, directory: LakePath, *, n: int) -> None:
        """Write one file."""
        self.fs.make_directories(directory, mode=0o755)
        self.fs.write_new(directory.child(f"part-{n:05d}"), b"x" * (10 + n))


@dataclass
class Scene:
    """Tables whose backups are of age, a fresh one, and the portal's people."""

    lake: ActLake
    mails: Callable[[str], list[Any]]
    portal: ActPortal = field(init=False)
    rows: dict[str, BackupBatch] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.portal = ActPortal(self.lake)
        self.anna = User.objects.create_user("anna", "anna@example.com", "a long enough password")
        self.bert = User.objects.create_user("bert", "bert@example.com", "a long enough password")
        for admin in (self.anna, self.bert):
            admin.groups.add(Group.objects.get_or_create(name=ADMIN)[0])
        User.objects.create_user("alice", "alice@example.com", "a long enough password")

    def make(self, table: str, *values: str) -> TableName:
        rows = [(value,) for value in values]
        return self.lake.make_table(table, keys=("dt",), values=rows)

    def drop(self, *tables: str, at: datetime | None = None, day: date = DAY) -> None:
        """Drop all partitions of some tables by one run; their backups share a directory."""
        names = [self.lake.table_name(table) for table in tables]
        items = [item for name in names for item in self.lake.items(name)]
        run = self.portal.drop(names[0], items=items, at=at, day=day)
        for row in BackupBatch.objects.filter(run_id=run.pk):
            self.rows[row.table] = row

    def row(self, table: str) -> BackupBatch:
        row = self.rows[table]
        row.refresh_from_db()
        return row

    def home(self, table: str, value: str) -> LakePath:
        return self.lake.db_path.child(table, f"dt={value}")

    def backup(self, table: str) -> dict[str, tuple[FileFact, ...]]:
        """What lies in a backup, by partition; nothing where it is gone."""
        directory = self.lake.config.path(self.rows[table].path)
        if self.lake.fs.status(directory) is None:
            return {}
        batch = read_batch(self.lake.fs, directory, self.rows[table].batch)
        left = items_left(self.lake.fs, batch)
        return {one.partition: self.lake.files(directory.child(one.item)) for one in left}

    def run(self, kind: str, params: dict[str, Any] | None) -> Run:
        assert params is not None
        run = run_request(kind, lake=LAKE, params=params, requested_by="schedule", now=instant())
        return run_drive(run.pk)

    def page(self, table: str) -> str:
        client = Client()
        client.force_login(self.anna)
        row = self.rows[table]
        answer = client.get(f"/lifecycle/backups/batches/{row.public_id}/")
        assert answer.status_code == 200
        return answer.content.decode()

    def send(self, now: datetime) -> None:
        """Have every queued mail sent as of an instant."""
        counts = notices_send(now=now, today=now.date())
        assert counts["sent"], counts


@pytest.fixture(params=[pytest.param("embedded_stack", marks=pytest.mark.long), "full_stack"])
def scene(request: pytest.FixtureRequest, tmp_path: Path, settings: Settings) -> Iterator[Scene]:
    """Derby, local files and `local[*]`; then MariaDB, HDFS and a standalone master."""
    stack: Stack = request.getfixturevalue(request.param)
    settings.LAKEWARDEN_VAR = tmp_path
    settings.LAKEWARDEN_LAKES = stack.lakes_file
    settings.LAKEWARDEN_DIRECTORY = tmp_path / "nobody.json"
    settings.LAKEWARDEN_PROBE_SECONDS = (0, 3600)
    host, _, port = stack.env["LAKEWARDEN_SMTP"].rpartition(":")
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = host, int(port)
    lake = PlainLake(stack.config(LAKE), uuid.uuid4().hex[:8])
    # An underscore is a wildcard to the database that is asked for live locations.
    lake.root = lake.base.child("_back ups")
    yield Scene(lake, lambda address: stack.smtp.messages(to=address))
    lake.metastore.close()


@pytest.fixture(autouse=True)
def known_kinds() -> Iterator[None]:
    """Leave the run kinds as they were."""
    yield
    kinds.register(PurgeKind())


@pytest.mark.rows("L6", "N8")
def test_late_data_is_found_and_a_purge_takes_only_what_it_may(scene: Scene) -> None:
    for table in ("came", "kept", "live", "taken"):
        scene.make(table, "a")
    for table in ("gone", "late"):
        scene.make(table, "a", "b")
    for tables in (("gone",), ("came", "kept"), ("taken",)):
        scene.drop(*tables, at=instant() - OLD)
    scene.drop("live", at=instant() - OLD, day=DAY - timedelta(days=1))
    late_writer_is_found_and_told(scene)
    before = {table: scene.backup(table) for table in scene.rows}
    announce(scene)
    nothing_is_purged_under_the_emergency_stop(scene)
    purge_takes_only_what_it_may(scene, before)


def late_writer_is_found_and_told(scene: Scene) -> None:
    """(a) One writer has a file open while its partition is dropped, one comes just after."""
    open_file = open_writer(scene.home("late", "b").child("open"))
    scene.drop("late")
    before = scene.backup("late")
    open_file(b"what came after the drop")
    scene.lake.make_files(scene.home("late", "a"), n=7)

    run = scene.run(ProbeKind.name, ProbeKind().scheduled_params(LAKE, now=instant()))
    assert (run.state, run.error) == ("DONE", None)
    assert run.result is not None
    assert (run.result["found"], run.result["busy"]) == (2, 0)
    assert ProbeKind().scheduled_params(LAKE, now=instant()) is None
    probe = BackupProbe.objects.get(batch=scene.rows["late"], delay_seconds=0)
    found = {item["partition"]: item for item in probe.details}
    assert (probe.state, probe.n_late, probe.run_id) == (ProbeState.LATE_COMMIT, 2, run.pk)
    assert (found["dt=a"]["found"], found["dt=a"]["is_registered"]) == ("LATE_COMMIT", True)
    assert (found["dt=b"]["found"], found["dt=b"]["is_registered"]) == ("GREW", False)
    clean = BackupProbe.objects.exclude(batch=scene.rows["late"])
    assert set(clean.values_list("state", flat=True)) == {ProbeState.CLEAN}

    # Nothing is lost: the new data stands registered, the old lies in the backup, grown.
    name = scene.lake.table_name("late")
    assert scene.lake.metastore.partition_names(name) == ["dt=a"]
    after = scene.backup("late")
    assert after["dt=a"] == before["dt=a"]
    assert {fact.path for fact in after["dt=b"]} == {fact.path for fact in before["dt=b"]}
    grown = {fact.path: fact.size for fact in after["dt=b"]}
    assert grown["open"] == len(b"beforewhat came after the drop")

    # Its owner is told once, the record and the page say it.
    assert {event.action for event in events("backup.late_commit", "backup.grew")} == {
        "backup.late_commit",
        "backup.grew",
    }
    scene.send(instant())
    (mail,) = scene.mails("alice@example.com")[-1:]
    text = mail.get_body(("plain",)).get_content()
    assert "after its drop" in mail["Subject"]
    assert f"{name} dt=a" in text
    assert "the new data is registered again" in text
    assert "what it wrote is in the backup with the old data" in text
    page = scene.page("late")
    assert "was written to the old place" in page
    assert "registered again" in page
    assert "a writer had them open" in page


def announce(scene: Scene) -> None:
    """Tell the owner of the final notice, four days ago."""
    then = instant() - FOUR_DAYS
    assert PurgeKind().scheduled_params(LAKE, now=instant()) is None
    assert last_chance_queue(LAKE, now=then) == 1
    scene.send(then)


def nothing_is_purged_under_the_emergency_stop(scene: Scene) -> None:
    """Neither by the clock nor by hand."""
    params = PurgeKind().scheduled_params(LAKE, now=instant())
    before = scene.row("gone").purge_after
    assert before is not None
    pressed = instant() - timedelta(hours=1)
    emergency_stop_start(lake=LAKE, pressed_by="anna", reason="smoke", now=pressed)
    assert PurgeKind().scheduled_params(LAKE, now=instant()) is None
    run = scene.run(PurgeKind.name, params)
    assert run.state == "FAILED"
    assert run.error is not None
    assert run.error["code"] == "red_button.pressed"
    released = pressed + timedelta(hours=2)
    end_stop(LAKE, scene.anna, scene.bert, reason="all clear", now=released)
    assert scene.row("gone").purge_after == before + timedelta(hours=2)


def purge_takes_only_what_it_may(
    scene: Scene, before: dict[str, dict[str, tuple[FileFact, ...]]]
) -> None:
    """(b) One is held, one restored just now, one has a live table in it, one gets late data."""
    hold_place(
        lake=LAKE,
        name=(scene.lake.db, "kept", "dt=a"),
        kind=HoldKind.LEGAL,
        until=None,
        reason="a law suit",
        user=scene.anna,
        now=instant(),
    )
    restore = scene.portal.new_run("restore")
    restore_prepare(restore, batches=[scene.rows["taken"]], now=instant())
    place = scene.lake.config.path(scene.rows["live"].path)
    register_at(scene.lake, "imported", str(place.child(item_name(1, 0))))
    scene.lake.make_files(scene.home("came", "a"), n=8)

    kinds.register(KilledPurge())
    run = scene.run(PurgeKind.name, PurgeKind().scheduled_params(LAKE, now=instant()))
    assert (run.state, run.error, run.epoch) == ("DONE", None, 2)
    assert run.result is not None
    assert run.result["counts"] == {"PURGED": 1, "SKIPPED": 4}

    gone = scene.row("gone")
    assert (gone.state, gone.purge_skipped_reason) == (BackupState.PURGED, "")
    assert gone.purged_at is not None
    assert scene.lake.fs.status(scene.lake.config.path(gone.path).parent) is None
    recorded = [event.action for event in events("backup.purge_begun", "backup.purged")]
    assert recorded == ["backup.purge_begun", "backup.purged"]
    assert re.search(r"purged\s+<time", scene.page("gone"))
    reason = {
        table: scene.row(table).purge_skipped_reason for table in ("kept", "taken", "live", "came")
    }
    assert reason["kept"] == "held: a law suit"
    assert reason["taken"].startswith("another run has this backup")
    assert reason["live"].startswith("a live table or partition is in the backups of its day")
    assert reason["came"] == "late data at the old place of dt=a was registered just now"
    assert "held: a law suit" in scene.page("kept")

    # What was left is whole, and what came to light is told.
    act_settle(restore, now=instant())
    for table in reason:
        assert scene.row(table).state == BackupState.DROPPED
        assert scene.backup(table) == before[table], table
    assert scene.lake.metastore.partition_names(scene.lake.table_name("came")) == ["dt=a"]
    scene.send(instant())
    text = scene.mails("alice@example.com")[-1].get_body(("plain",)).get_content()
    assert f"{scene.lake.db}.came dt=a" in text
    assert "before a purge" in scene.page("came")


def open_writer(path: LakePath) -> Callable[[bytes], None]:
    """Begin a file and keep it open; the answer writes the rest and closes it."""
    if path.scheme == "file":
        file = Path(path.path).open("wb")  # noqa: SIM115 - it stays open while others act
        file.write(b"before")
        file.flush()

        def finish(rest: bytes) -> None:
            file.write(rest)
            file.close()

        return finish
    writer = hdfs_native.Client(f"hdfs://{path.authority}").create(path.path)
    writer.write(b"before")

    def finish_there(rest: bytes) -> None:
        writer.write(rest)
        writer.close()

    return finish_there


def register_at(lake: ActLake, table: str, location: str) -> None:
    """Register an external table at a location, as a plain IMPORT of an export may."""
    struct = ttypes.Table(
        dbName=lake.db,
        tableName=table,
        owner="alice",
        createTime=1,
        sd=lake._storage(lake.config.path(location), "text"),
        partitionKeys=[],
        parameters={"EXTERNAL": "TRUE"},
        tableType="EXTERNAL_TABLE",
    )
    lake.metastore.create_table(struct)


def events(*actions: str) -> list[AuditEvent]:
    """Return the record's events of these kinds, in order."""
    return list(AuditEvent.objects.filter(action__in=actions).order_by("seq"))
