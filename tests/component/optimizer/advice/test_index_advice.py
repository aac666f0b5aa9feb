"""Advice on file indexes: found, shown, applied, measured, rolled back."""

from typing import Any

import pytest
from django.utils import timezone

from optimizer.advice.domain.states import AdviceState
from optimizer.advice.services.automatic import advice_apply_automatic
from optimizer.advice.services.decisions import advice_apply
from optimizer.advice.services.measuring import advice_watch
from optimizer.models import Advice, IcebergTable, IndexUse, OptimizeTask
from optimizer.policies.selectors.policies import policies_of, policy_current
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.lake.errors import StaleState
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

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
__all__ = ["table"]
OPTION: dict[str, Any] = {
    **{"column": "id", "kind": "bloom", "files_without": 40.0, "files_with": 1.0},
    **{"storage_bytes": 3.0 * MIB, "build_seconds": 2.0, "refused": ""},
}
REFUSED = {**OPTION, "column": "note", "refused": "it has one value"}
NO_LAYOUT: dict[str, Any] = {"options": [], "indexes": [OPTION, REFUSED]}


@pytest.fixture
def advice(people: People, table: IcebergTable) -> Advice:
    """Advice on an index of `id`, which 30 scans look for; no order of rows helps."""
    scan(table, n=30, days=1)
    looked(asked(people, table), table, **NO_LAYOUT)
    return Advice.objects.get()


def built(table: IcebergTable) -> None:
    now = timezone.now()
    OptimizeTask.objects.create(
        table=table, kind="INDEX", state="DONE", ended_at=now, created_at=now
    )
    advice_watch("main", now=timezone.now())


def dropped(table: IcebergTable, n_files: int) -> None:
    """Let readers report what the index left out of what was planned."""
    now = timezone.now()
    given = {"n_plans": 1, "n_files": n_files, "n_bytes": n_files * MIB, "last_used_at": now}
    IndexUse.objects.create(table=table, column="id", kind="bloom", day=now.date(), **given)


def test_an_index_is_advised_and_shown(people: People, table: IcebergTable) -> None:
    scan(table, n=30, days=1)
    run = asked(people, table)
    (order,) = run.params["tables"]
    assert order["candidates"] == [{"column": "id", "n_scans": 30, "n_bytes": 1200 * MIB}]
    said = looked(run, table, **NO_LAYOUT)["result"]["tables"][0]["said"]
    assert "A file index is advised for id." in said
    row = Advice.objects.get()
    assert (row.subject, row.proposed, row.before) == ("index_columns", "id", "")
    assert row.expected == pytest.approx(1 / 40)
    owner = client_of(people.owner)
    page = owner.get(f"/optimizer/advice/{row.pk}/").content.decode()
    for words in (
        "Index id",
        "whose policy named no column to index",
        "a look-up by id opens 1.0 files in place of 40.0 (bloom)",
        "3.0 MiB",
        "it has one value",
        "Columns that were tried",
        "Index the columns",
    ):
        assert words in page, words
    assert "Index <code>id</code>" in owner.get(TAB).content.decode()
    assert "Index <code>id</code>" in owner.get("/optimizer/advice/?lake=main").content.decode()
    (listed,) = owner.get("/api/v1/optimizer/advice/?lake=main").json()["results"]
    assert (listed["subject"], listed["proposed"]) == ("index_columns", "id")


def test_it_is_added_to_the_columns_that_hold_and_measured_by_what_was_left_out(
    people: People, table: IcebergTable
) -> None:
    for_all = PolicyChange("main", "*", {"index_columns": ["note:ngram_bloom"]}, 0, "logs")
    policy_set(for_all, user=people.admin, now=timezone.now())
    scan(table, n=30, days=1)
    looked(asked(people, table), table, **NO_LAYOUT)
    advice, owner = Advice.objects.get(), client_of(people.owner)
    assert (advice.proposed, advice.before) == ("note:ngram_bloom, id", "")
    address = f"/optimizer/advice/{advice.pk}/"
    assert owner.post(f"{address}apply/", {"reason": "look-ups"}).status_code == 302
    wanted = policies_of("main").of("shop", "clicks").policy.index_columns
    assert [*map(str, wanted)] == ["note:ngram_bloom", "id"]
    assert "until the optimizer has built indexes" in owner.get(address).content.decode()
    built(table)
    scan(table, n=20)
    dropped(table, 20 * 39)
    advice_watch("main", now=timezone.now())
    advice.refresh_from_db()
    assert advice.state == AdviceState.APPLIED
    assert advice.measured == pytest.approx(1 / 40)
    assert owner.post(f"{address}roll-back/", {"reason": "no room"}).status_code == 302
    wanted = policies_of("main").of("shop", "clicks").policy.index_columns
    assert [*map(str, wanted)] == ["note:ngram_bloom"]


def test_an_index_that_leaves_out_nothing_is_taken_back_by_itself(
    people: People, table: IcebergTable, advice: Advice
) -> None:
    advice_apply(advice, user=people.owner, reason="look-ups", now=timezone.now())
    built(table)
    scan(table, n=20)
    advice_watch("main", now=timezone.now())
    advice.refresh_from_db()
    assert advice.state == AdviceState.ROLLED_BACK
    own = policy_current("main", "shop.clicks")
    assert own is None or "index_columns" not in own.values


def test_a_list_that_somebody_changed_meanwhile_is_left_alone(
    people: People, advice: Advice
) -> None:
    mine = PolicyChange("main", "shop.clicks", {"index_columns": ["note"]}, 0, "mine")
    policy_set(mine, user=people.owner, now=timezone.now())
    with pytest.raises(StaleState, match=r"index columns of shop\.clicks changed") as refused:
        advice_apply(advice, user=people.owner, reason="why", now=timezone.now())
    assert refused.value.code == "advice.policy"


def test_indexes_are_judged_once_rows_lie_as_advised(people: People, table: IcebergTable) -> None:
    scan(table, n=30, days=1)
    run = asked(people, table)
    looked(run, table, indexes=[OPTION])
    (layout,) = Advice.objects.all()
    assert layout.subject == "layout"
    advice_apply(layout, user=people.owner, reason="why", now=timezone.now())
    looked(run, table, indexes=[OPTION])
    assert Advice.objects.count() == 1
    Advice.objects.update(measured_from=timezone.now())
    looked(run, table, indexes=[OPTION])
    index = Advice.objects.get(subject="index_columns")
    assert (index.state, index.proposed) == (AdviceState.NEW, "id")
    looked(run, table, indexes=[OPTION])
    assert Advice.objects.count() == 2
    looked(run, table, indexes=[])
    index.refresh_from_db()
    assert index.state == AdviceState.OUTDATED


def test_it_is_applied_by_itself_where_the_policy_says_so(
    people: People, table: IcebergTable
) -> None:
    scan(table, n=60, days=1)
    scan(table, n=60, days=2)
    looked(asked(people, table), table, **NO_LAYOUT)
    auto = PolicyChange("main", "*", {"advice": "auto", "is_on": True}, 0, "as we like it")
    policy_set(auto, user=people.admin, now=timezone.now())
    advice_apply_automatic("main", now=timezone.now())
    assert Advice.objects.get().state == AdviceState.APPLIED
    wanted = policies_of("main").of("shop", "clicks").policy.index_columns
    assert [*map(str, wanted)] == ["id"]
