"""Advice to give up a layout that no scan filters by: found, shown, applied, taken back."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.states import AdviceState
from optimizer.advice.services.automatic import advice_apply_automatic
from optimizer.advice.services.decisions import advice_apply, advice_dismiss, advice_roll_back
from optimizer.advice.services.trials import KIND as TRIAL_KIND
from optimizer.advice.services.trials import trial_request
from optimizer.advice.services.unused import unused_find
from optimizer.iceberg.tables.services.scans import MOST_A_DAY
from optimizer.models import Advice, Commit, IcebergTable, OptimizeTask, PolicyVersion, ScanFilter
from optimizer.policies.selectors.policies import policies_of, policy_current
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.access.models import User
from portal.lake.errors import RuleViolation, StaleState
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.advice.test_advice import (
    BY_ID,
    TAB,
    asked,
    client_of,
    looked,
    scan,
    table,
)
from tests.component.optimizer.advice.test_give_up_advice import advised_before

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
__all__ = ["table"]
LONG_AGO = timedelta(days=40)
LAYOUT = "hilbert(note,blob2)"


def laid_out(
    user: User,
    *,
    scope: str = "shop.clicks",
    age: timedelta = LONG_AGO,
    layout: str = LAYOUT,
    seen: int = 0,
    **other: Any,
) -> None:
    values = {"is_on": True, "layout": layout, **other}
    change = PolicyChange("main", scope, values, seen, "Dashboards.")
    policy_set(change, user=user, now=timezone.now())
    PolicyVersion.objects.filter(scope=scope).update(at=timezone.now() - age)


@pytest.fixture
def clicks(table: IcebergTable) -> IcebergTable:
    """Four scans by id on each of ten days; no reader says what it saved."""
    table.columns = {"id": "long", "note": "string", "blob2": "string"}
    table.save()
    for days in range(10):
        scan(table, BY_ID, n=4, days=days)
    return table


def found(*, days: int = 0) -> Advice:
    unused_find("main", now=timezone.now() + timedelta(days=days))
    return Advice.objects.get(gives_up=True, is_open=True)


def layout_now() -> str:
    return str(policies_of("main").of("shop", "clicks").policy.layout)


def test_an_unused_layout_is_given_up_and_comes_back(people: People, clicks: IcebergTable) -> None:
    laid_out(people.owner)
    now = timezone.now()
    OptimizeTask.objects.create(
        table=clicks, kind="CLUSTER", state="DONE", layout=LAYOUT, is_open=None, reason="Order.",
        created_at=now, ended_at=now - timedelta(days=3), seconds=280.0,
    )  # fmt: skip
    row = found()
    assert (row.subject, row.proposed, row.before) == ("layout", "", LAYOUT)
    owner = client_of(people.owner)
    page = owner.get(f"/optimizer/advice/{row.pk}/").content.decode()
    for words in (
        f"Give up the layout {LAYOUT}",
        f"none of four weeks filtered a column of the layout {LAYOUT}",
        "It takes 10.0 s of rewrites a day.",
        "Give up the layout</button>",
        "Queries read as much without it",
    ):
        assert words in page, words
    assert "Try on a branch" not in page
    for listing in (TAB, "/optimizer/advice/?lake=main"):
        said = owner.get(listing).content.decode()
        assert f"Give up layout <code>{LAYOUT}</code>" in said
        assert "10.0 s</span> of rewrites a day less" in said
        assert "not tried" not in said
    (listed,) = owner.get("/api/v1/optimizer/advice/?lake=main").json()["results"]
    assert (listed["subject"], listed["gives_up"], listed["proposed"]) == ("layout", True, "")
    assert client_of(people.stranger).get(f"/optimizer/advice/{row.pk}/").status_code == 404

    advice_apply(row, user=people.owner, reason="Nobody looks for notes.", now=timezone.now())
    assert layout_now() == ""
    row.refresh_from_db()
    assert (row.state, row.is_open) == (AdviceState.APPLIED, None)
    advice_roll_back(row, user=people.owner, reason="They do.", now=timezone.now())
    assert layout_now() == LAYOUT
    # Its time begins anew, and it was refused.
    unused_find("main", now=timezone.now() + timedelta(days=2))
    assert not Advice.objects.filter(is_open=True).exists()


def test_one_that_a_pattern_says_is_given_up_for_the_table_alone(
    people: People, clicks: IcebergTable
) -> None:
    laid_out(people.admin, scope="shop")
    row = found()
    assert row.before == ""
    advice_apply(row, user=people.owner, reason="Nobody does.", now=timezone.now())
    own = policy_current("main", "shop.clicks")
    assert own is not None
    assert own.values == {"layout": ""}
    assert layout_now() == ""
    assert str(policies_of("main").of("shop", "others").policy.layout) == LAYOUT
    advice_roll_back(Advice.objects.get(), user=people.owner, reason="No.", now=timezone.now())
    assert layout_now() == LAYOUT


def test_one_that_was_changed_meanwhile_is_left_alone(people: People, clicks: IcebergTable) -> None:
    laid_out(people.admin, scope="shop")
    row = found()
    laid_out(people.admin, scope="shop", layout="sort(id)", seen=1)
    with pytest.raises(StaleState, match="changed since this advice was made"):
        advice_apply(row, user=people.owner, reason="Nobody does.", now=timezone.now())
    assert layout_now() == "sort(id)"


@pytest.mark.parametrize(
    "other",
    [
        {"age": timedelta(days=20)},
        {"layout": ""},
        {"advice": "off"},
        # It would contradict itself without a layout.
        {"kinds": ["CLUSTER"]},
    ],
)
def test_policies_of_which_no_layout_is_given_up(
    people: People, clicks: IcebergTable, other: dict[str, Any]
) -> None:
    laid_out(people.owner, **other)
    unused_find("main", now=timezone.now())
    assert not Advice.objects.exists()


def commit(table: IcebergTable, operation: str, *, is_ours: bool = False) -> None:
    now = timezone.now()
    Commit.objects.create(
        table=table, snapshot_id=1 + Commit.objects.count(), at=now, event_at=now,
        operation=operation, is_ours=is_ours, source="poll",
    )  # fmt: skip


def few_days(table: IcebergTable) -> None:
    table.scan_filters.update(n_scans=20)
    table.scan_filters.filter(day__lt=timezone.now().date() - timedelta(days=5)).delete()


def cut(table: IcebergTable) -> None:
    """More filters a day than are summed."""
    now = timezone.now()
    ScanFilter.objects.bulk_create(
        ScanFilter(table=table, column=f"c{n}", kind="=", day=now.date(), last_at=now)
        for n in range(MOST_A_DAY)
    )


DOUBTS: dict[str, Callable[[IcebergTable], object]] = {
    "named": lambda table: scan(table, (Filter("note", FilterKind.EQUAL),)),
    "named as null": lambda table: scan(table, (Filter("blob2", FilterKind.NULL),), days=2),
    "named weeks ago": lambda table: scan(table, (Filter("note", FilterKind.RANGE),), days=27),
    "few scans": lambda table: table.scan_filters.update(n_scans=1),
    "few days": few_days,
    "merged": lambda table: commit(table, "overwrite"),
    "cut": cut,
    "joined": lambda _: PolicyVersion.objects.update(
        values={"is_on": True, "layout": "sort(part.brand)"}
    ),
}


@pytest.mark.parametrize("what", DOUBTS)
def test_nothing_is_given_up_on_doubt(people: People, clicks: IcebergTable, what: str) -> None:
    laid_out(people.owner)
    DOUBTS[what](clicks)
    unused_find("main", now=timezone.now())
    assert not Advice.objects.exists()


def test_appends_and_our_own_rewrites_are_no_doubt(people: People, clicks: IcebergTable) -> None:
    laid_out(people.owner)
    commit(clicks, "append")
    commit(clicks, "overwrite", is_ours=True)
    assert found().change == f"Give up the layout {LAYOUT}"


def test_a_filter_that_comes_later_outdates_it(people: People, clicks: IcebergTable) -> None:
    laid_out(people.owner)
    row = found()
    scan(clicks, (Filter("note", FilterKind.PREFIX),))
    unused_find("main", now=timezone.now() + timedelta(days=1))
    row.refresh_from_db()
    assert (row.state, row.is_open) == (AdviceState.OUTDATED, None)


def test_it_is_neither_tried_nor_in_the_way_of_other_advice(
    people: People, clicks: IcebergTable
) -> None:
    laid_out(people.owner)
    row = found()
    with pytest.raises(RuleViolation, match="Only a new layout is tried"):
        trial_request(row, user=people.owner, reason="Let us see.", now=timezone.now())
    run = asked(people, clicks)
    # A layout that would serve takes its place.
    looked(run, clicks, options=[{"layout": "sort(id)", "share": 0.2}])
    row.refresh_from_db()
    assert row.state == AdviceState.OUTDATED
    better = Advice.objects.get(is_open=True)
    assert (better.proposed, better.gives_up) == ("sort(id)", False)
    unused_find("main", now=timezone.now() + timedelta(days=2))
    assert Advice.objects.get(is_open=True).pk == better.pk


def test_no_layout_of_its_columns_is_tried_for_four_weeks(
    people: People, clicks: IcebergTable
) -> None:
    laid_out(people.owner)
    advice_apply(found(), user=people.owner, reason="Nobody does.", now=timezone.now())
    (order,) = asked(people, clicks).params["tables"]
    assert order["given_up"] == ["blob2", "note"]
    Advice.objects.update(applied_at=timezone.now() - timedelta(days=29))
    (order,) = asked(people, clicks).params["tables"]
    assert order["given_up"] == []


def test_a_dismissed_one_stays_away_for_four_weeks(people: People, clicks: IcebergTable) -> None:
    laid_out(people.owner)
    advice_dismiss(found(), user=people.owner, reason="For audits.", now=timezone.now())
    unused_find("main", now=timezone.now() + timedelta(days=2))
    assert Advice.objects.count() == 1
    assert asked(people, clicks).params["tables"]


def test_a_policy_that_says_so_has_it_applied_without_a_trial(
    people: People, clicks: IcebergTable
) -> None:
    laid_out(people.owner, advice="auto")
    scan(clicks, n=80, days=2)
    row = found()
    assert row.evidence["confidence"] == "medium"
    # People declared the layout, so people end it.
    advice_apply_automatic("main", now=timezone.now())
    assert layout_now() == LAYOUT
    advised_before(row, LAYOUT)
    advice_apply_automatic("main", now=timezone.now())
    row.refresh_from_db()
    assert row.state == AdviceState.APPLIED
    assert layout_now() == ""
    assert not Run.objects.filter(kind=TRIAL_KIND).exists()


def test_one_that_a_pattern_says_waits_for_a_person_also_with_auto(
    people: People, clicks: IcebergTable
) -> None:
    laid_out(people.admin, scope="shop", advice="auto")
    scan(clicks, n=80, days=2)
    found()
    advice_apply_automatic("main", now=timezone.now())
    assert layout_now() == LAYOUT


def test_tables_without_anything_do_not_hold_up_the_others(
    people: People, clicks: IcebergTable
) -> None:
    laid_out(people.owner)
    unused_find("main", now=timezone.now())
    clicks.refresh_from_db()
    first = clicks.unused_looked_at
    assert first is not None
    unused_find("main", now=first + timedelta(hours=1))
    clicks.refresh_from_db()
    assert clicks.unused_looked_at == first
