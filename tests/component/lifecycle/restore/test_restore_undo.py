"""Taking a restore back: who may, when, and what is told to the run."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction
from pytest_django.fixtures import Settings

from lifecycle.backup.models import BackupBatch, Hold
from lifecycle.backup.services.holds import holds_place_restored, holds_release_restored
from lifecycle.restore.services.backups import restore_request
from lifecycle.restore.services.undo import (
    UNDO_KIND,
    UndoParams,
    may_undo,
    restore_undo_request,
    undo_runs,
)
from portal.audit.models import AuditEvent
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Run
from portal.safety.services import emergency_stop_start
from tests.component.lifecycle.backup_world import backup
from tests.component.lifecycle.plan_world import LAKE, NOW, World
from tests.component.lifecycle.restore_world import asked, client_of, ended, scanned_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    return scanned_world(tmp_path, settings)


def restored(world: World, batch: BackupBatch, **counts: int) -> Run:
    """Let a restore of a batch have ended; returns its preview."""
    shown = {"n_ready": 2, "n_conflicts": 0, "n_items": 2, "rows": []}
    preview = ended(asked(world, "alice", batch, None), **shown)
    ended(restore_request(preview, user=world.person("alice"), now=NOW), counts=counts)
    BackupBatch.objects.filter(pk=batch.pk).update(state="RESTORED", n_restored=2)
    return preview


def test_a_restore_is_taken_back_by_an_admin_or_who_restored_it(world: World) -> None:
    batch = backup(world.root)
    preview = restored(world, batch, RESTORED=2)
    wish, anna = UndoParams("a mistake", NOW), world.person("anna")
    for name in ("dora", "otto", "eve"):
        with pytest.raises(NotAllowed, match="Only an admin, or who restored it"):
            restore_undo_request(preview, wish, user=world.person(name), now=NOW)
    for stale in (None, NOW - timedelta(hours=1)):
        with pytest.raises(NotAllowed, match="Log in again"):
            restore_undo_request(preview, UndoParams("x", stale), user=anna, now=NOW)
    with pytest.raises(RuleViolation):
        restore_undo_request(preview, UndoParams(" ", NOW), user=anna, now=NOW)
    run = restore_undo_request(preview, wish, user=anna, now=NOW)
    assert restore_undo_request(preview, wish, user=anna, now=NOW).pk == run.pk
    assert run.params["batches"] == [str(batch.public_id)]
    assert get_kind(UNDO_KIND).destroys
    with transaction.atomic():
        mine = restore_undo_request(preview, wish, user=world.person("alice"), now=NOW)
        assert mine.pk == run.pk
    event = AuditEvent.objects.get(action="restore.undo_requested")
    assert (event.actor, event.data["reason"]) == ("anna", "a mistake")


def test_who_restored_it_and_owns_it_no_more_does_not_take_it_back(world: World) -> None:
    batch = backup(world.root, table="returns")
    preview = restored(world, batch, RESTORED=2)
    BackupBatch.objects.update(table_owner="zoe")
    with pytest.raises(NotAllowed, match="still owns it"):
        restore_undo_request(preview, UndoParams("x", NOW), user=world.person("alice"), now=NOW)


def test_a_restore_is_found_again_from_its_backup_and_its_runs(world: World) -> None:
    batch = backup(world.root)
    waiting = ended(asked(world, "anna", batch, None), n_ready=2, n_conflicts=0, n_items=2, rows=[])
    preview = restored(world, batch, RESTORED=2)
    undo = restore_undo_request(
        preview, UndoParams("a mistake", NOW), user=world.person("anna"), now=NOW
    )
    links = [f'href="/lifecycle/backups/restore/{one.pk}/"' for one in (preview, waiting)]
    day = f"/lifecycle/backups/days/{batch.day}/"
    pages = (day, f"{day}sales/orders/", f"/lifecycle/backups/batches/{batch.public_id}/")
    for page in pages:
        text = client_of(world, "anna").get(page).content.decode()
        assert all(link in text for link in links), page
        assert "Undone" in text
        own = client_of(world, "alice").get(page).content.decode()
        assert links[0] in own, page
        assert links[1] not in own, page
    other = backup(world.root, batch=2)
    shown = client_of(world, "anna").get(f"/lifecycle/backups/batches/{other.public_id}/")
    assert "Restores of it" not in shown.content.decode()
    restore = Run.objects.get(unique_key=f"restore:{preview.pk}")
    for run in (preview, restore, undo):
        text = client_of(world, "anna").get(f"/runs/{run.pk}/").content.decode()
        assert f'href="/lifecycle/backups/restore/{preview.pk}/' in text, run.kind


def test_what_cannot_go_back_is_said(world: World) -> None:
    batch = backup(world.root)
    anna, wish = world.person("anna"), UndoParams("a mistake", NOW)
    preview = asked(world, "alice", batch, None)
    with pytest.raises(StaleState, match="not ended"):
        restore_undo_request(preview, wish, user=anna, now=NOW)
    preview = restored(world, batch, CONFLICT=2)
    with pytest.raises(StaleState, match="Nothing of that restore"):
        restore_undo_request(preview, wish, user=anna, now=NOW)
    run = Run.objects.get(kind="lifecycle.restore")
    run = ended(run, counts={"RESTORED": 2})
    assert may_undo(run)
    BackupBatch.objects.update(purged_at=NOW)
    assert not may_undo(run)
    BackupBatch.objects.update(purged_at=None)
    back = Run.objects.create(
        **{"lake": LAKE, "kind": UNDO_KIND, "subject_type": "restore", "subject_id": str(run.pk)},
        **{"state": "DONE", "queued_at": NOW, "result": {"counts": {"UNDONE": 1}}},
    )
    assert may_undo(run)
    Run.objects.filter(pk=back.pk).update(result={"counts": {"UNDONE": 2}})
    assert not may_undo(run)
    back.delete()
    emergency_stop_start(lake=LAKE, pressed_by="otto", reason="smoke", now=NOW)
    with pytest.raises(StaleState, match="emergency stop"):
        restore_undo_request(preview, wish, user=anna, now=NOW)
    assert not undo_runs(run).exists()


def test_the_page_says_what_still_stands_after_it_was_taken_back(world: World) -> None:
    preview = restored(world, backup(world.root), RESTORED=2)
    client, page = client_of(world, "anna"), f"/lifecycle/backups/restore/{preview.pk}/"

    def shown() -> str:
        return " ".join(client.get(page).content.decode().split())

    stat = 'Still restored</span><span class="lw-stat-value">{}<'
    text = shown()
    assert stat.format(2) in text
    assert "What was restored is held" in text
    run = restore_undo_request(preview, UndoParams("x", NOW), user=world.person("anna"), now=NOW)
    for counts, n, words in (
        ({"UNDONE": 1, "CONFLICT": 1}, 1, "What is still restored is held"),
        ({"UNDONE": 2}, 0, "Nothing of it is restored any more"),
    ):
        ended(run, counts=counts)
        text = shown()
        assert stat.format(n) in text
        assert words in text
        assert "Can be restored" not in text
    assert "is held for 30 days" not in text


def test_page_and_api_offer_it_to_admins_and_who_restored(world: World) -> None:
    preview = restored(world, backup(world.root), RESTORED=2)
    page = f"/lifecycle/backups/restore/{preview.pk}/"
    assert "Undo restore" in client_of(world, "anna").get(page).content.decode()
    assert "Undo restore" in client_of(world, "alice").get(page).content.decode()
    assert "Undo restore" not in client_of(world, "otto").get(page).content.decode()
    api, body = f"/api/v1/lifecycle/restores/{preview.pk}/undo/", json.dumps({"reason": "x"})
    answers = [
        client_of(world, name).post(api, body, content_type="application/json").status_code
        for name in ("eve", "otto", "alice")
    ]
    assert answers == [404, 403, 202]
    assert client_of(world, "anna").post(f"{page}undo/", {"reason": "x"}).status_code == 302
    assert Run.objects.filter(kind=UNDO_KIND).count() == 1
    assert "It goes back into the backup" in client_of(world, "anna").get(page).content.decode()


def test_the_holds_of_what_went_back_end(world: World) -> None:
    run = Run.objects.create(lake=LAKE, kind="lifecycle.restore", queued_at=NOW)
    names = [("sales", "orders", "dt=1"), ("sales", "orders", "dt=2")]
    holds_place_restored(LAKE, names, placed_by="alice", run_id=run.pk, now=NOW)
    for n in (1, 0):
        ended_now = holds_release_restored(LAKE, names[:1], run_id=str(run.pk), by="anna", now=NOW)
        assert ended_now == n
    standing = Hold.objects.filter(released_at__isnull=True)
    assert [hold.partition for hold in standing] == ["dt=2"]
