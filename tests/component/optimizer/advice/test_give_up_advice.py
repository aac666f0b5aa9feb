"""Advice to give up what nobody uses: found shown, applied, taken back."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from optimizer.advice.domain.states import AdviceState
from optimizer.advice.services.automatic import advice_apply_automatic
from optimizer.advice.services.decisions import advice_apply, advice_dismiss, advice_roll_back
from optimizer.advice.services.measuring import advice_watch
from optimizer.advice.services.unused import unused_find
from optimizer.cubes.domain.states import CubeState
from optimizer.cubes.services.upkeep import cube_drop, cube_pause
from optimizer.models import (
    Advice,
    Cube,
    CubeUse,
    CubeVersion,
    IcebergTable,
    IndexCoverage,
    IndexUse,
    PolicyVersion,
    ReportSender,
)
from optimizer.policies.selectors.policies import policy_current
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.lake.errors import StaleState
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.advice.test_advice import (
    MIB,
    TAB,
    asked,
    client_of,
    looked,
    scan,
    table,
)
from tests.component.optimizer.cubes.cube_rows import cube

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
__all__ = ["table"]
LONG_AGO = timedelta(days=40)
NO_LAYOUT: dict[str, Any] = {"options": [], "indexes": []}


def kept(people: People, table: IcebergTable, columns: list[str], *, age: timedelta) -> None:
    """Let the table's policy ask for indexes since so long, which are built."""
    now = timezone.now()
    values = {"is_on": True, "index_columns": columns}
    change = PolicyChange("main", "shop.clicks", values, 0, "Dashboards.")
    policy_set(change, user=people.owner, now=now)
    PolicyVersion.objects.filter(scope="shop.clicks").update(at=now - age)
    for field, one in enumerate(columns, start=1):
        IndexCoverage.objects.create(
            **{"table": table, "field_id": field, "column": one, "wanted": "auto", "place": 0},
            **{"n_files": 10, "n_covered": 10, "n_refused": 0, "n_rows": 1000},
            **{"n_bytes": 3 * MIB, "at": now},
        )


def used(table: IcebergTable, column: str) -> None:
    now = timezone.now()
    given = {"n_plans": 1, "n_files": 5, "n_bytes": 5 * MIB, "last_used_at": now}
    IndexUse.objects.create(table=table, column=column, kind="bloom", day=now.date(), **given)


def scanned(table: IcebergTable) -> None:
    """Four scans on each of ten days, and a reader that reports."""
    for days in range(10):
        scan(table, n=4, days=days)
    ReportSender.objects.create(
        lake="main", user="spark", sender="7e6b1d3c-0f5a-4a43-9d37-0c39a14c1111",
        reported_at=timezone.now(),
    )  # fmt: skip


def found(*, days: int = 0) -> Advice:
    unused_find("main", now=timezone.now() + timedelta(days=days))
    return Advice.objects.get(gives_up=True, is_open=True)


def old_cube(table: IcebergTable) -> Cube:
    now = timezone.now()
    row = cube(table, now=now, built_at=now, n_bytes=2 * MIB)
    CubeVersion.objects.filter(cube=row).update(at=now - LONG_AGO)
    return row


def test_an_unused_index_is_given_up_and_comes_back(people: People, table: IcebergTable) -> None:
    kept(people, table, ["id", "note"], age=LONG_AGO)
    used(table, "id")
    scanned(table)
    row = found()
    assert (row.subject, row.proposed, row.before) == ("index_columns", "id", "id, note")
    assert row.evidence["columns"] == ["note"]
    owner = client_of(people.owner)
    page = owner.get(f"/optimizer/advice/{row.pk}/").content.decode()
    for words in (
        "Give up the index of note",
        "the file index note left out nothing in four weeks",
        "3.0 MiB",
        "Give up the index",
        "Queries read as much without it",
    ):
        assert words in page, words
    assert "Give up index <code>note</code>" in owner.get(TAB).content.decode()
    (listed,) = owner.get("/api/v1/optimizer/advice/?lake=main").json()["results"]
    assert (listed["gives_up"], listed["proposed"], listed["measured"]) == (True, "id", None)
    assert client_of(people.stranger).get(f"/optimizer/advice/{row.pk}/").status_code == 404

    advice_apply(row, user=people.owner, reason="Nobody looks for notes.", now=timezone.now())
    now = policy_current("main", "shop.clicks")
    assert now is not None
    assert now.values["index_columns"] == ["id"]
    row.refresh_from_db()
    assert (row.state, row.is_open) == (AdviceState.APPLIED, None)
    advice_roll_back(row, user=people.owner, reason="They do.", now=timezone.now())
    now = policy_current("main", "shop.clicks")
    assert now is not None
    assert now.values["index_columns"] == ["id", "note"]


def test_the_last_index_leaves_an_empty_list(people: People, table: IcebergTable) -> None:
    kept(people, table, ["note"], age=LONG_AGO)
    scanned(table)
    row = found()
    assert row.proposed == ""
    advice_apply(row, user=people.owner, reason="Nobody does.", now=timezone.now())
    now = policy_current("main", "shop.clicks")
    assert now is not None
    assert now.values["index_columns"] == []
    advice_roll_back(Advice.objects.get(), user=people.owner, reason="Yes.", now=timezone.now())
    now = policy_current("main", "shop.clicks")
    assert now is not None
    assert now.values["index_columns"] == ["note"]


def test_what_was_given_up_is_not_advised_again_for_four_weeks(
    people: People, table: IcebergTable
) -> None:
    kept(people, table, ["id"], age=LONG_AGO)
    scanned(table)
    advice_apply(found(), user=people.owner, reason="Nobody does.", now=timezone.now())
    (order,) = asked(people, table).params["tables"]
    assert order["candidates"] == []
    Advice.objects.update(applied_at=timezone.now() - timedelta(days=29))
    (order,) = asked(people, table).params["tables"]
    assert [one["column"] for one in order["candidates"]] == ["id"]


@pytest.mark.parametrize("what", ["young", "used", "silent", "narrowed", "few", "off"])
def test_nothing_is_given_up_on_doubt(people: People, table: IcebergTable, what: str) -> None:
    kept(people, table, ["note"], age=timedelta(days=20) if what == "young" else LONG_AGO)
    scanned(table)
    if what == "used":
        used(table, "note")
    if what == "silent":
        ReportSender.objects.update(reported_at=timezone.now() - timedelta(days=8))
    if what == "narrowed":
        Run.objects.create(
            kind="optimizer.prune", lake="main", state="DONE", queued_at=timezone.now()
        )
    if what == "few":
        table.scan_filters.exclude(day=timezone.now().date()).delete()
    if what == "off":
        values = {"is_on": True, "index_columns": ["note"], "advice": "off"}
        change = PolicyChange("main", "shop.clicks", values, 1, "Quiet.")
        policy_set(change, user=people.owner, now=timezone.now())
        PolicyVersion.objects.update(at=timezone.now() - LONG_AGO)
    unused_find("main", now=timezone.now())
    assert not Advice.objects.exists()


def test_found_again_it_is_the_same_and_used_again_it_is_outdated(
    people: People, table: IcebergTable
) -> None:
    kept(people, table, ["note"], age=LONG_AGO)
    scanned(table)
    first = found()
    unused_find("main", now=timezone.now() + timedelta(hours=1))
    first.refresh_from_db()
    assert first.confirmed_at == first.made_at
    ReportSender.objects.update(reported_at=timezone.now() + timedelta(days=1))
    again = found(days=1)
    assert (again.pk, again.confirmed_at > again.made_at) == (first.pk, True)
    looked(asked(people, table), table, **NO_LAYOUT)
    assert Advice.objects.get().state == AdviceState.NEW
    used(table, "note")
    unused_find("main", now=timezone.now() + timedelta(days=3))
    assert Advice.objects.get().state == AdviceState.OUTDATED


def test_a_dismissed_one_stays_away_for_four_weeks(people: People, table: IcebergTable) -> None:
    kept(people, table, ["note"], age=LONG_AGO)
    scanned(table)
    advice_dismiss(found(), user=people.owner, reason="For audits.", now=timezone.now())
    unused_find("main", now=timezone.now() + timedelta(days=2))
    assert Advice.objects.count() == 1
    # Other advice on the table is looked for as before.
    assert asked(people, table).params["tables"]


def test_an_unused_cube_is_paused_and_resumed(people: People, table: IcebergTable) -> None:
    one = old_cube(table)
    scanned(table)
    row = found()
    assert (row.subject, row.proposed) == ("cube", one.name)
    page = client_of(people.owner).get(f"/optimizer/advice/{row.pk}/").content.decode()
    assert f"Pause cube {one.name}" in page
    assert "Pause the cube" in page
    advice_apply(row, user=people.owner, reason="Nobody asks.", now=timezone.now())
    one.refresh_from_db()
    assert one.state == CubeState.PAUSED
    row.refresh_from_db()
    advice_roll_back(row, user=people.owner, reason="They will.", now=timezone.now())
    one.refresh_from_db()
    assert one.state == CubeState.ACTIVE


def test_a_cube_that_answered_meanwhile_is_not_paused(people: People, table: IcebergTable) -> None:
    one = old_cube(table)
    scanned(table)
    row = found()
    now = timezone.now()
    CubeUse.objects.create(cube=one, day=now.date(), engine="spark", n_queries=1, last_used_at=now)
    with pytest.raises(StaleState, match="answered a query since"):
        advice_apply(row, user=people.owner, reason="Nobody asks.", now=now)
    one.refresh_from_db()
    assert one.state == CubeState.ACTIVE
    assert Advice.objects.get().state == AdviceState.NEW


def advised_before(row: Advice, proposed: str) -> None:
    """Say that what an advice gives up came of another one."""
    Advice.objects.create(
        table=row.table,
        state=AdviceState.APPLIED,
        is_open=None,
        subject=row.subject,
        proposed=proposed,
        expected=0.5,
        bytes_a_day=1,
        rewrite_bytes=1,
        n_scans=1,
        n_days=1,
        evidence={},
        made_at=row.made_at - LONG_AGO,
        confirmed_at=row.made_at - LONG_AGO,
        applied_at=row.made_at - LONG_AGO,
    )


def test_a_policy_that_says_so_has_it_applied_by_itself(
    people: People, table: IcebergTable
) -> None:
    kept(people, table, ["note"], age=LONG_AGO)
    values = {"is_on": True, "index_columns": ["note"], "advice": "auto"}
    change = PolicyChange("main", "shop.clicks", values, 1, "By itself.")
    policy_set(change, user=people.owner, now=timezone.now())
    PolicyVersion.objects.update(at=timezone.now() - LONG_AGO)
    scanned(table)
    scan(table, n=80, days=2)
    row = found()
    assert row.evidence["confidence"] == "medium"
    # People declared the column, so people end it.
    advice_apply_automatic("main", now=timezone.now())
    row.refresh_from_db()
    assert row.state == AdviceState.NEW
    advised_before(row, "note")
    advice_apply_automatic("main", now=timezone.now())
    row.refresh_from_db()
    assert row.state == AdviceState.APPLIED
    now = policy_current("main", "shop.clicks")
    assert now is not None
    assert now.values["index_columns"] == []


@pytest.mark.parametrize("stop", [cube_pause, cube_drop])
def test_a_cube_that_somebody_stopped_is_not_offered_to_be_paused(
    people: People, table: IcebergTable, stop: Any
) -> None:
    one = old_cube(table)
    scanned(table)
    row = found()
    advice_watch("main", now=timezone.now())
    row.refresh_from_db()
    assert row.state == AdviceState.NEW
    stop(one, user=people.owner, reason="Off.", now=timezone.now())
    advice_watch("main", now=timezone.now())
    row.refresh_from_db()
    assert (row.state, row.is_open) == (AdviceState.OUTDATED, None)
