"""A purge killed at any step: what has begun to go is said to, and the next one ends it.

Real processes and a real kill -9; the catalogue is the portal's own.
"""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from lifecycle.backup.domain.states import BackupState
from lifecycle.backup.models import BackupBatch
from lifecycle.backup.selectors import purgeable_batches
from lifecycle.backup.services.fencing import purge_prepare
from lifecycle.backup.services.ingesting import backups_rebuild
from lifecycle.backup.services.purging import purge_ingest
from lifecycle.backup.services.settling import act_settle
from portal.audit.models import AuditEvent
from portal.runs.models import Run
from stack.stack import Stack
from tests.support.act_lake import ActLake
from tests.support.act_portal import ActPortal, instant

pytestmark = pytest.mark.django_db
_ROOT = Path(__file__).resolve().parents[4]
# Where it is killed, and how the catalogue must call the backup then.
POINTS = {
    "facts:after:kill": BackupState.DROPPED,
    "intent:before:kill": BackupState.DROPPED,
    "intent:after:kill": BackupState.PURGING,
    "slice:before:kill": BackupState.PURGING,
    "slice:after:kill": BackupState.PURGING,
    "slice:after:kill:2": BackupState.PURGING,
    "delete:after:kill": BackupState.PURGED,
    "done:before:kill": BackupState.PURGED,
    "done:after:kill": BackupState.PURGED,
}


@pytest.fixture
def portal(embedded_stack: Stack, settings: Settings) -> Iterator[ActPortal]:
    settings.LAKEWARDEN_LAKES = str(embedded_stack.lakes_file)
    lake = ActLake(embedded_stack.config("main"), uuid.uuid4().hex[:8])
    yield ActPortal(lake)
    lake.metastore.close()


def purge(portal: ActPortal, row: BackupBatch, spec: Path, failpoint: str) -> int:
    """Purge by a process of its own, then settle and take in, twice; returns how it ended."""
    run = portal.new_run("purge")
    claims = purge_prepare(run, batches=[row], now=instant())["claims"]
    plain = {
        "kind": "purge",
        "run": str(run.pk),
        "config": portal.lake.config.as_dict(),
        "name": portal.lake.name,
        "fence": True,
        "fence_path": claims[0]["fence"],
        "claims": claims,
    }
    spec.write_text(json.dumps(plain))
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.driver", str(spec)],
        cwd=_ROOT,
        env={**os.environ, "LW_FAILPOINTS_ENABLED": "1", "LW_FAILPOINT": failpoint},
        capture_output=True,
        text=True,
        check=False,
    )
    outcome: dict[str, Any] = {"outcome": "died", "result": {}}
    if done.returncode == 0:
        outcome = {"outcome": "done", "result": json.loads(done.stdout)}
    end(run, outcome)
    return done.returncode


def end(run: Run, manifest: dict[str, Any]) -> None:
    for _ in range(2):
        act_settle(run, now=instant())
        purge_ingest(run, manifest, now=instant())


def test_a_killed_purge_is_told_truly_and_ended_by_the_next(
    portal: ActPortal, tmp_path: Path
) -> None:
    other = portal.lake.make_table("bystander")
    bystander = portal.lake.snapshot(other)
    for point, state in POINTS.items():
        BackupBatch.objects.all().delete()
        name = portal.lake.make_table("t", keys=("dt",), values=[("a",), ("b c",)])
        portal.drop(name, at=instant() - timedelta(days=20))
        portal.lake.metastore.drop_table(name, delete_data=False)
        row = BackupBatch.objects.get()
        whole = portal.lake.files(portal.lake.config.path(row.path))
        assert purge(portal, row, tmp_path / "spec.json", point) == -9, point
        check_half_way(portal, row, state=state, point=point, whole=len(whole))
        if state is not BackupState.PURGED:
            assert list(purgeable_batches("main", now=instant())) == [row], point
            assert purge(portal, row, tmp_path / "spec.json", "") == 0, point
        check_end(portal, row, point=point)
        assert portal.lake.snapshot(other) == bystander, point


def check_half_way(
    portal: ActPortal, row: BackupBatch, *, state: BackupState, point: str, whole: int
) -> None:
    """What the catalogue says is what the files say; a rebuild of it says the same."""
    row.refresh_from_db()
    assert row.state == state, point
    directory = portal.lake.config.path(row.path)
    left = portal.lake.files(directory)
    if state is BackupState.DROPPED:
        assert len(left) == whole, point
    if state is BackupState.PURGED:
        assert left == (), point
    backups_rebuild("main", now=instant(), roots=[str(portal.lake.root)])
    row.refresh_from_db()
    assert row.state == state, point


def check_end(portal: ActPortal, row: BackupBatch, *, point: str) -> None:
    """Nothing is left of it, and the record says so once."""
    row.refresh_from_db()
    assert row.state == BackupState.PURGED, point
    assert row.purged_at is not None, point
    about = AuditEvent.objects.filter(object_id=str(row.public_id)).order_by("seq")
    said = list(about.values_list("action", flat=True))
    assert said in (["backup.purged"], ["backup.purge_begun", "backup.purged"]), point
