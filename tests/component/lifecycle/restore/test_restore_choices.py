"""Restores with choices, and taking one back: who may ask for what, and what a run is told."""

import json
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from lifecycle.backup.domain.restore_choice import WHY, Choice
from lifecycle.models import DatabaseFinding, TableFinding
from lifecycle.restore.selectors.backups import BackupChoice
from lifecycle.restore.services.backups import (
    RestoreParams,
    restore_preview_request,
    restore_request,
)
from lifecycle.restore.services.names import RestoreTo
from portal.lake.errors import NotAllowed, RuleViolation
from portal.runs.models import Run
from tests.component.lifecycle.backup_world import backup
from tests.component.lifecycle.plan_world import LAKE, NOW, World
from tests.component.lifecycle.restore_world import asked, client_of, ended, scanned_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    return scanned_world(tmp_path, settings)


def test_the_choices_of_a_preview_are_what_the_restore_is_told(world: World) -> None:
    batch = backup(world.root)
    preview = asked(world, "alice", batch, RestoreTo("sales", "orders_old"), only_missing=True)
    assert preview.params["to"] == {"db": "sales", "table": "orders_old", "into": False}
    assert preview.params["words"].endswith("as sales.orders_old")
    place = {**preview.params["to"], "location": "file:///lake/sales/orders_old"}
    run = restore_request(ended(preview, n_ready=2, to=place), user=world.person("alice"), now=NOW)
    assert (run.params["rename_to"], run.params["only_missing"]) == (place, True)


def test_another_name_is_one_table_and_another_name(world: World) -> None:
    batch, other = backup(world.root), backup(world.root, table="returns")
    with pytest.raises(RuleViolation, match="its own name"):
        asked(world, "anna", batch, RestoreTo("sales", "orders"))
    with pytest.raises(RuleViolation, match="table name"):
        asked(world, "anna", batch, RestoreTo("sales", "drop table"))
    choice = BackupChoice(batch_ids=(batch.public_id, other.public_id))
    wish = RestoreParams(choice, "needed", to=RestoreTo("sales", "both"))
    with pytest.raises(RuleViolation, match="Only one table"):
        restore_preview_request(LAKE, wish, user=world.person("anna"), now=NOW)


def test_who_may_restore_to_where(world: World) -> None:
    batch = backup(world.root)
    generation = TableFinding.objects.get(db="sales", table="orders").generation
    common = {"generation": generation, "lake": LAKE, "mode": "ACT"}
    DatabaseFinding.objects.create(db="lab", db_owner="alice", location="file:///lab", **common)
    for table, owner in (("mine", "alice"), ("theirs", "zoe")):
        TableFinding.objects.create(
            db="sales",
            table=table,
            tbl_id=hash(table) % 1000,
            owner=owner,
            db_owner="dora",
            **common,
        )
    fine = [
        ("anna", RestoreTo("anywhere", "at_all")),
        ("alice", RestoreTo("sales", "fresh")),
        ("alice", RestoreTo("lab", "fresh")),
        ("alice", RestoreTo("sales", "mine", into=True)),
        ("alice", RestoreTo("sales", "orders", into=True)),
        ("dora", RestoreTo("sales", "theirs", into=True)),
    ]
    for name, to in fine:
        assert asked(world, name, batch, to).params["to"] == to.as_dict()
    for to in (RestoreTo("anywhere", "fresh"), RestoreTo("sales", "theirs", into=True)):
        with pytest.raises(NotAllowed, match="new name in the table's own database"):
            asked(world, "alice", batch, to)


def test_pages_and_api_take_the_choices(world: World) -> None:
    batch = backup(world.root)
    alice = client_of(world, "alice")
    page = alice.get(f"/lifecycle/backups/batches/{batch.public_id}/").content.decode()
    assert "Restore with choices" in page
    said = {"batches": str(batch.public_id), "reason": "x", "to_db": "sales", "to_table": "copy"}
    alice.post("/lifecycle/backups/restore/", {**said, "where": "as", "only_missing": "1"})
    alice.post("/lifecycle/backups/restore/", {**said, "where": ""})
    by_page = Run.objects.filter(kind="lifecycle.restore_preview")
    told = {run.params["only_missing"]: run.params["to"] for run in by_page}
    assert told == {True: {"db": "sales", "table": "copy", "into": False}, False: None}
    body = {
        "batches": [str(batch.public_id)],
        "reason": "x",
        "to": {"db": "sales", "table": "orders", "into": True},
    }
    url = "/api/v1/lifecycle/restores/"
    answer = alice.post(url, json.dumps(body), content_type="application/json")
    assert answer.status_code == 202
    assert Run.objects.get(pk=answer.json()["id"]).params["to"] == body["to"]


def test_who_says_go_must_have_the_right_to_the_target_too(world: World) -> None:
    batch = backup(world.root)
    preview = asked(world, "anna", batch, RestoreTo("anywhere", "copy"))
    place = {"db": "anywhere", "table": "copy", "into": False, "location": "file:///lake/copy"}
    preview = ended(preview, n_ready=2, to=place, rows=[])
    with pytest.raises(NotAllowed, match="new name in the table's own database"):
        restore_request(preview, user=world.person("alice"), now=NOW)
    assert restore_request(preview, user=world.person("anna"), now=NOW).params["rename_to"] == place


def test_what_fits_nowhere_is_refused_with_table_rule_and_next_step(world: World) -> None:
    batch = backup(world.root)
    preview = asked(world, "alice", batch, RestoreTo("sales", "orders", into=True))
    reason = WHY[Choice.MISFIT].format("lake/sales.orders: its partition keys are none")
    row = {"name": "sales.orders/dt=1", "choice": "MISFIT", "reason": reason, "target": "file:///x"}
    ended(preview, n_ready=0, n_conflicts=1, n_items=1, rows=[row])
    alice = client_of(world, "alice")
    page = alice.get(f"/lifecycle/backups/restore/{preview.pk}/").content.decode()
    assert "Does not fit" in page
    assert "restore under a new name, or repair that table first" in page
    answer = alice.post(f"/api/v1/lifecycle/restores/{preview.pk}/")
    assert (answer.status_code, answer.json()["code"]) == (400, "restore.mismatch")
    assert "its partition keys are none" in answer.json()["message"]
    assert not Run.objects.filter(kind="lifecycle.restore").exists()


def test_a_stranger_sees_no_choices_and_gets_none(world: World) -> None:
    batch = backup(world.root)
    eve = client_of(world, "eve")
    body = {"batches": [str(batch.public_id)], "reason": "x", "only_missing": True}
    answer = eve.post(
        "/api/v1/lifecycle/restores/", json.dumps(body), content_type="application/json"
    )
    assert answer.status_code == 404
    assert eve.get(f"/lifecycle/backups/batches/{batch.public_id}/").status_code == 404
