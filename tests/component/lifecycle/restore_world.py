"""A scanned lake whose backups people restore from, without the jobs that would do it."""

from pathlib import Path
from typing import Any

from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from lifecycle.backup.models import BackupBatch
from lifecycle.restore.selectors.backups import BackupChoice
from lifecycle.restore.services.backups import RestoreParams, restore_preview_request
from lifecycle.restore.services.names import RestoreTo
from portal.runs.models import Run
from tests.component.lifecycle.plan_world import LAKE, NOW, World, make_world, partitions


def scanned_world(root: Path, settings: Settings) -> World:
    """Return a lake with one table of one partition, scanned."""
    settings.LAKEWARDEN_LAKES = root / "lakes.json"
    world = make_world(root)
    world.scan(partitions(1))
    return world


def client_of(world: World, name: str) -> Client:
    """Return the browser of a person who has just logged in."""
    client = Client()
    client.force_login(world.person(name))
    session = client.session
    session["lw_authenticated_at"] = timezone.now().timestamp()
    session.save()
    return client


def asked(world: World, name: str, batch: BackupBatch, to: RestoreTo | None, **more: Any) -> Run:
    """Ask for the preview of a restore of a batch."""
    choice = BackupChoice(batch_ids=(batch.public_id,))
    wish = RestoreParams(choice, "needed", to=to, **more)
    return restore_preview_request(LAKE, wish, user=world.person(name), now=NOW)


def ended(run: Run, **result: Any) -> Run:
    """Let a run have ended with this result."""
    Run.objects.filter(pk=run.pk).update(state="DONE", result=result, finished_at=NOW)
    return Run.objects.get(pk=run.pk)
