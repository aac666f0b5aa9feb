"""How often a restore test is tried."""

from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from lifecycle.restore_tests.domain import RestoreTestState
from lifecycle.restore_tests.run_kinds import RestoreTestKind
from lifecycle.restore_tests.services.restore_tests import restore_test_request
from portal.runs.models import Run
from tests.component.lifecycle.backup_world import backup
from tests.component.lifecycle.plan_world import LAKE, NOW
from tests.component.lifecycle.restore_world import scanned_world

pytestmark = pytest.mark.django_db(transaction=True)
AWAY = {"code": "hms.away", "message": "The metastore is away.", "kind": "ExternalFailure"}


@pytest.mark.parametrize(
    "manifest",
    [
        {"outcome": "died", "error": None, "result": {}},
        {"outcome": "failed", "error": AWAY | {"fields": {"retryable": True}}, "result": {}},
    ],
)
def test_a_drill_whose_job_died_or_lost_a_system_is_tried_once_more(
    tmp_path: Path, settings: Settings, manifest: dict[str, Any]
) -> None:
    world = scanned_world(tmp_path, settings)
    backup(world.root)
    restore_test = restore_test_request(LAKE, user=world.person("anna"), now=NOW)
    run = Run.objects.get(pk=restore_test.run_id)
    run.epoch = 1
    RestoreTestKind().ingest(run, manifest)
    restore_test.refresh_from_db()
    assert restore_test.state == RestoreTestState.RUNNING, "its second epoch follows"
    run.epoch = 2
    RestoreTestKind().ingest(run, manifest)
    restore_test.refresh_from_db()
    assert restore_test.state == RestoreTestState.INCOMPLETE
