"""How far ahead owners are told and how long backups are kept: who sets it, and what it changes."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.totals import backup_totals_refresh
from lifecycle.core.domain.days import Days
from lifecycle.core.selectors.database_days import days_of
from lifecycle.databases.services.days import DaysChange, database_days_change
from lifecycle.drop.services.execution import keep_days
from lifecycle.models import DatabaseSetting
from lifecycle.notices.services.week_ahead import notifying_days
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.lake.errors import PortalError
from tests.component.lifecycle.backup_world import backup
from tests.component.lifecycle.plan_world import LAKE, NOW, World, make_world, partitions
from tests.component.lifecycle.scanned import scan

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/lifecycle/databases/sales/policy/"
SET = "/lifecycle/databases/sales/days/"
API = "/api/v1/lifecycle/databases/sales/days/"


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    return make_world(tmp_path)


def change(
    world: World, wanted: Days, *, who: str = "anna", seen: Days | None = None, reason: str = "law"
) -> DatabaseSetting:
    asked = DaysChange(LAKE, "sales", seen or days_of(LAKE, "sales"), wanted, reason)
    return database_days_change(asked, user=world.person(who), now=NOW)


def code(step: Callable[[], object]) -> str:
    with pytest.raises(PortalError) as error:
        step()
    return error.value.code


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_an_admin_sets_them_with_a_reason_within_bounds_once(world: World) -> None:
    for who in ("otto", "dora", "eve"):
        assert code(partial(change, world, Days(8, 20), who=who)) == "days.role"
    assert code(lambda: change(world, Days(8, 20), reason=" ")) == "days.reason"
    for wanted, expected in (
        *((Days(6, 15), "days.notice"), (Days(91, 15), "days.notice")),
        *((Days(7, 14), "days.backup"), (Days(7, 3651), "days.backup")),
    ):
        assert code(partial(change, world, wanted)) == expected
    assert days_of(LAKE, "sales") == days_of(LAKE, "never_seen") == Days(7, 15)
    assert not AuditEvent.objects.exists()
    for _ in range(2):
        change(world, Days(14, 40))
    assert days_of(LAKE, "sales") == Days(14, 40)
    assert code(lambda: change(world, Days(9, 40), seen=Days(7, 15))) == "days.changed"
    event = AuditEvent.objects.get()
    assert (event.action, event.actor, event.object_id) == (
        "database.days_changed",
        "anna",
        "sales",
    )
    assert event.data["from"] == {"notice_days": 7, "backup_days": 15}
    assert event.data["to"] == {"notice_days": 14, "backup_days": 40}
    assert event.data["reason"] == "law"


def test_they_count_for_mails_and_for_what_is_dropped_from_now_on(world: World) -> None:
    world.scan(partitions(2))
    old = backup(world.root)
    # Announced eight days ago: with fourteen days it is too early again.
    change(world, Days(14, 40))
    assert notifying_days(LAKE) == {"sales": 14}
    early = world.plan()
    assert (early.state, early.left_out) == ("NOT_CREATED", {"NOT_ANNOUNCED": 2})
    change(world, Days(7, 40))
    plan = world.plan()
    assert (plan.n_items, keep_days(plan)) == (2, {"sales": 40})
    assert BackupBatch.objects.get(pk=old.pk).purge_after == old.purge_after


def test_the_page_says_what_a_change_means_and_keeps_its_history(world: World) -> None:
    scan_here(world)
    old = backup(world.root)
    backup_totals_refresh(LAKE, [old.day])
    anna, dora = client_of(world.person("anna")), client_of(world.person("dora"))
    page = anna.get(PAGE).content.decode()
    assert "7 days ahead" in page
    assert "15 days" in page
    assert "1 backup of sales that can come back" in page
    assert "none becomes purgeable by this" in page
    shown = dora.get(PAGE).content.decode()
    assert "7 days ahead" in shown
    assert "Set other days" not in shown
    said = {"seen_notice_days": "7", "seen_backup_days": "15", "reason": "an auditor <b>asked</b>"}
    wanted = {"notice_days": "10", "backup_days": "30"}
    assert dora.post(SET, said | wanted).status_code == 403
    assert anna.post(SET, said | {"notice_days": "x", "backup_days": "30"}).status_code == 400
    assert anna.post(SET, said | wanted)["Location"].startswith(PAGE)
    assert anna.post(SET, said | wanted).status_code == 409
    page = anna.get(PAGE).content.decode()
    assert "told 7 days ahead, backups kept 15 days" in page
    assert "told 10 days ahead, backups kept 30 days" in page
    assert "an auditor &lt;b&gt;asked&lt;/b&gt;" in page


def test_the_api_does_what_the_page_does(world: World) -> None:
    scan_here(world)

    def post(client: Client, **body: Any) -> Any:
        said = {"seen_notice_days": 7, "seen_backup_days": 15, "reason": "law", **body}
        return client.post(API, json.dumps(said), content_type="application/json")

    anna, dora = client_of(world.person("anna")), client_of(world.person("dora"))
    shown = {
        "notice_days": 7,
        "backup_days": 15,
        "n_backups_kept": 0,
        "first_purge_at": None,
    }
    assert dora.get(API).json() == shown
    assert client_of(world.person("eve")).get(API).status_code == 404
    assert post(dora, notice_days=8, backup_days=16).status_code == 403
    refused = post(anna, notice_days=1, backup_days=16)
    assert (refused.status_code, refused.json()["code"]) == (400, "days.notice")
    done = post(anna, notice_days=8, backup_days=16)
    assert done.json() == shown | {"notice_days": 8, "backup_days": 16}
    history = anna.get("/api/v1/lifecycle/databases/sales/policy/").json()["history"]
    assert history[0]["after"] == "told 8 days ahead, backups kept 16 days"


def scan_here(world: World) -> None:
    """Show a picture with its databases."""
    scan(get_lake(LAKE), now=timezone.now())
