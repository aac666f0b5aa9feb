"""Looking into the backup of a table: schema, counts and values for whom it is; never rows."""

import json
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from lifecycle.backup.models import BackupBatch
from lifecycle.restore.services.contents import (
    WIDE_INSPECT_KIND,
    BackupOfTable,
    backup_inspection_request,
    backup_look_newest,
)
from portal.lake.errors import NotVisible
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from tests.component.lifecycle.backup_world import backup
from tests.component.lifecycle.plan_world import LAKE, NOW, World
from tests.component.lifecycle.restore_world import scanned_world

pytestmark = pytest.mark.django_db(transaction=True)
WHAT = BackupOfTable(NOW.date(), "sales", "orders")


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    return scanned_world(tmp_path, settings)


def client_of(world: World, name: str) -> Client:
    client = Client()
    client.force_login(world.person(name))
    return client


def test_a_look_adds_up_what_the_manifests_say(world: World) -> None:
    backup(world.root)
    backup(world.root)
    alice = world.person("alice")
    assert backup_look_newest(LAKE, WHAT, user=alice) is None
    run = backup_inspection_request(LAKE, WHAT, user=alice, now=NOW)
    assert backup_inspection_request(LAKE, WHAT, user=alice, now=NOW).pk == run.pk
    done = run_drive(run.pk)
    assert done.state == "DONE", done.error
    contents = (done.result or {})["contents"]
    assert (contents["n_batches"], contents["n_items"], contents["n_files"]) == (2, 4, 8)
    assert (contents["n_bytes"], contents["n_restored"]) == (600, 0)
    assert contents["schema"]["columns"] == [
        {"name": "id", "type": "bigint", "comment": "the <id>"}
    ]
    (key,) = contents["partition_values"]
    assert (key["name"], key["n_values"]) == ("dt", 2)
    assert key["values"][0] == {"value": "2026-01-01", "n_items": 2}
    newest = backup_look_newest(LAKE, WHAT, user=alice)
    assert newest is not None
    assert newest.pk == run.pk


def test_what_was_restored_since_needs_another_look(world: World) -> None:
    backup(world.root)
    alice = world.person("alice")
    run_drive(backup_inspection_request(LAKE, WHAT, user=alice, now=NOW).pk)
    BackupBatch.objects.update(n_restored=1)
    assert backup_look_newest(LAKE, WHAT, user=alice) is None


def test_strangers_neither_look_nor_see(world: World) -> None:
    backup(world.root)
    with pytest.raises(NotVisible):
        backup_inspection_request(LAKE, WHAT, user=world.person("eve"), now=NOW)
    with pytest.raises(NotVisible):
        backup_look_newest(LAKE, WHAT, user=world.person("eve"))


def test_a_changed_manifest_is_not_believed(world: World) -> None:
    backup(world.root)
    BackupBatch.objects.update(manifest_sha256="0" * 64)
    run = backup_inspection_request(LAKE, WHAT, user=world.person("alice"), now=NOW)
    done = run_drive(run.pk)
    assert done.error is not None
    assert done.error["code"] == "backup.manifest"


def test_many_batches_are_read_by_spark(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = backup(world.root)
    monkeypatch.setattr("lifecycle.restore.services.contents.WIDE_FROM", 1)
    run = backup_inspection_request(LAKE, WHAT, user=world.person("alice"), now=NOW)
    assert run.kind == WIDE_INSPECT_KIND
    assert get_kind(WIDE_INSPECT_KIND).request(run) == {
        "batches": [{"path": batch.path, "batch": 1, "sha256": batch.manifest_sha256}]
    }


def test_one_click_reads_a_backup_once_and_shows_it_afterwards(world: World) -> None:
    backup(world.root)
    page = f"/lifecycle/backups/days/{NOW.date()}/sales/orders/"
    alice = client_of(world, "alice")
    assert 'name="unless_read"' in alice.get(page).content.decode()
    for _ in range(2):
        answer = alice.post(f"{page}inside/look/", {"unless_read": "1"})
        assert answer.headers["Location"].startswith(f"{page}inside/")
        run = Run.objects.get(kind="lifecycle.backup_look")
        run_drive(run.pk)
    assert alice.post(f"{page}inside/look/").status_code == 302
    assert Run.objects.filter(kind="lifecycle.backup_look").count() == 2
    jobs = alice.get("/runs/").content.decode()
    assert f'href="{page}inside/?lake=' in jobs
    assert "Backup of sales.orders" in jobs


def test_page_and_api_say_the_same_and_that_rows_are_left_out(world: World) -> None:
    backup(world.root)
    page = f"/lifecycle/backups/days/{NOW.date()}/sales/orders/inside/"
    api = f"/api/v1/lifecycle/backups/days/{NOW.date()}/sales/orders/contents/"
    alice = client_of(world, "alice")
    assert "Contents not read yet" in alice.get(page).content.decode()
    assert alice.get(api).json() == {"run": None, "contents": None}
    assert alice.post(f"{page}look/").status_code == 302
    run = Run.objects.get(kind="lifecycle.backup_look")
    assert alice.post(api).json()["id"] == str(run.pk)
    run_drive(run.pk)
    text = alice.get(page).content.decode()
    assert "the &lt;id&gt;" in text
    assert "2026-01-01" in text
    assert "Rows are not shown here" in text
    said = alice.get(api).json()
    assert json.loads(json.dumps(said["contents"])) == said["contents"]
    assert said["contents"]["n_items"] == 2
    assert f"{page}look/" in alice.get(page.removesuffix("inside/")).content.decode()
    for url in (page, api):
        assert client_of(world, "eve").get(url).status_code == 404
