"""Backs up a portal on MariaDB in the middle of a drop, and restores it: run by test_drill.py."""

import json
import uuid
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from lifecycle.backup.domain.states import BackupState
from lifecycle.backup.engine.drop import drop_items
from lifecycle.backup.engine.facts import ActItem
from lifecycle.backup.engine.protocol import DropOrder
from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.fencing import act_prepare
from lifecycle.backup.services.ingesting import backups_rebuild
from portal.audit.models import AuditEvent
from portal.audit.services import audit_record, audit_verify
from portal.lake.errors import NotAllowed
from portal.lake.names import TableName
from portal.notices.models import Notice, NoticeState
from portal.runs.domain import RunState
from portal.runs.models import Lease, Outbox, Run
from portal.runs.outbox.services import publish_run
from portal.safety.models import EmergencyStop
from stack.stack import Stack
from tests.support.act_lake import DAY, ActLake, TestRules
from tests.support.act_portal import ActPortal, instant

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def portal(embedded_stack: Stack, settings: Settings, tmp_path: Path) -> Iterator[ActPortal]:
    assert connection.vendor == "mysql"
    settings.LAKEWARDEN_AUDIT_ANCHORS = tmp_path / "anchors.jsonl"
    lake = ActLake(embedded_stack.config("main"), uuid.uuid4().hex[:8])
    lake.fs.make_directories(lake.root, mode=0o700)
    lakes = json.loads(embedded_stack.lakes_file.read_text(encoding="utf-8"))
    lakes["main"]["backup_roots"] = [str(lake.root)]
    settings.LAKEWARDEN_LAKES = str(tmp_path / "lakes.json")
    (tmp_path / "lakes.json").write_text(json.dumps(lakes), encoding="utf-8")
    yield ActPortal(lake)
    lake.metastore.close()


@pytest.fixture
def parts(portal: ActPortal) -> TableName:
    return portal.lake.make_table("parts", keys=("dt",), values=[("a",), ("b",), ("c",)])


def act(portal: ActPortal, run: Run, items: list[ActItem]) -> None:
    """Let the driver of a run that was prepared drop its items; the portal is not told."""
    asked = act_prepare(run, root=str(portal.lake.root), day=DAY, now=instant())
    fence = portal.lake.config.path(asked["fence"])
    order = DropOrder(
        run=str(run.pk),
        epoch=run.epoch,
        lake=portal.lake.config.lake,
        plan=str(uuid.uuid4()),
        digest="digest",
        fence=fence,
        keep_days={},
    )
    drop_items(order, items, rules=TestRules(portal.lake.config), tools=portal.lake.tools(fence))


def waiting_work() -> Run:
    """Leave what a portal may have on its hands: a run, its message, a mail, a session."""
    now = instant()
    run = Run.objects.create(
        lake="main", kind="lifecycle.drop", queue="destructive", requested_by="dora", queued_at=now
    )
    publish_run(run, now=now)
    Notice.objects.create(
        lake="main",
        kind="lifecycle.due",
        day=now.date(),
        recipient="olga",
        email="olga@example.com",
        subject="Due",
        text="Due",
        message_id=f"{uuid.uuid4()}@example.com",
        queued_at=now,
        not_before=now,
    )
    Session.objects.create(session_key="s" * 32, session_data="", expire_date=now + timedelta(1))
    return run


def noted(action: str) -> None:
    audit_record(
        action, actor="dora", lake="main", object_type="t", object_id="1", data={}, now=instant()
    )


def test_a_backup_amid_a_drop_loses_nothing_and_drops_nothing_twice(
    portal: ActPortal, parts: TableName, tmp_path: Path
) -> None:
    before, items = portal.lake.snapshot(parts), portal.lake.items(parts)
    dropping, queued = portal.new_run("drop"), waiting_work()
    Run.objects.filter(pk=dropping.pk).update(state=RunState.RUNNING)
    act_prepare(dropping, root=str(portal.lake.root), day=DAY, now=instant())
    noted("before.backup")
    call_command("backup_portal", tmp_path / "copy", stdout=StringIO())

    # The drop goes on, another one follows, and the portal's disk is lost.
    act(portal, dropping, items[:2])
    portal.end(dropping, {"outcome": "done", "result": {}})
    portal.drop(parts, items=items[2:])
    noted("after.backup")
    assert BackupBatch.objects.count() == 2

    said = StringIO()
    call_command("restore_portal", tmp_path / "copy", "--replace", stdout=said)
    assert "Emergency stop: main. Cancelled: 1 waiting runs. Not sent: 1 mails." in said.getvalue()
    assert set(AuditEvent.objects.values_list("action", flat=True)) >= {
        *("before.backup", "database.restored"),
    }
    assert not AuditEvent.objects.filter(action="after.backup").exists()
    assert audit_verify().broken_at is None
    assert not BackupBatch.objects.exists()

    # Nothing is done by itself.
    assert EmergencyStop.objects.get(lake="main").is_open
    queued.refresh_from_db()
    assert (queued.state, queued.cancel_requested_by) == (RunState.CANCELLED, "restore_portal")
    assert Notice.objects.get().state == NoticeState.FAILED
    assert "may have been sent after it" in Notice.objects.get().error
    assert not Outbox.objects.filter(published_at=None).exists()
    assert not Session.objects.exists()

    # The run that had begun is settled from its files; the other one is found beside the data.
    left = Run.objects.get(pk=dropping.pk)
    assert left.state == RunState.RUNNING
    portal.end(left, {"outcome": "died", "result": {}})
    backups_rebuild("main", now=instant())
    backups_rebuild("main", now=instant())
    own = BackupBatch.objects.filter(path__startswith=str(portal.lake.root))
    assert sorted(own.values_list("n_items", "state")) == [
        (1, BackupState.DROPPED),
        (2, BackupState.DROPPED),
    ]
    dropped = AuditEvent.objects.filter(action="item.dropped")
    assert sorted(dropped.values_list("object_id", flat=True)) == [
        f"{parts}/dt={value}" for value in "abc"
    ]
    with pytest.raises(NotAllowed, match="restore_portal started the emergency stop"):
        portal.restore()
    EmergencyStop.objects.update(is_open=None, released_by="two admins", released_at=instant())
    portal.restore()
    assert portal.lake.snapshot(parts) == before


def test_a_trial_in_another_database_changes_nothing_of_the_portal(
    portal: ActPortal, tmp_path: Path
) -> None:
    waiting_work()
    noted("before.backup")
    call_command("backup_portal", tmp_path / "copy", stdout=StringIO())
    noted("after.backup")
    said = StringIO()
    call_command("restore_portal", tmp_path / "copy", "--try-in", "portal_try", stdout=said)
    assert "It can be restored: 1 audit events, whole." in said.getvalue()
    assert AuditEvent.objects.filter(action="after.backup").exists()
    assert Notice.objects.get().state == NoticeState.QUEUED
    own = connection.settings_dict["NAME"]
    with pytest.raises(CommandError, match="Name another database"):
        call_command("restore_portal", tmp_path / "copy", "--try-in", own)


def test_a_damaged_backup_and_a_portal_that_works_are_refused(
    portal: ActPortal, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    call_command("backup_portal", copy, stdout=StringIO())
    with pytest.raises(CommandError, match=r"exists\. Name a folder that does not"):
        call_command("backup_portal", copy)
    lease = Lease.objects.create(name="supervise", holder="h1", until=instant() + timedelta(1))
    with pytest.raises(CommandError, match=r"supervise is led by h1\. Stop web"):
        call_command("restore_portal", copy, "--replace")
    lease.delete()
    manifest = copy / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**told, "format": 2}), encoding="utf-8")
    with pytest.raises(CommandError, match="has format 2; this version reads 1"):
        call_command("restore_portal", copy, "--replace")
    manifest.write_text(json.dumps(told), encoding="utf-8")
    with (copy / "portal.sql.gz").open("ab") as dump:
        dump.write(b"more")
    with pytest.raises(CommandError, match="is missing or damaged"):
        call_command("restore_portal", copy, "--replace")
