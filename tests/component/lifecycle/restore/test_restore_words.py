"""What no restore brings back is said before it, beside the backup, and over the API."""

from pathlib import Path

import pytest
from django.utils.html import escape
from pytest_django.fixtures import Settings

from lifecycle.drop.domain.loss_words import NOT_RECORDED, NOT_RESTORED
from tests.component.lifecycle.backup_world import backup
from tests.component.lifecycle.plan_world import World
from tests.component.lifecycle.restore_world import asked, client_of, ended, scanned_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    return scanned_world(tmp_path, settings)


def test_what_no_restore_brings_back_is_said_on_pages_and_in_the_api(world: World) -> None:
    batch, alice = backup(world.root), client_of(world, "alice")
    preview = ended(
        asked(world, "alice", batch, None),
        n_ready=2,
        n_conflicts=0,
        n_items=2,
        rows=[],
        not_restored=list(NOT_RESTORED),
        not_recorded=[NOT_RECORDED],
    )
    texts = [
        alice.get(url).content.decode()
        for url in (
            f"/lifecycle/backups/batches/{batch.public_id}/",
            f"/lifecycle/backups/restore/{preview.pk}/",
        )
    ]
    for text in texts:
        assert all(escape(sentence) in text for sentence in NOT_RESTORED)
    assert escape(NOT_RECORDED) in texts[1]
    detail = alice.get(f"/api/v1/lifecycle/backups/{batch.public_id}/").json()
    assert detail["not_restored"] == list(NOT_RESTORED)
    shown = alice.get(f"/api/v1/lifecycle/restores/{preview.pk}/").json()
    assert shown["result"]["not_recorded"] == [NOT_RECORDED]
