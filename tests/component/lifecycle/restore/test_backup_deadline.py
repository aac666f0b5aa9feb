"""A backup's page says until when it can be restored, and why that is later than it was."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from lifecycle.backup.models import BackupBatch
from portal.safety.services import emergency_stop_start
from tests.component.lifecycle.backup_world import backup
from tests.component.lifecycle.plan_world import LAKE, NOW, World
from tests.component.lifecycle.restore_world import scanned_world
from tests.support.stop import end_stop

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    return scanned_world(tmp_path, settings)


def test_a_date_that_moved_is_shown_with_since_when_and_why(world: World) -> None:
    old = backup(world.root, dropped_at=NOW - 10 * DAY)
    young = backup(world.root, dropped_at=NOW - 3 * DAY)
    emergency_stop_start(lake=LAKE, pressed_by="otto", reason="smoke", now=NOW - 6 * DAY)
    anna, bert = world.person("anna"), world.person("bert")
    end_stop(LAKE, anna, bert, reason="all clear", now=NOW - DAY)
    unmoved = backup(world.root, dropped_at=NOW)
    client = Client()
    client.force_login(world.person("anna"))

    def page(batch: BackupBatch) -> str:
        text = client.get(f"/lifecycle/backups/batches/{batch.public_id}/").content.decode()
        assert "Restorable until" in text
        return " ".join(text.split())

    for batch, moved in ((old, "Later by 5 d"), (young, "Later by 2 d")):
        assert moved in page(batch)
        assert "otto had pressed the emergency stop (smoke)" in page(batch)
    assert "Later by" not in page(unmoved)
