"""The portal's side of acting, on a real lake: fence, settle, ingest, rebuild, holds, repair."""

import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from lifecycle.backup.domain.states import BackupState, ProbeState
from lifecycle.backup.engine.journal.reading import read_batch
from lifecycle.backup.engine.purge.batches import PurgeOrder, PurgeResult, purge_batches
from lifecycle.backup.engine.restore.batches import restore_batches
from lifecycle.backup.engine.restore.order import BackupBatchRef, NewName, RestoreOrder
from lifecycle.backup.models import ActFence, BackupBatch, BackupProbe, Hold, Savings
from lifecycle.backup.selectors import probes_due, purgeable_batches
from lifecycle.backup.services.beating import act_beat
from lifecycle.backup.services.fencing import act_prepare, purge_prepare, restore_prepare
from lifecycle.backup.services.ingesting import act_ingest, backups_rebuild
from lifecycle.backup.services.probing import probes_ingest, probes_request
from lifecycle.backup.services.purging import purge_ingest
from lifecycle.backup.services.repairing import drop_repair
from lifecycle.backup.services.settling import act_settle
from lifecycle.restore.services.reading import (
    OTHER_RESTORE,
    Wanted,
    backup_contents,
    restore_preview,
)
from portal.audit.models import AuditEvent
from portal.lake.errors import DataSafetyError, NotAllowed, StaleState
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.runs.kinds.registry import get_kind
from portal.runs.records.spools import open_spool
from portal.safety.models import EmergencyStop
from portal.safety.services import emergency_stop_start
from stack.stack import Stack
from tests.support.act_jobs import purge_claims
from tests.support.act_lake import DAY, ActLake
from tests.support.act_portal import ActPortal, instant

pytestmark = pytest.mark.django_db


@pytest.fixture
def portal(embedded_stack: Stack, settings: Settings) -> Iterator[ActPortal]:
    settings.LAKEWARDEN_LAKES = str(embedded_stack.lakes_file)
    lake = ActLake(embedded_stack.config("main"), uuid.uuid4().hex[:8])
    lake.fs.make_directories(lake.root, mode=0o700)
    settings.LAKEWARDEN_PROBE_SECONDS = (0, 3600)
    yield ActPortal(lake)
    lake.metastore.close()


@pytest.fixture
def parts(portal: ActPortal) -> TableName:
    return portal.lake.make_table("parts", keys=("dt",), values=[("a",), ("b",), ("c",)])


def test_a_drop_becomes_rows_probes_and_one_event_an_item(
    portal: ActPortal, parts: TableName
) -> None:
    run = portal.drop(parts)
    row = BackupBatch.objects.get()
    assert (row.run_id, row.n_items, row.state) == (run.pk, 3, BackupState.DROPPED)
    assert row.n_files == 15
    assert row.purge_after == row.dropped_at + timedelta(days=15)
    assert (row.first_partition, row.last_partition) == ("dt=a", "dt=c")
    assert row.path == str(portal.lake.day.sealed(str(run.pk), 1))
    dropped = AuditEvent.objects.filter(action="item.dropped")
    assert sorted(event.object_id for event in dropped) == [
        f"{parts}/dt={value}" for value in "abc"
    ]
    assert sorted(probe.delay_seconds for probe in BackupProbe.objects.all()) == [0, 3600]
    assert not ActFence.objects.filter(closed_at=None).exists()


def test_what_is_refused_is_reported_and_recorded_once_whatever_the_epochs(
    portal: ActPortal, parts: TableName
) -> None:
    items = portal.lake.items(parts)
    late = portal.lake.db_path.child("parts", "dt=b", "late")
    portal.lake.fs.write_new(late, b"new")
    run = portal.drop(parts, items=items)
    row = BackupBatch.objects.get()
    assert (row.n_items, row.n_skipped) == (2, 1)
    # Its next epoch meets what the first one dropped, and the one that changed.
    portal.drop(parts, run=run, items=items)
    report = act_ingest(run, {"result": {}}, now=instant())
    assert report.counts == {"DROPPED": 2, "SKIPPED": 1}
    (left,) = report.skipped
    assert left["item"] == f"{parts}/dt=b"
    assert "number of files was" in left["reason"]
    assert report.window is not None
    assert 0 < report.window < 5
    refused = AuditEvent.objects.filter(action="item.refused")
    assert [event.object_id for event in refused] == [f"{parts}/dt=b"] * 2
    assert refused[0].data["reason"] == left["reason"]
    assert AuditEvent.objects.filter(action="item.dropped").count() == 2
    second = BackupBatch.objects.get(epoch=2)
    assert (second.state, second.n_items, second.n_skipped) == (BackupState.REPORTED, 0, 1)


@pytest.mark.rows("N9")
def test_a_restore_is_recorded_item_by_item_and_held(portal: ActPortal, parts: TableName) -> None:
    before = portal.lake.snapshot(parts)
    portal.drop(parts)
    portal.restore(partitions=["dt=b"])
    row = BackupBatch.objects.get()
    assert (row.state, row.n_restored) == (BackupState.PARTLY_RESTORED, 1)
    saved = Savings.objects.get(month=Savings.EVER, db=row.db, table_owner=row.table_owner)
    assert 0 < saved.waiting_bytes == row.n_bytes - row.restored_bytes < row.n_bytes
    assert [(hold.table, hold.partition) for hold in Hold.objects.all()] == [("parts", "dt=b")]
    portal.restore()
    row.refresh_from_db()
    assert (row.state, row.n_restored, row.restored_bytes) == (
        BackupState.RESTORED,
        3,
        row.n_bytes,
    )
    saved = Savings.objects.get(month=Savings.EVER, db=row.db, table_owner=row.table_owner)
    assert (saved.waiting_bytes, saved.purged_bytes) == (0, 0)
    events = AuditEvent.objects.filter(action="item.restored").order_by("seq")
    assert sorted(event.object_id[-4:] for event in events) == ["dt=a", "dt=b", "dt=c"]
    assert Hold.objects.count() == 3
    assert portal.lake.snapshot(parts).files == before.files


@pytest.mark.rows("N5", "L7")
def test_a_restore_under_another_name_goes_back_and_the_catalogue_knows(
    portal: ActPortal, parts: TableName
) -> None:
    before = portal.lake.snapshot(parts)
    portal.drop(parts)
    fields = ("state", "n_restored", "restored_bytes", "manifest_sha256")
    (was,) = BackupBatch.objects.values(*fields)
    days = BackupBatch.objects.get().purge_after
    copy = portal.lake.table_name("copy")
    place = NewName(copy.db, "copy", portal.lake.base.child("new", "copy"))
    restore = portal.restore(to=place)
    assert portal.lake.snapshot(copy).files == before.files
    held = Hold.objects.values_list("table", "partition")
    assert sorted(held) == [("copy", f"dt={value}") for value in "abc"]

    _, result = portal.undo(restore)
    assert (result.counts, result.skipped) == ({"UNDONE": 3}, [])
    assert portal.lake.metastore.table_or_none(copy) is None
    row = BackupBatch.objects.get()
    assert BackupBatch.objects.values(*fields).get() == was
    assert row.purge_after is not None
    assert days is not None
    assert row.purge_after > days
    saved = Savings.objects.get(month=Savings.EVER, db=row.db, table_owner=row.table_owner)
    assert saved.waiting_bytes == row.n_bytes
    events = AuditEvent.objects.filter(action="item.restore_undone").order_by("seq")
    assert [event.object_id for event in events] == [f"{copy}/dt={value}" for value in "abc"]
    assert AuditEvent.objects.filter(action="item.restored").count() == 3
    again = portal.restore()
    assert portal.lake.snapshot(parts).files == before.files
    assert AuditEvent.objects.filter(action="item.restored").count() == 6
    portal.undo(again)
    # The events of an undo's own drops repair nothing: the data lies in the backup.
    assert _repair(parts, now=instant()) == []
    assert portal.lake.metastore.partition_names(parts) == []


def test_a_resumed_restore_counts_what_every_epoch_of_it_brought_back(
    portal: ActPortal, parts: TableName
) -> None:
    items = portal.lake.items(parts)
    portal.drop(parts, items=items[:1])
    portal.drop(parts, items=items[1:])
    run = portal.new_run("restore", partitions=["dt=a", "dt=b"])
    died = portal.restore_epoch(run, dies_after=2)
    report = act_ingest(run, died, now=instant())
    assert report.whole_result(died["result"])["counts"] == {"RESTORED": 2}
    run.epoch, run.params = 2, {}
    run.save()
    ended = portal.restore_epoch(run)
    # The driver of this epoch met one of its run's own items, and never saw the first batch.
    assert ended["result"]["counts"] == {"RESTORED": 2}
    report = act_ingest(run, ended, now=instant())
    assert report.whole_result(ended["result"])["counts"] == {"RESTORED": 3}


def test_the_catalogue_is_rebuilt_from_the_files(portal: ActPortal, parts: TableName) -> None:
    portal.drop(parts)
    portal.restore(partitions=["dt=a"])
    fields = ("run_id", "batch", "state", "n_items", "n_restored", "manifest_sha256", "purge_after")
    rows = list(BackupBatch.objects.values(*fields))
    BackupBatch.objects.all().delete()
    counts = backups_rebuild("main", now=instant(), roots=[str(portal.lake.root)])
    assert counts == {"directories": 1, "batches": 1, "new": 1, "unsettled": 0}
    assert list(BackupBatch.objects.values(*fields)) == rows
    assert backups_rebuild("main", now=instant(), roots=[str(portal.lake.root)])["new"] == 0


def test_a_preview_beside_a_running_restore_tells_what_stands(
    portal: ActPortal, parts: TableName
) -> None:
    other = portal.lake.make_table("other", keys=("dt",), values=[("x",), ("y",)])
    portal.drop(parts, items=portal.lake.items(other) + portal.lake.items(parts))
    batches = list(BackupBatch.objects.order_by("table"))
    assert len({batch.path for batch in batches}) == 1
    run = portal.new_run("restore", batches=[str(batches[1].public_id)])
    claims = restore_prepare(run, batches=batches[1:], now=instant())["claims"]

    def shown(batch: BackupBatch) -> dict[str, Any]:
        return restore_preview([batch], lake="main", wanted=Wanted(), now=instant())

    found = shown(batches[0])
    assert (found["counts"], found["waits"]) == ({"RESTORE": 2}, OTHER_RESTORE)
    # The restore dies between its renames: what its step names is told apart from what is free.
    tools = portal.lake.tools(portal.lake.config.path(claims[0]["fence"]))
    looks = iter([None])
    tools.alive = lambda: next(looks)
    directory = portal.lake.config.path(claims[0]["directory"])
    order = RestoreOrder(
        run=str(run.pk),
        epoch=1,
        lake=portal.lake.config.lake,
        batches=(BackupBatchRef(directory, claims[0]["batch"]),),
        partitions=frozenset({"dt=a", "dt=b"}),
    )
    with pytest.raises(StopIteration):
        restore_batches(order, tools_of=lambda _directory: tools)
    assert shown(batches[1])["counts"] == {"UNDER_WAY": 2, "RESTORE": 1}
    assert backup_contents(batches, lake="main")["n_items"] == 5
    kind = get_kind("lifecycle.restore")
    second = portal.new_run("restore", batches=[str(batch.public_id) for batch in batches])
    assert "Another restore of this day" in kind.waits(second, now=instant())
    assert kind.waits(run, now=instant()) == ""
    act_settle(run, now=instant())
    found = shown(batches[1])
    assert (found["counts"], found["waits"]) == ({"ALREADY_RESTORED": 1, "RESTORE": 2}, "")
    assert kind.waits(second, now=instant()) == ""
    purge = portal.new_run("purge")
    purge_prepare(purge, batches=batches, now=instant())
    with pytest.raises(StaleState, match="A purge has the backups of"):
        shown(batches[0])


def test_a_backup_is_claimed_by_one_run_only(portal: ActPortal, parts: TableName) -> None:
    portal.drop(parts)
    batches = list(BackupBatch.objects.all())
    first, second = portal.new_run("restore"), portal.new_run("purge")
    restore_prepare(first, batches=batches, now=instant())
    with pytest.raises(StaleState, match="Another run has this backup"):
        restore_prepare(portal.new_run("restore"), batches=batches, now=instant())
    left = purge_prepare(second, batches=batches, now=instant())
    assert (left["claims"], [one["backup"] for one in left["busy"]]) == (
        [],
        [str(batches[0].public_id)],
    )
    # While the restore has it the purge ends: what it could not have is not taken for purged.
    purge_ingest(second, {"outcome": "done", "result": {}}, now=instant())
    assert BackupBatch.objects.get().state == BackupState.DROPPED
    act_settle(first, now=instant())
    assert len(purge_prepare(second, batches=batches, now=instant())["claims"]) == 1


def test_nothing_starts_while_the_red_button_is_pressed(
    portal: ActPortal, parts: TableName
) -> None:
    run = portal.new_run("drop")
    emergency_stop_start(lake="main", pressed_by="ann", reason="smoke", now=instant())
    emergency_stop_start(lake="main", pressed_by="bob", reason="more smoke", now=instant())
    assert EmergencyStop.objects.count() == 1
    with pytest.raises(NotAllowed, match="ann started the emergency stop: smoke"):
        act_prepare(run, root=str(portal.lake.root), day=DAY, now=instant())
    act_beat(run, now=instant())
    assert open_spool(run).read_control()["red_button"] == "smoke"


def test_a_foreign_backup_root_is_never_touched(portal: ActPortal, parts: TableName) -> None:
    marker = portal.lake.root.child("lakewarden-root.json")
    portal.lake.fs.write_new(marker, b'{"deployment_id": "somebody else"}')
    with pytest.raises(DataSafetyError, match="somebody else"):
        portal.drop(parts)
    assert portal.lake.metastore.partition_names(parts) == ["dt=a", "dt=b", "dt=c"]


def test_a_zombies_drop_of_restored_items_is_repaired_and_an_owners_is_not(
    portal: ActPortal, parts: TableName
) -> None:
    before = portal.lake.snapshot(parts)
    portal.drop(parts)
    portal.restore()
    portal.lake.metastore.drop_partitions(parts, ["dt=a", "dt=b"], delete_data=False)
    portal.lake.fs.rename(
        LakePath.parse(f"{portal.lake.db_path}/parts/dt=b"), portal.lake.base.child("gone")
    )
    assert _repair(parts, now=instant()) == ["dt=a"]
    assert _repair(parts, now=instant()) == []
    after = portal.lake.snapshot(parts)
    assert set(after.items) == {"dt=a", "dt=c"}
    assert after.items["dt=a"] == before.items["dt=a"]
    portal.lake.metastore.drop_partitions(parts, ["dt=a"], delete_data=False)
    assert _repair(parts, now=instant() + timedelta(hours=2)) == []


def _repair(name: TableName, *, now: datetime) -> list[str]:
    return drop_repair("main", db=name.db, table=name.table, partitions=["dt=a", "dt=b"], now=now)


def test_a_probe_finds_late_data_once_and_damage_stops_everything(
    portal: ActPortal, parts: TableName
) -> None:
    run = portal.drop(parts)
    portal.lake.make_files(portal.lake.db_path.child("parts", "dt=a"), n=9)
    asked = probes_request("main", now=instant())
    assert asked is not None
    (probe,) = asked["probes"]
    batch = read_batch(portal.lake.fs, portal.lake.config.path(probe["directory"]), probe["batch"])
    found = [item.as_dict() for item in portal.lake.probe(batch)]
    results = [{"probe": probe["probe"], "items": found}]
    for _ in range(2):
        told: list[dict[str, Any]] = []
        probes_ingest("main", results, run_id=run.pk, now=instant(), tell=told.extend)
        assert [(entry["partition"], entry["owner"]) for entry in told] == [("dt=a", "alice")]
    assert AuditEvent.objects.filter(action="backup.late_commit").count() == 1
    assert BackupProbe.objects.get(delay_seconds=0).state == ProbeState.LATE_COMMIT
    assert probes_request("main", now=instant()) is None
    (later,) = probes_due("main", now=instant() + timedelta(hours=2))
    home = batch.directory.child(batch.intent.items[1].item)
    portal.lake.fs.remove_file(home.child("part-00001"))
    found = [item.as_dict() for item in portal.lake.probe(batch)]
    results, again = [{"probe": later.pk, "items": found}], uuid.uuid4()
    portal_told: list[dict[str, Any]] = []
    with pytest.raises(DataSafetyError, match="lacks part-00001"):
        probes_ingest("main", results, run_id=again, now=instant(), tell=portal_told.extend)
    assert portal_told == [], "the late data was told of by the first look"


def test_a_purge_waits_for_its_day_and_leaves_nothing_but_the_row(
    portal: ActPortal, parts: TableName
) -> None:
    portal.drop(parts)
    row = BackupBatch.objects.get()
    assert not purgeable_batches("main", now=instant()).exists()
    assert _purge(portal, row, at=instant()).counts == {"SKIPPED": 1}
    row.refresh_from_db()
    assert row.state == BackupState.DROPPED
    assert row.purge_skipped_reason == "its days are not over"
    after = instant() + timedelta(days=16)
    assert purgeable_batches("main", now=after).get() == row
    assert _purge(portal, row, at=after).counts == {"PURGED": 1}
    row.refresh_from_db()
    assert row.state == BackupState.PURGED
    assert row.purged_at is not None
    assert row.purge_skipped_reason == ""
    assert not purgeable_batches("main", now=after).exists()
    sealed = portal.lake.config.path(row.path)
    assert portal.lake.fs.status(sealed.parent) is None
    assert portal.lake.files(sealed.parent.parent.parent.child("purging"))[1:] == ()
    assert AuditEvent.objects.filter(action="backup.purged").count() == 1


def _purge(portal: ActPortal, row: BackupBatch, *, at: datetime) -> PurgeResult:
    run = portal.new_run("purge")
    claims = purge_prepare(run, batches=[row], now=instant())["claims"]
    tools = portal.lake.tools(portal.lake.config.path(claims[0]["fence"]))
    tools.clock = lambda: at
    result = PurgeResult()
    purge_batches(
        PurgeOrder(str(run.pk), purge_claims(portal.lake.config, claims), portal.lake.occupied),
        tools,
        result=result,
    )
    manifest = {"outcome": "done", "result": result.as_dict()}
    for _ in range(2):
        act_settle(run, now=instant())
        purge_ingest(run, manifest, now=instant())
    return result
