"""N10.

A restore test proves that a backup comes back, names what is damaged, and leaves nothing behind.

Real files, metastore and Spark; the restore test's own run kind drives it in this process. One
restore test is a spark-submit of its own, so that it can be killed.
"""

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.utils import timezone
from pyspark.sql import SparkSession
from pytest_django import Settings

from lifecycle.backup.engine.journal.reading import batches
from lifecycle.backup.models import BackupBatch
from lifecycle.models import RestoreTest, RestoreTestItem, RestoreVerification
from lifecycle.restore_tests.domain import Compared, RestoreTestState, read_scratch
from lifecycle.restore_tests.services.restore_tests import (
    KIND,
    restore_test_params,
    restore_test_request,
)
from portal.access.models import User
from portal.access.services import person_create
from portal.audit.models import AuditEvent
from portal.runs.models import Run
from stack.stack import Stack
from tests.support.act_jobs import start, wait_end
from tests.support.act_lake import ActLake
from tests.support.act_portal import ActPortal
from tests.support.column_lake import ColumnLake
from tests.support.run_here import run_here

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
LAKE = "main"
DAY_NS = 86_400 * 10**9
Tree = dict[str, tuple[bytes | None, int, int]]


@dataclass
class Scene:
    """Two tables in backups: a partitioned one of columns, and a plain one of odd files."""

    lake: ActLake
    spark: SparkSession
    admin: User

    def restore_test(self) -> RestoreTest:
        """Ask for a restore test and drive it to its end."""
        restore_test = restore_test_request(LAKE, user=self.admin, now=timezone.now())
        run = run_here(Run.objects.get(pk=restore_test.run_id), self.spark)
        assert run.state == "DONE", run.error
        restore_test.refresh_from_db()
        return restore_test

    def home(self, table: str) -> Path:
        """Return where the first item of a table lies in its backup."""
        row = BackupBatch.objects.get(table=table)
        (batch,) = batches(self.lake.fs, self.lake.config.path(row.path))
        return Path(batch.directory.child(batch.intent.items[0].item).path)

    def tree(self) -> Tree:
        """Return all that lies below the backup root, byte by byte."""
        found: Tree = {}
        for path in sorted(Path(self.lake.root.path).rglob("*")):
            status = path.lstat()
            data = path.read_bytes() if path.is_file() else None
            found[str(path)] = (data, status.st_mtime_ns if data is not None else 0, status.st_mode)
        return found

    def last_read(self) -> dict[str, int]:
        """Return when each file of the backups was last read; nothing else here reads them."""
        files = [path for path in Path(self.lake.root.path).rglob("b0*/**/*") if path.is_file()]
        return {str(path): path.lstat().st_atime_ns for path in files}

    def leave_unread(self) -> None:
        """Let every file be one that nobody has read since it was written, long ago."""
        for path in self.last_read():
            written = Path(path).lstat().st_mtime_ns
            os.utime(path, ns=(written - 40 * DAY_NS, written))

    def scratch(self) -> list[str]:
        """Return what stands of any restore test: databases and directories."""
        databases = [db for db in self.lake.metastore.databases() if read_scratch(db)]
        return databases + [str(path) for path in Path(self.lake.root.path).glob("drills*")]


@pytest.fixture
def scene(embedded_stack: Stack, settings: Settings, spark: SparkSession) -> Iterator[Scene]:
    settings.LAKEWARDEN_LAKES = str(embedded_stack.lakes_file)
    name = uuid.uuid4().hex[:8]
    config = embedded_stack.config(LAKE)
    columns = ColumnLake(config, name, spark=spark)
    columns.make_table("parts", keys=("dt",), values=[("a b",), ("5%",)], file_format="parquet")
    lake = ActLake(config, name)
    lake.make_table("whole")
    portal = ActPortal(lake)
    for table in ("parts", "whole"):
        portal.drop(lake.table_name(table))
    admin = person_create("ada", password="correct horse", email="a@example.org", roles=["admin"])
    yield Scene(lake, spark, admin)
    for one in (lake, columns):
        one.metastore.close()


@pytest.mark.rows("N10")
def test_a_backup_is_proven_and_what_is_damaged_is_named(scene: Scene) -> None:
    before, n_events = scene.tree(), AuditEvent.objects.count()
    scene.leave_unread()
    last_read = scene.last_read()
    restore_test = scene.restore_test()
    assert len(last_read) > 6
    assert scene.last_read() == last_read, "a restore test is no reader of the data"
    said = {item.name: item.reported for item in RestoreTestItem.objects.all()}
    assert (restore_test.state, restore_test.n_verified, restore_test.n_differing) == (
        RestoreTestState.PROVEN,
        3,
        0,
    ), said
    assert restore_test.is_clean
    assert scene.tree() == before
    assert scene.scratch() == []
    rows = {item.table: item for item in restore_test.items.order_by("partition")}
    assert {(item.format, item.n_rows is not None) for item in rows.values()} == {
        ("parquet", True),
        ("text", True),
    }
    proof = RestoreVerification.objects.get(lake=LAKE, db=scene.lake.db)
    assert (proof.proven_by, proof.failed_by) == (restore_test, None)
    actions = AuditEvent.objects.order_by("seq").values_list("action", flat=True)[n_events:]
    assert [one for one in actions if one.startswith("drill.")] == ["drill.begun", "drill.ended"]
    _a_flipped_byte_and_a_missing_file_are_named(scene)


def _a_flipped_byte_and_a_missing_file_are_named(scene: Scene) -> None:
    data = next(scene.home("parts").glob("part-*.parquet"))
    times = data.stat()
    whole = bytearray(data.read_bytes())
    whole[len(whole) // 2] ^= 0x01
    data.write_bytes(bytes(whole))
    os.utime(data, ns=(times.st_atime_ns, times.st_mtime_ns))
    gone = next(scene.home("whole").glob("part-*"))
    gone.unlink()
    damaged = scene.tree()
    restore_test = scene.restore_test()
    assert (restore_test.state, restore_test.n_verified, restore_test.n_differing) == (
        RestoreTestState.FAILED,
        1,
        2,
    )
    wrong = {
        item.table: item.reported for item in restore_test.items.filter(outcome=Compared.DIFFERS)
    }
    assert data.name in wrong["parts"]
    assert "cannot be read" in wrong["parts"]
    assert f"{gone.name} is missing" in wrong["whole"]
    assert scene.tree() == damaged
    assert scene.scratch() == []
    assert RestoreVerification.objects.get(lake=LAKE, db=scene.lake.db).failed_by == restore_test


def test_what_a_killed_drill_leaves_is_cleared_by_the_next(scene: Scene, tmp_path: Path) -> None:
    before = scene.tree()
    restore_test = restore_test_request(LAKE, user=scene.admin, now=timezone.now())
    job = start(
        scene.lake.config,
        "lifecycle.restore_tests.jobs.restore_test",
        restore_test_params(restore_test),
        run=str(restore_test.run_id),
        log=tmp_path / "drill.log",
        failpoint="restored:after:kill",
    )
    wait_end(job[0])
    assert job[1].read_manifest() is None, (tmp_path / "drill.log").read_text()[-3000:]
    assert len(scene.scratch()) == 2, (tmp_path / "drill.log").read_text()[-3000:]
    Run.objects.filter(pk=restore_test.run_id, kind=KIND).update(
        state="FAILED", finished_at=timezone.now()
    )
    after = scene.restore_test()
    assert after.pk != restore_test.pk
    assert after.state == RestoreTestState.PROVEN
    restore_test.refresh_from_db()
    assert (restore_test.state, restore_test.is_clean) == (RestoreTestState.INCOMPLETE, True)
    assert scene.scratch() == []
    assert scene.tree() == before
