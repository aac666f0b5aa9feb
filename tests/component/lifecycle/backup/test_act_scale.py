"""What a drop or restore of very many items costs: looks at the lake, and what jobs are told."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pytest_django.fixtures import Settings

from lifecycle.backup.domain.control import ControlReader
from lifecycle.backup.domain.layout import Day, done_name, intent_name, item_name
from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.engine.drop import parents_of
from lifecycle.backup.engine.files.backup_root import ensure_root
from lifecycle.backup.engine.journal.catalogue import read_entries
from lifecycle.backup.engine.journal.reading import (
    JournalBatch,
    items_in_backup,
    names_by_batch,
    read_batch,
    restore_steps,
)
from lifecycle.backup.engine.journal.records import (
    BatchDone,
    BatchIntent,
    FileFact,
    ItemDone,
    ItemIntent,
    Outcome,
)
from lifecycle.backup.engine.protocol import Tools
from lifecycle.backup.engine.restore.order import BackupBatchRef
from lifecycle.backup.models import ActFence, BackupBatch, Hold
from lifecycle.backup.services.beating import act_beat
from lifecycle.backup.services.catalogue_rows import batch_store
from lifecycle.backup.services.fencing import restore_claims, restore_prepare
from lifecycle.backup.services.holds import holds_place_restored, holds_release_restored
from lifecycle.backup.services.ingesting import act_ingest, backups_rebuild
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import DataSafetyError
from portal.lake.paths import LakePath
from portal.runs.models import Run
from portal.runs.records.spools import new_spool, open_spool
from portal.spark.spool import Spool
from tests.component.lifecycle.backup_world import backup, item
from tests.component.lifecycle.plan_world import LAKE, NOW, World, make_world

pytestmark = pytest.mark.django_db(transaction=True)
BATCHES, ITEMS = 60, 10


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    made = make_world(tmp_path)
    ensure_root(LocalFileSystem(), root_of(made), deployment_id="test")
    return made


def root_of(world: World) -> LakePath:
    return LakePath.parse((world.root / "backup").as_uri())


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the calls of the file system that a NameNode would have to answer."""
    counted: Counter[str] = Counter()

    def counting(name: str) -> Callable[..., Any]:
        real = getattr(LocalFileSystem, name)

        def call(self: LocalFileSystem, *args: Any, **kwargs: Any) -> Any:
            counted[name] += 1
            return real(self, *args, **kwargs)

        return call

    for name in ("status", "names", "children", "read", "rename", "make_directory"):
        monkeypatch.setattr(LocalFileSystem, name, counting(name))
    return counted


def big_backup(world: World) -> list[BackupBatch]:
    """Many batches of one run, two levels of partitions deep, whose parents Hive removed."""
    first = backup(world.root)
    (world.root / "lake" / "sales").mkdir(parents=True, exist_ok=True)
    directory = world.root / "backup" / str(first.day) / "sealed" / str(first.run_id) / "1"
    lake = (world.root / "lake" / "sales" / "orders").as_uri()
    for batch in range(1, BATCHES + 1):
        parents = [FileFact(f"{lake}/dt={batch}", True, 0, 1, "root", "root", 0o755)]
        parents.insert(0, replace(parents[0], path=lake))
        items = tuple(
            replace(
                item(n, f"dt={batch}/h={n}"),
                item=item_name(batch, n),
                source=f"{lake}/dt={batch}/h={n}",
                parents=tuple(parents),
            )
            for n in range(ITEMS)
        )
        intent = BatchIntent(
            str(first.run_id), 1, batch, LAKE, "sales", "orders", "alice", "", "d",
            NOW.isoformat(), 15, "{}", items,
        )  # fmt: skip
        dones = tuple(ItemDone(one.item, one.partition, Outcome.DROPPED) for one in items)
        done = BatchDone(str(first.run_id), 1, batch, NOW.isoformat(), "driver", dones)
        (directory / intent_name(batch)).write_bytes(intent.to_bytes())
        (directory / done_name(batch)).write_bytes(done.to_bytes())
        for one in items:
            (directory / one.item).mkdir()
    BackupBatch.objects.all().delete()
    backups_rebuild(LAKE, now=NOW, roots=[str(root_of(world))])
    return list(BackupBatch.objects.order_by("batch"))


def new_run(kind: str = "restore", **params: Any) -> Run:
    run = Run(lake=LAKE, kind=kind, epoch=1, requested_by="dora", params=params, queued_at=NOW)
    spool = new_spool(run)
    spool.create()
    run.spool = str(spool.root)
    run.save(force_insert=True)
    return run


def test_a_restore_asks_for_each_parent_once_and_claims_once(
    world: World, calls: Counter[str]
) -> None:
    rows = big_backup(world)
    assert len(rows) == BATCHES
    run = new_run()
    calls.clear()
    claims = restore_prepare(run, batches=rows, now=NOW)
    # Three files a batch; two statuses a directory that is made (looked for, then owned).
    assert calls["status"] < 5 * BATCHES
    assert calls["make_directory"] <= BATCHES + 5
    assert calls["names"] <= 3
    assert (world.root / "lake" / "sales" / "orders" / f"dt={BATCHES}").is_dir()
    calls.clear()
    assert restore_claims(run, batches=rows) == claims
    assert not calls


def test_a_directory_of_many_batches_is_listed_once(world: World, calls: Counter[str]) -> None:
    row = big_backup(world)[0]
    day, directory = Day(root_of(world), row.day), LakePath.parse(row.path)
    calls.clear()
    entries = list(read_entries(LocalFileSystem(), day, directory))
    assert [entry and len(entry.kept) for entry in entries] == [ITEMS] * BATCHES
    assert calls["names"] == 1


def test_a_batch_is_added_up_once_and_not_once_for_each_of_its_items(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = big_backup(world)[0]
    day, directory = Day(root_of(world), row.day), LakePath.parse(row.path)
    entries = [one for one in read_entries(LocalFileSystem(), day, directory) if one]
    counted: Counter[str] = Counter()

    def counting(batch: JournalBatch) -> list[ItemIntent]:
        counted["kept"] += 1
        return items_in_backup(batch)

    monkeypatch.setattr("lifecycle.backup.engine.journal.catalogue.items_in_backup", counting)
    assert not any(batch_store(one, refused=(), actor="ada", now=NOW) for one in entries)
    assert counted["kept"] < 20 * BATCHES


def test_the_files_of_a_batch_are_found_in_one_listing(world: World) -> None:
    own = ("intent.7.json", "done.7.json", "purged.7.json")
    others = ("restore.x.1.8.intent.json", "restore.x.1.8.done.json", "intent.8.json")
    names = names_by_batch([*own, "b0000007-i000", "lease.json", *others, "x.7.json"])
    assert set(names) == {7, 8}
    assert (names[7], names[8]) == (own, others)
    row = big_backup(world)[0]
    directory = LakePath.parse(row.path)
    assert restore_steps(LocalFileSystem(), directory, 1, names=names.get(9, ())) == []


def reader(run: Run) -> ControlReader:
    spool = open_spool(run)
    return ControlReader(spool.read_control, spool.read_part)


def held(n: int) -> list[tuple[str, str, str]]:
    return [("sales", "orders", f"dt={number}/h=1") for number in range(n)]


def test_holds_of_a_big_restore_stay_out_of_what_is_written_at_every_beat(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    n, restore, run = 20_000, new_run(), new_run("drop")
    for n_new in (n, 0):
        n_placed = holds_place_restored(LAKE, held(n), placed_by="dora", run_id=restore.pk, now=NOW)
        assert n_placed == n_new
    written: list[str] = []
    real = Spool.write_part

    def noting(self: Spool, name: str, data: Mapping[str, Any]) -> None:
        written.append(name)
        real(self, name, data)

    monkeypatch.setattr(Spool, "write_part", noting)
    for _ in range(3):
        act_beat(run, now=NOW)
    control = LocalFileSystem().read(LakePath.parse(run.spool).child("control.json"))
    assert len(control) < 1_000
    assert len(written) == 1
    read = reader(run)
    began = time.monotonic()
    for number in range(0, 10_000, 100):  # one batch
        assert read().hold_on("sales", "orders", f"dt={number}/h=1", now=NOW) is not None
    assert time.monotonic() - began < 2
    assert read().hold_on("sales", "orders", "dt=x/h=1", now=NOW) is None
    # Taken back in part, and over in the end: what is told changes at the next beat.
    released = holds_release_restored(LAKE, held(5), run_id=str(restore.pk), by="dora", now=NOW)
    assert released == 5
    act_beat(run, now=NOW)
    assert len(written) == 2
    assert read().hold_on("sales", "orders", "dt=4/h=1", now=NOW) is None
    assert read().hold_on("sales", "orders", "dt=5/h=1", now=NOW) is not None
    act_beat(run, now=NOW + timedelta(days=31))
    assert read().holds == ()


def test_holds_that_cannot_be_read_stop_the_job(world: World) -> None:
    run = new_run("drop")
    holds_place_restored(LAKE, held(1), placed_by="dora", run_id=new_run().pk, now=NOW)
    act_beat(run, now=NOW)
    for path in (Path(run.spool.removeprefix("file://"))).glob("holds-*.json"):
        path.unlink()
    with pytest.raises(Exception, match="holds-"):
        reader(run)()
    assert Hold.objects.count() == 1


def test_the_first_manifest_is_kept_and_another_one_alarms(world: World) -> None:
    rows = big_backup(world)
    first, other = rows[0], rows[1]
    path = Path(first.path.removeprefix("file://")) / intent_name(first.batch)
    intent = BatchIntent.from_bytes(path.read_bytes())
    path.write_bytes(replace(intent, table_owner="mallory").to_bytes())
    BackupBatch.objects.filter(pk=other.pk).delete()
    with pytest.raises(DataSafetyError) as error:
        backups_rebuild(LAKE, now=NOW, roots=[str(root_of(world))])
    assert error.value.code == "backup.manifest"
    kept = BackupBatch.objects.get(pk=first.pk)
    assert (kept.manifest_sha256, kept.table_owner) == (first.manifest_sha256, "alice")
    assert BackupBatch.objects.count() == BATCHES, "the others were taken in"
    drop, _ = Run.objects.get_or_create(
        pk=first.run_id, defaults={"lake": LAKE, "kind": "drop", "queued_at": NOW}
    )
    ActFence.objects.create(
        run_id=drop.pk, epoch=1, root=first.root, day=first.day, lake=LAKE, kind=FenceKind.DROP,
        opened_at=NOW, lease_until=NOW,
    )  # fmt: skip
    with pytest.raises(DataSafetyError):
        act_ingest(drop, None, now=NOW)
    with pytest.raises(DataSafetyError):
        restore_prepare(new_run(), batches=[kept], now=NOW)
    fs, directory = LocalFileSystem(), LakePath.parse(first.path)
    claimed = directory if fs.status(directory) else next(_claimed(world))
    assert read_batch(fs, claimed, first.batch).intent.table_owner == "mallory"
    with pytest.raises(DataSafetyError):
        BackupBatchRef(claimed, first.batch, first.manifest_sha256).read(fs)


def _claimed(world: World) -> Iterator[LakePath]:
    for path in (world.root / "backup").glob("*/restoring/*/*/*.1"):
        yield LakePath.parse(path.as_uri())


def test_the_parents_of_a_batch_are_asked_for_once(world: World, calls: Counter[str]) -> None:
    tools = cast("Tools", SimpleNamespace(fs=LocalFileSystem()))
    seen: dict[LakePath, Any] = {}
    calls.clear()
    for number in range(100):
        found = parents_of(tools, root_of(world).child("x", f"dt={number}"), seen)
    assert found[-1].path == str(root_of(world))
    assert calls["status"] == len(seen) <= len(root_of(world).path.split("/")) + 1
