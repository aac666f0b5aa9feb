"""A client frozen between its last look and its send cannot be fenced; a repair puts it right."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lifecycle.backup.domain.layout import restore_done_name
from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.models import ActFence, BackupBatch
from lifecycle.backup.services.ingesting import backups_rebuild
from lifecycle.backup.services.repairing import drop_repair
from portal.runs.models import Run
from stack.stack import Stack
from tests.faults.lifecycle.backup.test_frozen_driver import wait_frozen, wake
from tests.faults.scene import Broken, Scene
from tests.support.act_lake import DAY
from tests.support.act_restores import restore

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("shape", ["table", "parts"])
@pytest.mark.parametrize("approved", [True, False], ids=["restored", "taken-back"])
def test_a_drop_sent_by_a_zombie_is_repaired(
    embedded_stack: Stack, settings: Any, shape: str, approved: bool
) -> None:
    settings.LAKEWARDEN_LAKES = str(embedded_stack.lakes_file)
    scene = Scene(embedded_stack.config("main"), shape=shape, ownership="external")
    zombie = scene.start_drop("drop:send:stop")
    wait_frozen(zombie)
    scene.settle(approved=approved)
    scene.check_restored()
    backups_rebuild("main", now=datetime.now(UTC), roots=[str(scene.lake.root)])
    assert BackupBatch.objects.filter(db=scene.name.db).count() == 1
    wake(zombie)
    names = [key for key in scene.before.files if key]
    asked = {"db": scene.name.db, "table": scene.name.table}
    if shape == "parts" and approved:
        # The metastore says which partitions went; the zombie adds back those that are others.
        scene.check_equal()
        assert drop_repair("main", **asked, partitions=names, now=datetime.now(UTC)) == []
        return
    with pytest.raises(Broken, match=r"^I[27]: "):
        scene.check_equal()
    added = drop_repair("main", **asked, partitions=names, now=datetime.now(UTC))
    assert sorted(added) == sorted(scene.before.files)
    scene.check_equal()
    assert drop_repair("main", **asked, partitions=names, now=datetime.now(UTC)) == []


@pytest.mark.parametrize("shape", ["table", "parts"])
def test_a_drop_sent_by_the_zombie_of_an_undo_is_repaired_under_the_name_that_it_hit(
    embedded_stack: Stack, settings: Any, shape: str
) -> None:
    settings.LAKEWARDEN_LAKES = str(embedded_stack.lakes_file)
    scene = Scene(embedded_stack.config("main"), shape=shape, ownership="external")
    scene.lake.drop(scene.name, run=scene.run)
    back, _ = restore(scene.lake, scene.run, new_name=scene.elsewhere)
    _make_older(scene, restore_done_name(back, 1, 1))
    zombie = scene.start_undo("drop:send:stop", back)
    wait_frozen(zombie)
    scene.release(scene.undo_run)
    scene.check("t_back")
    backups_rebuild("main", now=datetime.now(UTC), roots=[str(scene.lake.root)])
    _known_to_the_portal(scene)
    stood = scene.lake.snapshot(scene.lake.table_name("t_back"))
    wake(zombie)
    with pytest.raises(Broken, match=r"^I2: .* is live but not registered"):
        scene.check("t_back")
    names = [key for key in scene.before.files if key]
    asked = {"db": scene.name.db, "table": "t_back"}
    added = drop_repair("main", **asked, partitions=names, now=datetime.now(UTC))
    assert sorted(added) == sorted(scene.before.files)
    assert scene.lake.snapshot(scene.lake.table_name("t_back")) == stood
    assert drop_repair("main", **asked, partitions=names, now=datetime.now(UTC)) == []


def _make_older(scene: Scene, name: str) -> None:
    """Let a restore have ended long ago: then only the undo is a reason to repair."""
    path = scene.sealed.child(name)
    plain = json.loads(scene.lake.fs.read(path))
    plain["at"] = (datetime.now(UTC) - timedelta(days=2)).isoformat()
    scene.lake.fs.replace(path, json.dumps(plain).encode())


def _known_to_the_portal(scene: Scene) -> None:
    """Note the undo's run and its closed fence, as its run kind does."""
    now, to = datetime.now(UTC), scene.elsewhere
    params = {"rename_to": {"db": to.db, "table": to.table}}
    Run.objects.create(
        pk=scene.undo_run, lake="main", kind="undo", params=params, epoch=1, queued_at=now
    )
    ActFence.objects.create(
        **{"run_id": scene.undo_run, "epoch": 1, "lake": "main", "kind": FenceKind.RESTORE},
        **{"root": str(scene.lake.root), "day": DAY, "claims": [{"run": scene.run, "epoch": 1}]},
        **{"opened_at": now, "lease_until": now, "closed_at": now},
    )
