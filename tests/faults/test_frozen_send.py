"""A client frozen between its last look and its send cannot be fenced; a repair mends it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from portal.act.models import BackupBatch
from portal.act.services import backups_rebuild, drop_repair
from stack.stack import Stack
from tests.faults.scene import Broken, Scene
from tests.faults.test_frozen_driver import wait_frozen, wake

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
    with pytest.raises(Broken, match=r"^I[27]: "):
        scene.check_equal()
    names = [key for key in scene.before.files if key]
    asked = {"db": scene.name.db, "table": scene.name.table}
    added = drop_repair("main", **asked, partitions=names, now=datetime.now(UTC))
    assert sorted(added) == sorted(scene.before.files)
    scene.check_equal()
    assert drop_repair("main", **asked, partitions=names, now=datetime.now(UTC)) == []
