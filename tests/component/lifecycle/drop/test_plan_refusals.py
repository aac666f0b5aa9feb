"""Nothing that the rules refuse enters a plan, and each refusal is counted by its reason."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from lifecycle.backup.models import Hold
from lifecycle.drop.domain.plan import read_line
from lifecycle.drop.services.deletion_requests import deletion_request
from lifecycle.drop.services.execution import plan_finish
from lifecycle.inventory.services.file_system_alarms import file_system_alarm_queue
from lifecycle.models import DatabaseSetting, DeletionRequest, DropPlan, PlanState
from lifecycle.planning.services.approved_runs import check_picture
from portal.audit.services import audit_record
from portal.events.models import EventAlarm, EventPosition, TableTouch
from portal.lake.errors import StaleState
from portal.notices.models import Notice
from portal.runs.models import Run
from portal.runs.requests.selectors import run_events
from tests.component.lifecycle.plan_world import (
    LAKE,
    NOW,
    Item,
    World,
    changed,
    lake_entry,
    make_world,
    partitions,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    return make_world(tmp_path)


GOOD = Item(part_name="dt=2026-02-01")
BAD = Item(part_name="dt=2026-02-02")


def items_of(plan: DropPlan) -> list[str]:
    """Return the partitions in the plan's file."""
    lines = Path(plan.items_uri.removeprefix("file://")).read_text().splitlines()
    return [read_line(line).partition for line in lines]


def no_change(world: World) -> None:
    """Leave the world as it is."""


def observe(world: World) -> None:
    DatabaseSetting.objects.create(lake=LAKE, db="hr", mode="NOTIFY")


def hold_it(world: World) -> None:
    Hold.objects.create(
        lake=LAKE,
        db="sales",
        table="orders",
        partition=BAD.part_name,
        kind="LEGAL",
        reason="court",
        placed_by="bert",
        placed_at=NOW,
    )


def nested_table(world: World) -> None:
    world.extra_locations.append(("hr", "inside", BAD.path + "/inside"))
    world.scan([GOOD, BAD])


def touch(world: World, table: str, event: str, *, altered: int = 0) -> None:
    TableTouch.objects.create(
        lake=LAKE,
        db="sales",
        table=table,
        event_id=3,
        event_type=event,
        altered_event_id=altered,
        at=NOW,
    )


def nested_by_another_name(world: World) -> None:
    place = BAD.path.removeprefix("file://")
    world.extra_locations.append(("hr", "inside", f"hdfs://old-name-node:8020{place}/inside"))
    world.scan([GOOD, BAD])


def nested_unreadably(world: World) -> None:
    world.extra_locations.append(("hr", "inside", f"{BAD.path}/../{BAD.part_name}/inside"))
    world.scan([GOOD, BAD])


CASES: list[tuple[str, Item, Callable[[World], None]]] = [
    ("NONCONFORMING", changed(BAD, cls="NONCONFORMING"), no_change),
    ("KEEP_FOREVER", changed(BAD, cls="KEEP_FOREVER", level=0), no_change),
    ("KEEP_FOREVER", changed(BAD, level=0), no_change),
    ("HELD", changed(BAD, cls="HELD"), no_change),
    ("HELD", BAD, hold_it),
    ("UNSUPPORTED", changed(BAD, cls="UNSUPPORTED"), no_change),
    ("UNREADY", changed(BAD, cls="UNREADY"), no_change),
    ("UNREADY", changed(BAD, ready=False), no_change),
    ("NOT_ENROLLED", changed(BAD, cls="NOT_ENROLLED", level=None, ttl=None), no_change),
    ("STILL_READ", changed(BAD, cls="STILL_READ"), no_change),
    ("MISSING_DIRECTORY", changed(BAD, cls="MISSING_DIRECTORY"), no_change),
    ("UNKNOWN", changed(BAD, cls="UNKNOWN"), no_change),
    ("UNKNOWN", changed(BAD, n_bytes=None), no_change),
    ("SOON", changed(BAD, cls="SOON"), no_change),
    ("NOT_DUE", changed(BAD, cls="NOT_NOW"), no_change),
    ("SHARED_LOCATION", BAD, nested_table),
    ("SHARED_LOCATION", BAD, nested_by_another_name),
    ("SHARED_LOCATION", BAD, nested_unreadably),
    ("SHARED_LOCATION", changed(BAD, location="file:///lake/sales/orders"), no_change),
    ("NO_BACKUP_ROOT", changed(BAD, location="hdfs://nn/lake/sales/orders/x"), no_change),
    # Announced under another ttl, and written after the scan behind the notice.
    ("NOT_ANNOUNCED", changed(BAD, ttl=30), no_change),
    ("NOT_ANNOUNCED", changed(BAD, updated=NOW - timedelta(days=7)), no_change),
]


@pytest.mark.parametrize(("reason", "bad", "change"), CASES)
def test_what_is_refused_never_enters_a_plan(
    world: World, reason: str, bad: Item, change: Callable[[World], None]
) -> None:
    world.scan([GOOD, bad])
    change(world)
    plan = world.plan()
    assert plan.state == PlanState.PENDING, plan.ended_reason
    assert items_of(plan) == [GOOD.part_name]
    assert plan.left_out == {reason: 1}


def test_a_plan_takes_what_is_on_one_name_service_and_counts_the_rest(world: World) -> None:
    entry = {
        **lake_entry(world.root),
        "backup_roots": ["file:///backup", "hdfs://archive/backup", "hdfs://lake/backup"],
    }
    (world.root / "lakes.json").write_text(json.dumps({LAKE: entry}))
    far = [
        changed(BAD, part_name=f"dt=2025-01-0{n}", location=f"hdfs://archive/sales/orders/{n}")
        for n in (1, 2)
    ]
    world.scan([GOOD, *far])
    plan = world.plan()
    assert items_of(plan) == [one.part_name for one in far]
    assert plan.backup_root == "hdfs://archive/backup"
    assert plan.left_out == {"OTHER_BACKUP_ROOT": 1}


def test_a_database_that_is_not_in_act_mode_gives_nothing(world: World) -> None:
    world.scan([GOOD])
    DatabaseSetting.objects.update(mode="NOTIFY")
    plan = world.plan()
    assert plan.state == PlanState.NOT_CREATED
    assert plan.left_out == {"NOT_ACT_MODE": 1}
    assert plan.items_uri == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "QUEUED"},
        {"days_ago": 6},
        {"horizon_on": datetime(2026, 9, 1, tzinfo=UTC).date()},
        {"level": 2},
        {"read_at": datetime(2026, 7, 1, tzinfo=UTC)},
        {"as_of": datetime(2026, 7, 1, tzinfo=UTC)},
    ],
)
def test_a_notice_counts_only_when_sent_for_its_days_about_this_very_item(
    world: World, changes: dict[str, Any]
) -> None:
    world.scan([GOOD], announce=False)
    assert world.plan().left_out == {"NOT_ANNOUNCED": 1}
    world.announce(GOOD, **changes)
    assert world.plan().left_out == {"NOT_ANNOUNCED": 1}
    world.announce(GOOD)
    assert world.plan().n_items == 1


def test_still_read_goes_only_with_the_yes_of_an_owner(world: World) -> None:
    world.scan([GOOD, changed(BAD, cls="STILL_READ")])
    name = ("sales", "orders", "")
    ask: dict[str, Any] = {"lake": LAKE, "name": name, "reason": "not needed", "now": NOW}
    deletion_request(**ask, with_recently_read=False, user=world.person("alice"))
    assert world.plan().left_out == {"STILL_READ": 1}
    DropPlan.objects.all().delete()
    wish = deletion_request(**ask, with_recently_read=True, user=world.person("alice"))
    plan = world.plan()
    assert items_of(plan) == [GOOD.part_name, BAD.part_name]
    assert plan.tables.get().n_still_read == 1
    assert "alice" in plan.requesters
    wish.refresh_from_db()
    assert (wish.state, wish.plan_id) == (DeletionRequest.State.PLANNED, plan.pk)


def test_a_table_in_a_waiting_plan_does_not_enter_a_second_one(world: World) -> None:
    world.scan([GOOD])
    assert world.plan().state == PlanState.PENDING
    second = world.plan()
    assert (second.state, second.left_out) == (PlanState.NOT_CREATED, {"IN_OTHER_PLAN": 1})


def run_of(plan: DropPlan) -> Run:
    """Let a plan be running, as if approved."""
    run = Run.objects.create(
        lake=LAKE, kind="lifecycle.drop", requested_by="anna", queued_at=NOW, state="RUNNING"
    )
    DropPlan.objects.filter(pk=plan.pk).update(state=PlanState.RUNNING, run=run)
    plan.refresh_from_db()
    return run


def test_what_a_plan_left_alone_is_free_when_it_has_ended(world: World) -> None:
    world.scan(partitions(3))
    plan = world.plan()
    run = run_of(plan)
    assert world.plan().left_out == {"IN_OTHER_PLAN": 3}
    audit_record(
        "item.dropped",
        actor="anna",
        lake=LAKE,
        object_type="item",
        object_id="sales.orders/dt=2026-01-01",
        data={"plan": str(plan.pk)},
        now=NOW,
    )
    skipped = [
        {"item": f"sales.orders/dt=2026-01-0{n}", "outcome": "SKIPPED", "reason": "newer data"}
        for n in (2, 3)
    ]
    report = {"counts": {"DROPPED": 1, "SKIPPED": 2}, "skipped": skipped}
    plan_finish(plan, run, outcome="done", report=report, now=NOW)
    again = world.plan()
    assert items_of(again) == ["dt=2026-01-02", "dt=2026-01-03"]
    assert again.left_out == {"DROPPED": 1}
    said = [line.text for line in run_events(run)]
    assert said == [f"{row['item']} was skipped (SKIPPED): newer data" for row in skipped]
    client = Client()
    client.force_login(world.person("alice"))
    page = client.get(f"/lifecycle/plans/{plan.pk}/").content.decode()
    assert page.count('<td role="cell" data-title="Reason">newer data</td>') == 2
    rows = client.get(f"/api/v1/lifecycle/plans/{plan.pk}/results/").json()["results"]
    assert [(row["partition"], row["reason"]) for row in rows] == [
        ("dt=2026-01-02", "newer data"),
        ("dt=2026-01-03", "newer data"),
    ]


def test_a_plan_whose_run_failed_blocks_nothing_and_says_why(world: World) -> None:
    world.scan(partitions(2))
    plan = world.plan()
    run = run_of(plan)
    report = {"counts": {}, "skipped": [], "error": "The metastore does not answer."}
    plan_finish(plan, run, outcome="failed", report=report, now=NOW)
    assert plan.ended_reason == "The metastore does not answer."
    assert world.plan().n_items == 2


def test_a_plan_over_the_caps_is_refused_whole(world: World, settings: Settings) -> None:
    settings.LAKEWARDEN_PLAN_MAX_ITEMS = 4
    world.scan(partitions(5))
    plan = world.plan()
    assert plan.state == PlanState.NOT_CREATED
    assert "5 items are more than the cap of 4" in plan.ended_reason
    assert plan.approval is None
    settings.LAKEWARDEN_PLAN_MAX_ITEMS = 5
    assert world.plan().state == PlanState.PENDING


def test_a_plan_over_the_share_of_the_lake_is_refused(world: World, settings: Settings) -> None:
    settings.LAKEWARDEN_PLAN_MAX_PERCENT = 9
    world.scan(partitions(5))
    assert world.plan().state == PlanState.PENDING
    DropPlan.objects.update(state="REJECTED")
    settings.LAKEWARDEN_PLAN_SMALL = 4
    plan = world.plan()
    assert plan.state == PlanState.NOT_CREATED
    assert "5 of 50 known items are more than 9 percent" in plan.ended_reason


def test_a_halved_inventory_stops_plans(world: World) -> None:
    before = world.scan([GOOD])
    before.totals = {"n_partitions": 1000, "n_tables": 10}
    before.save()
    world.scan([GOOD])
    plan = world.plan()
    assert plan.state == PlanState.NOT_CREATED
    assert "half or less" in plan.ended_reason


def test_a_file_system_that_lakes_json_does_not_name_stops_plans_and_their_start(
    world: World,
) -> None:
    generation = world.scan([GOOD])
    plan = world.plan()
    assert plan.state == PlanState.PENDING
    generation.totals |= {"unknown_file_systems": ["hdfs://old-name-node:8020", "viewfs://c"]}
    generation.save()
    with pytest.raises(StaleState, match=r"hdfs://old-name-node:8020, viewfs://c.*path_aliases"):
        check_picture(LAKE)
    DropPlan.objects.update(state="REJECTED")
    again = world.plan()
    assert again.state == PlanState.NOT_CREATED
    assert "hdfs://old-name-node:8020" in again.ended_reason
    n_mails = file_system_alarm_queue(generation, now=NOW)
    mails = Notice.objects.filter(kind="lifecycle.unknown_file_systems")
    assert n_mails == mails.count() > 0
    assert all("hdfs://old-name-node:8020" in mail.text for mail in mails)
    assert file_system_alarm_queue(generation, now=NOW) == n_mails, "once a day"
    assert mails.count() == n_mails
    generation.totals |= {"unknown_file_systems": []}
    assert file_system_alarm_queue(generation, now=NOW) == 0


def test_nothing_starts_while_events_were_missed_or_the_lake_has_shrunk(
    world: World,
) -> None:
    before = world.scan([GOOD])
    check_picture(LAKE)
    alarm = EventAlarm.objects.create(
        lake=LAKE, kind="HOLE", event_id=9, detail="ids 8 to 9", raised_at=NOW
    )
    with pytest.raises(StaleState, match="Events of the metastore were missed"):
        check_picture(LAKE)
    alarm.delete()
    seen = EventPosition.objects.create(
        lake=LAKE,
        **dict.fromkeys(("first_id", "position", "newest_id"), 9),
        **dict.fromkeys(("moved_at", "checked_at"), NOW),
        fence=1,
        clock_behind_seconds=61,
    )
    with pytest.raises(StaleState, match="clock is at least 61 s behind"):
        check_picture(LAKE)
    seen.clock_behind_seconds = 60
    seen.save()
    check_picture(LAKE)
    before.totals = {"n_partitions": 1000, "n_tables": 10}
    before.save()
    world.scan([GOOD])
    with pytest.raises(StaleState, match="half or less"):
        check_picture(LAKE)


def test_what_was_changed_since_the_scan_waits_for_the_next_one(world: World) -> None:
    world.scan(
        [
            GOOD,
            changed(GOOD, tbl="altered", tbl_id=2),
            # Made again since the scan, and loaded after that.
            changed(GOOD, tbl="loaded", tbl_id=4),
            changed(GOOD, tbl="before", tbl_id=5),
            Item(tbl="whole", tbl_id=3, part_name=""),
        ]
    )
    touch(world, "orders", "ADD_PARTITION")
    touch(world, "altered", "ALTER_TABLE", altered=3)
    touch(world, "loaded", "INSERT", altered=2)
    touch(world, "before", "INSERT", altered=1)
    touch(world, "whole", "INSERT")
    names = ("orders", "altered", "whole", "loaded", "before")
    plan = world.plan(tables=tuple(f"sales.{name}" for name in names))
    assert [str(table) for table in plan.tables.all()] == ["sales.before", "sales.orders"]
    assert plan.left_out == {"TOUCHED": 3}


def test_items_of_a_whole_table_stand_as_a_table(world: World) -> None:
    world.scan([Item(part_name=""), Item(tbl="visits", tbl_id=2)])
    plan = world.plan(tables=("sales.orders", "sales.visits"))
    kinds = dict(plan.tables.values_list("table", "kind"))
    assert kinds == {"orders": "TABLE", "visits": "PARTITION"}
    assert plan.n_items == 2
