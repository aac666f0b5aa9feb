"""Advice on cubes: found from what queries group by, shown, applied, measured, paused again."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from optimizer.advice.domain.asked import Aggregate
from optimizer.advice.domain.stars.groupings import StarGrouping
from optimizer.advice.domain.states import AdviceState
from optimizer.advice.services.automatic import advice_apply_automatic
from optimizer.advice.services.decisions import advice_apply
from optimizer.advice.services.measuring import advice_watch
from optimizer.cubes.domain.states import CubeState
from optimizer.cubes.services.upkeep import cube_drop, cube_pause, drop_ingest
from optimizer.iceberg.tables.services.groupings import GroupedQuery, grouping_report
from optimizer.models import Advice, Cube, CubeUse, CubeVersion, IcebergTable
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.audit.models import AuditEvent
from portal.lake.errors import NotVisible, StaleState
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
from tests.component.optimizer.optimizer_rows import iceberg

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
__all__ = ["table"]
KEY = "fact.id=shop.dim.id"
BY_NAME = StarGrouping(
    "shop.clicks",
    frozenset({"note", f"shop.dim.name via {KEY}"}),
    frozenset({Aggregate("avg", "id"), Aggregate("count", "*")}),
    frozenset({KEY}),
)
BY_NOTE = StarGrouping("shop.clicks", frozenset({"note"}), frozenset({Aggregate("count", "*")}))
SHAPE = "SELECT COUNT(*) FROM clicks WHERE note = ?"


@pytest.fixture(autouse=True)
def dim(people: People) -> IcebergTable:
    row = iceberg("dim", now=timezone.now(), owner=people.owner.username)
    row.columns = {"id": "long", "name": "string"}
    row.save()
    return row


def grouped(
    table: IcebergTable, one: StarGrouping = BY_NAME, *, n: int = 10, days: int = 3, mib: int = 40
) -> None:
    """So many queries on each of some days, of 40 MiB each."""
    for day in range(days):
        at = timezone.now() - timedelta(days=day)
        for _ in range(n):
            told = GroupedQuery(mib * MIB, 2.0, SHAPE, ("shop.clicks",))
            grouping_report(table, one, told, now=at)


def estimates(run: Run, **changed: Any) -> list[dict[str, Any]]:
    """What the job finds of each candidate."""
    (order,) = run.params["tables"]
    figures = {
        **{"n_rows": 1_000_000, "n_bytes": 640 * MIB, "cube_rows": 4_000.0, "problem": ""},
        **{"cube_bytes": 6.4 * MIB, "build_seconds": 12.0, "n_files": 100, "n_sampled": 16},
        **changed,
    }
    found = []
    for one in order["cubes"]:
        definition = {**one["definition"], "columns": {"fact.note": 2}}
        for part, kind in (("dimensions", "string"), ("measures", "bigint")):
            definition[part] = [{**each, "type": kind} for each in definition[part]]
        found.append({**figures, "definition": definition})
    return found


def found(people: People, table: IcebergTable, **changed: Any) -> str:
    run = asked(people, table)
    said = looked(run, table, options=[], cubes=estimates(run, **changed))
    return str(said["result"]["tables"][0]["said"])


@pytest.fixture
def advice(people: People, table: IcebergTable) -> Advice:
    """Advice on a cube for 30 queries on three days, which are all that scans the table."""
    for day in range(3):
        scan(table, n=10, days=day)
    grouped(table)
    found(people, table)
    return Advice.objects.get(subject="cube")


def test_a_run_is_given_the_candidates_and_its_findings_become_advice(
    people: People, table: IcebergTable
) -> None:
    for day in range(3):
        scan(table, n=20, days=day)
    grouped(table)
    grouped(table, BY_NOTE, mib=10)
    grouped(table, StarGrouping("shop.clicks", refused="no cube holds a state of stddev"), n=1)
    run = asked(people, table)
    (order,) = run.params["tables"]
    (cube,) = order["cubes"][:1]
    assert cube["definition"]["joins"] == [
        {"alias": "dim", "table": "shop.dim", "on": [["fact.id", "id"]]}
    ]
    assert (cube["n_queries"], cube["n_days"]) == (60, 3)
    assert cube["n_bytes"] == 30 * 50 * MIB
    assert [one["n_queries"] for one in cube["asked"]] == [30, 30]
    names = [one["name"] for one in cube["definition"]["dimensions"]]
    assert all(set(one["dimensions"]) <= set(names) for one in cube["asked"])
    assert {len(one["dimensions"]) for one in cube["asked"]} == {1, 2}
    assert order["grouped"]["n_bytes"] == 60 * 40 * MIB
    assert order["grouped"]["refused"][0]["reason"] == "no cube holds a state of stddev"
    said = looked(run, table, options=[], cubes=estimates(run))["result"]["tables"][0]["said"]
    assert "The cube by_note_name is advised. It would answer 60 recorded queries" in said
    row = Advice.objects.get(subject="cube")
    assert row.proposed == "by_note_name: note, name; number of rows, count and sum of id"
    assert row.expected == pytest.approx(1 - 1500 / 2400 * 0.99)
    assert (row.n_scans, row.n_days, row.evidence["confidence"]) == (60, 3, "low")
    owner = client_of(people.owner)
    page = owner.get(f"/optimizer/advice/{row.pk}/").content.decode()
    for words in (
        "Cube by_note_name",
        "Define the cube",
        "<code>dim.name</code>",
        "<code>shop.dim</code>",
        f"shop.dim.name via {KEY}",
        "avg(id)",
        "SELECT COUNT(*) FROM clicks WHERE note = ?",
        "No cube answers 3 queries: no cube holds a state of stddev.",
        "Cubes that were tried",
        "6.4 MiB",
    ):
        assert words in page, words
    assert "Its star-tree has" not in page
    treed = estimates(run, star_rows=4_400.0, star_read=0.12)
    looked(run, table, options=[], cubes=treed)
    page = owner.get(f"/optimizer/advice/{row.pk}/").content.decode()
    assert "Its star-tree has 4,400 rows" in page
    assert "read 12 % of the cube" in page
    assert "Cube <code>by_note_name</code>" in owner.get(TAB).content.decode()
    assert "by_note_name" in owner.get("/optimizer/advice/?lake=main").content.decode()
    detail = owner.get(f"/api/v1/optimizer/advice/{row.pk}/").json()
    assert detail["evidence"]["definition"]["name"] == "by_note_name"
    again = looked(run, table, options=[], cubes=estimates(run))
    assert "is advised" in again["result"]["tables"][0]["said"]
    assert Advice.objects.filter(subject="cube").count() == 1


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"problem": "shop.dim has a key several times."}, "shop.dim has a key several times."),
        ({"cube_bytes": 600 * MIB}, "it would save 6.2 % of what is read of the table"),
    ],
)
def test_what_does_not_pay_is_not_advised_and_outdates_what_was(
    people: People, table: IcebergTable, advice: Advice, changed: dict[str, Any], reason: str
) -> None:
    assert reason in found(people, table, **changed)
    advice.refresh_from_db()
    assert advice.state == AdviceState.OUTDATED


def test_without_groupings_nothing_is_said_of_cubes(people: People, table: IcebergTable) -> None:
    scan(table, n=30, days=1)
    assert "cube" not in found(people, table)


def test_applied_the_cube_is_defined_and_asked_for_no_more(
    people: People, table: IcebergTable, advice: Advice
) -> None:
    owner, address = client_of(people.owner), f"/optimizer/advice/{advice.pk}/"
    assert owner.post(f"{address}apply/", {"reason": "dashboards"}).status_code == 302
    cube = Cube.objects.get()
    version = CubeVersion.objects.get(cube=cube)
    assert (cube.name, cube.state, version.by) == ("by_note_name", "ACTIVE", people.owner.username)
    assert version.reason == "Advice: dashboards"
    assert version.definition["joins"][0]["table"] == "shop.dim"
    assert AuditEvent.objects.filter(action="optimizer.cube_defined").count() == 1
    assert AuditEvent.objects.filter(action="optimizer.advice_applied").count() == 1
    table.refresh_from_db()
    assert table.decide_again_at is not None
    assert "until the optimizer has built it" in owner.get(address).content.decode()
    # It holds what is asked, so the next run has nothing to estimate.
    (order,) = asked(people, table).params["tables"]
    assert order["cubes"] == []
    assert order["grouped"]["held"]["n_queries"] == 30
    assert "hold what 30 recorded queries group by." in found(people, table)
    assert owner.post(f"{address}roll-back/", {"reason": "no room"}).status_code == 302
    cube.refresh_from_db()
    assert (cube.state, cube.state_reason) == (CubeState.PAUSED, "Advice: no room")
    (order,) = asked(people, table).params["tables"]
    assert order["cubes"] == [], "a paused cube holds it too"


def built(advice: Advice) -> Cube:
    cube = Cube.objects.get()
    Cube.objects.update(built_at=timezone.now(), built_version=1)
    advice_watch("main", now=timezone.now())
    advice.refresh_from_db()
    assert advice.measured_from is not None
    return cube


def used(cube: Cube, n: int) -> None:
    now = timezone.now()
    given = {"n_bytes": n * 40 * MIB, "n_cube_bytes": n * MIB, "last_used_at": now}
    CubeUse.objects.create(cube=cube, day=now.date(), engine="spark", n_queries=n, **given)


def test_a_cube_that_answers_nothing_is_paused_by_itself(
    people: People, table: IcebergTable, advice: Advice
) -> None:
    advice_apply(advice, user=people.owner, reason="dashboards", now=timezone.now())
    advice_watch("main", now=timezone.now())
    advice.refresh_from_db()
    assert advice.measured_from is None
    cube = built(advice)
    grouped(table, n=19, days=1)
    advice_watch("main", now=timezone.now())
    advice.refresh_from_db()
    assert (advice.state, advice.n_after) == (AdviceState.APPLIED, 19)
    grouped(table, n=1, days=1)
    used(cube, 1)
    advice_watch("main", now=timezone.now())
    advice.refresh_from_db()
    cube.refresh_from_db()
    assert (advice.state, cube.state) == (AdviceState.ROLLED_BACK, CubeState.PAUSED)
    reason = "of 21 queries since the first build the cube answered 1; a tenth is asked."
    assert advice.reason == f"By itself: {reason}"


def test_a_cube_that_answers_stays_and_another_may_be_advised(
    people: People, table: IcebergTable, advice: Advice
) -> None:
    advice_apply(advice, user=people.owner, reason="dashboards", now=timezone.now())
    cube = built(advice)
    used(cube, 30)
    scan(table, n=10)
    for _ in range(2):
        advice_watch("main", now=timezone.now())
    advice.refresh_from_db()
    assert (advice.state, advice.is_open, advice.n_after) == (AdviceState.APPLIED, None, 30)
    assert advice.measured == pytest.approx((400 + 30) / (400 + 1200))
    page = client_of(people.owner).get(f"/optimizer/advice/{advice.pk}/").content.decode()
    assert "it answered 30 of 30 queries since its first build" in page
    other = StarGrouping("shop.clicks", frozenset({"blob"}), frozenset({Aggregate("max", "id")}))
    grouped(table, other, mib=400)
    assert "The cube by_blob is advised." in found(people, table)
    assert Advice.objects.filter(subject="cube", is_open=True).count() == 1


def test_who_does_not_see_a_joined_table_neither_sees_nor_applies_it(
    people: People, advice: Advice, dim: IcebergTable
) -> None:
    IcebergTable.objects.filter(pk=dim.pk).update(owner="somebody else")
    owner = client_of(people.owner)
    page = owner.get(f"/optimizer/advice/{advice.pk}/").content.decode()
    assert "joins tables that you may not see" in page
    assert "shop.dim" not in page
    assert "shop.dim" not in owner.get(f"/api/v1/optimizer/advice/{advice.pk}/").content.decode()
    with pytest.raises(NotVisible) as refused:
        advice_apply(advice, user=people.owner, reason="why", now=timezone.now())
    assert refused.value.code == "cube.join"
    advice.refresh_from_db()
    assert (advice.state, Cube.objects.count()) == (AdviceState.NEW, 0)
    assert client_of(people.stranger).get(f"/optimizer/advice/{advice.pk}/").status_code == 404


def test_a_name_that_was_taken_meanwhile_leaves_the_advice_new(
    people: People, table: IcebergTable, advice: Advice
) -> None:
    Cube.objects.create(table=table, name="by_note_name", created_by="x", created_at=timezone.now())
    other = {**advice.evidence["definition"], "measures": []}
    CubeVersion.objects.create(
        cube=Cube.objects.get(), version=1, definition=other, by="x", at=timezone.now(), reason="x"
    )
    with pytest.raises(StaleState) as refused:
        advice_apply(advice, user=people.owner, reason="why", now=timezone.now())
    assert refused.value.code == "cube.name"
    advice.refresh_from_db()
    assert advice.state == AdviceState.NEW


def test_it_is_applied_by_itself_from_medium_confidence_on(
    people: People, table: IcebergTable, advice: Advice
) -> None:
    auto = PolicyChange("main", "*", {"advice": "auto", "is_on": True}, 0, "as we like it")
    policy_set(auto, user=people.admin, now=timezone.now())
    advice_apply_automatic("main", now=timezone.now())
    assert not Cube.objects.exists(), "30 queries are few"
    grouped(table, n=30)
    found(people, table)
    advice_apply_automatic("main", now=timezone.now())
    assert Cube.objects.get().created_by == people.admin.username


@pytest.mark.parametrize("is_measured", [True, False])
@pytest.mark.parametrize("stop", [cube_pause, cube_drop])
def test_who_stops_the_cube_has_decided_on_its_advice(
    people: People, advice: Advice, stop: Any, is_measured: bool
) -> None:
    advice_apply(advice, user=people.owner, reason="dashboards", now=timezone.now())
    cube = built(advice) if is_measured else Cube.objects.get()
    at = timezone.now()
    stop(cube, user=people.admin, reason="Disks are full.", now=at)
    advice_watch("main", now=at + timedelta(minutes=1))
    advice.refresh_from_db()
    assert (advice.state, advice.is_open) == (AdviceState.ROLLED_BACK, None)
    assert (advice.decided_by, advice.decided_at) == (people.admin.username, at)
    cube.refresh_from_db()
    assert advice.reason == f"The cube is {cube.state.lower()}: Disks are full."
    assert AuditEvent.objects.filter(action="optimizer.advice_rolled_back").count() == 1
    page = client_of(people.owner).get(f"/optimizer/advice/{advice.pk}/").content.decode()
    assert "roll-back" not in page
    n_after = advice.n_after
    advice_watch("main", now=at + timedelta(minutes=2))
    advice.refresh_from_db()
    assert (advice.n_after, advice.decided_at) == (n_after, at)
    assert AuditEvent.objects.filter(action="optimizer.advice_rolled_back").count() == 1


def test_an_advice_whose_cube_is_dropped_for_good_is_closed(people: People, advice: Advice) -> None:
    advice_apply(advice, user=people.owner, reason="dashboards", now=timezone.now())
    run = cube_drop(Cube.objects.get(), user=people.owner, reason="Off.", now=timezone.now())
    drop_ingest(run, {"outcome": "done"}, now=timezone.now())
    advice_watch("main", now=timezone.now())
    advice.refresh_from_db()
    assert (advice.state, advice.decided_by) == (AdviceState.ROLLED_BACK, people.owner.username)
