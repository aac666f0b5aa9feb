"""Advice from recorded scans: asked, found, applied, measured, rolled back, dismissed."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.scan_reports import Scanned
from optimizer.advice.domain.states import AdviceState
from optimizer.advice.selectors import recorded_shapes
from optimizer.advice.services.automatic import advice_apply_automatic
from optimizer.advice.services.decisions import advice_apply, advice_roll_back
from optimizer.advice.services.findings import findings_ingest
from optimizer.advice.services.measuring import advice_watch
from optimizer.advice.services.requests import AFTER_NO, AGAIN_AFTER, KIND, tables_due
from optimizer.iceberg.tables.services.scans import MOST_SHAPES, scan_report
from optimizer.models import Advice, IcebergTable, OptimizeTask, ScanShape
from optimizer.policies.selectors.policies import policies_of, policy_current
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.access.models import User
from portal.lake.errors import NotAllowed, NotVisible, StaleState
from portal.runs.models import Run
from portal.safety.services import emergency_stop_start
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.portal.ui.table_rows import listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
TAB = "/tables/shop/clicks/advice/?lake=main"
MIB = 1024**2
BY_ID = (Filter("id", FilterKind.EQUAL),)
BY_NOTE = (Filter("note", FilterKind.EQUAL), Filter("id", FilterKind.RANGE))
FOUND = {
    "partition": "",
    "n_files_now": 40,
    "n_files": 40,
    "n_rows": 9_000,
    "n_files_tried": 40,
    "rewrite_bytes": 40 * MIB,
    "left_out": [{"column": "blob", "reason": "It has no order."}],
    "now": 1.0,
    "options": [
        {"layout": "hilbert(id,note)", "share": 0.25},
        {"layout": "sort(id)", "share": 0.5},
    ],
    "indexes": [],
}


def client_of(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


@pytest.fixture
def table(people: People) -> IcebergTable:
    listed("clicks", format="iceberg")
    row = iceberg("clicks", now=timezone.now(), owner=people.owner.username)
    row.columns = {"id": "long", "note": "string", "blob": "binary"}
    row.save()
    return row


def scan(
    table: IcebergTable,
    filters: tuple[Filter, ...] = BY_ID,
    *,
    n: int = 1,
    files: int = 40,
    days: int = 0,
) -> None:
    at = timezone.now() - timedelta(days=days)
    for _ in range(n):
        scan_report(table, Scanned(filters, files, 0, files * MIB, "spark"), now=at)


def asked(people: People, table: IcebergTable) -> Run:
    answer = client_of(people.owner).post(f"/optimizer/tables/{table.pk}/advice/")
    assert answer.status_code == 302, answer.content
    return Run.objects.filter(kind=KIND).latest("queued_at")


def looked(run: Run, table: IcebergTable, **other: Any) -> dict[str, Any]:
    manifest = {"result": {"tables": [{"id": table.pk, **FOUND, **other}]}}
    findings_ingest(run, manifest, now=timezone.now())
    return manifest


@pytest.fixture
def advice(people: People, table: IcebergTable) -> Advice:
    """Advice on 24 scans by id and 6 by note and id."""
    scan(table, n=24, days=1)
    scan(table, BY_NOTE, n=6)
    looked(asked(people, table), table)
    return Advice.objects.get()


def test_scans_are_kept_by_all_their_filters_together(table: IcebergTable) -> None:
    scan(table, n=3)
    scan(table, BY_NOTE, n=2, files=7)
    scan(table, BY_NOTE[::-1], files=7, days=2)
    scan(table, ())
    found = recorded_shapes(table, now=timezone.now())
    assert found.n_days == 2
    assert [(one["filters"], one["n_scans"], one["n_files"]) for one in found.shapes] == [
        ([["id", "="]], 3, 120),
        ([], 1, 40),
        ([["id", "range"], ["note", "="]], 3, 21),
    ]


def test_made_up_filters_do_not_fill_the_database(table: IcebergTable) -> None:
    table.columns = {}
    table.save()
    for number in range(MOST_SHAPES + 3):
        scan(table, (Filter(f"made_up_{number}", FilterKind.EQUAL),))
    assert ScanShape.objects.count() == MOST_SHAPES
    scan(table, (Filter("made_up_0", FilterKind.EQUAL),))
    assert ScanShape.objects.get(filters=[["made_up_0", "="]]).n_scans == 2


def test_advice_is_asked_found_and_shown(people: People, table: IcebergTable) -> None:
    owner = client_of(people.owner)
    assert "Not looked at yet" in owner.get(TAB).content.decode()
    refused = owner.post(f"/optimizer/tables/{table.pk}/advice/")
    assert b"No engine reported a scan of shop.clicks" in refused.content
    scan(table, n=24, days=1)
    scan(table, BY_NOTE, n=6)
    run = asked(people, table)
    (order,) = run.params["tables"]
    assert (order["n_scans"], order["n_days"], order["n_bytes"]) == (30, 2, 1200 * MIB)
    manifest = looked(run, table)
    said = manifest["result"]["tables"][0]["said"]
    assert said.startswith("hilbert(id,note) is advised. Queries like the recorded ones open 100 %")
    row = Advice.objects.get()
    assert (row.state, row.proposed, row.expected) == (AdviceState.NEW, "hilbert(id,note)", 0.25)
    assert row.bytes_a_day == 600 * MIB
    tab = owner.get(TAB).content.decode()
    assert "hilbert(id,note)" in tab
    assert "25 %</span>" in tab
    page = owner.get(f"/optimizer/advice/{row.pk}/").content.decode()
    for words in (
        "450 MiB",
        "sort(id) would open 50 %",
        "confidence: low",
        "<code>blob</code> was not tried: It has no order.",
        "The optimizer is switched off",
        "Apply the layout",
        "as rows lie now",
    ):
        assert words in page, words
    inbox = owner.get("/optimizer/advice/?lake=main").content.decode()
    assert "hilbert(id,note)" in inbox
    listed_rows = owner.get("/api/v1/optimizer/advice/?lake=main").json()["results"]
    assert [one["proposed"] for one in listed_rows] == ["hilbert(id,note)"]
    whole = owner.get(f"/api/v1/optimizer/advice/{row.pk}/").json()
    assert whole["evidence"]["runner_up"].startswith("sort(id)")
    assert whole["measured"] is None
    csv = owner.get("/optimizer/advice/?lake=main&format=csv").getvalue()
    assert b"hilbert(id,note)" in csv


def test_the_same_again_confirms_and_another_takes_its_place(
    people: People, table: IcebergTable, advice: Advice
) -> None:
    run = asked(people, table)
    looked(run, table)
    again = Advice.objects.get()
    assert again.confirmed_at > advice.confirmed_at
    looked(run, table, options=[{"layout": "sort(note)", "share": 0.1}])
    assert [(one.proposed, one.state) for one in Advice.objects.order_by("pk")] == [
        ("hilbert(id,note)", AdviceState.OUTDATED),
        ("sort(note)", AdviceState.NEW),
    ]
    looked(run, table, problem="The table is empty.")
    table.refresh_from_db()
    assert table.advice_note == "The table is empty."
    looked(run, table, now=0.25)
    assert Advice.objects.filter(is_open=True).count() == 0
    assert "No advice on this table" not in client_of(people.owner).get(TAB).content.decode()


def test_applied_it_stands_in_the_policy_is_measured_and_rolled_back(
    people: People, table: IcebergTable, advice: Advice
) -> None:
    owner, now = client_of(people.owner), timezone.now()
    address = f"/optimizer/advice/{advice.pk}/"
    assert owner.post(f"{address}apply/", {"reason": " "}).status_code == 400
    assert owner.post(f"{address}apply/", {"reason": "readers wait"}).status_code == 302
    policy = policies_of("main").of("shop", "clicks").policy
    assert str(policy.layout) == "hilbert(id,note)"
    # Nobody writes the table, so it would not be looked at by its new layout.
    table.refresh_from_db()
    assert table.inspect_due_at is not None
    # Of two people the second is told.
    second = owner.post(f"{address}dismiss/", {"reason": "no"})
    assert b"decided already by olga" in second.content
    assert "until the optimizer has rewritten files" in owner.get(address).content.decode()
    advice_watch("main", now=now)
    advice.refresh_from_db()
    assert advice.measured_from is None
    scan(table, n=5)
    OptimizeTask.objects.create(
        table=table, kind="CLUSTER", state="DONE", ended_at=timezone.now(), created_at=now
    )
    advice_watch("main", now=timezone.now())
    assert "no such scan was reported since" in owner.get(address).content.decode()
    scan(table, n=10, files=9)
    advice_watch("main", now=timezone.now())
    advice.refresh_from_db()
    assert (advice.n_before, advice.n_after) == (30, 10)
    assert advice.measured == pytest.approx(9 / 40)
    assert "10 scans" in owner.get("/optimizer/advice/?lake=main").content.decode()
    page = owner.get(address).content.decode()
    assert "10 scans since, 30 before" in page
    assert "as rows lay then" in page
    assert owner.post(f"{address}roll-back/", {"reason": "loads are slow"}).status_code == 302
    stands = policy_current("main", "shop.clicks")
    assert stands is None or "layout" not in stands.values
    assert "Rolled back" in owner.get(address).content.decode()


@pytest.mark.parametrize(("files", "state"), [(39, "ROLLED_BACK"), (12, "APPLIED")])
def test_what_does_not_pay_is_taken_back_by_itself(
    people: People, table: IcebergTable, advice: Advice, files: int, state: str
) -> None:
    advice_apply(advice, user=people.owner, reason="readers wait", now=timezone.now())
    OptimizeTask.objects.create(
        table=table,
        kind="CLUSTER",
        state="DONE",
        ended_at=timezone.now(),
        created_at=timezone.now(),
    )
    advice_watch("main", now=timezone.now())
    scan(table, n=19, files=files)
    advice_watch("main", now=timezone.now())
    advice.refresh_from_db()
    assert advice.state == AdviceState.APPLIED
    scan(table, files=files)
    for _ in range(2):
        advice_watch("main", now=timezone.now())
    advice.refresh_from_db()
    assert advice.state == state
    if state == "ROLLED_BACK":
        assert advice.reason.startswith("By itself: 20 scans since planned 98 % of what such scans")
        stands = policy_current("main", "shop.clicks")
        assert stands is None or "layout" not in stands.values


def test_a_layout_that_somebody_changed_meanwhile_is_left_alone(
    people: People, advice: Advice
) -> None:
    def change(layout: str, seen: int) -> None:
        wanted = PolicyChange("main", "shop.clicks", {"layout": layout}, seen, "mine")
        policy_set(wanted, user=people.owner, now=timezone.now())

    change("sort(note)", 0)
    with pytest.raises(StaleState) as refused:
        advice_apply(advice, user=people.owner, reason="why", now=timezone.now())
    assert refused.value.code == "advice.policy"
    advice.refresh_from_db()
    assert advice.state == AdviceState.NEW
    Advice.objects.update(before="sort(note)")
    advice_apply(advice, user=people.owner, reason="why", now=timezone.now())
    current = policy_current("main", "shop.clicks")
    assert current is not None
    change("sort(id)", current.version)
    with pytest.raises(StaleState):
        advice_roll_back(advice, user=people.owner, reason="why", now=timezone.now())


def test_a_table_that_has_its_name_now_is_not_laid_out_by_it(
    people: People, table: IcebergTable, advice: Advice
) -> None:
    IcebergTable.objects.filter(pk=table.pk).update(is_deleted=True)
    iceberg("clicks", now=timezone.now(), owner=people.owner.username)
    advice.refresh_from_db()
    with pytest.raises(StaleState) as refused:
        advice_apply(advice, user=people.owner, reason="why", now=timezone.now())
    assert refused.value.code == "optimizer.gone"
    assert policy_current("main", "shop.clicks") is None


def test_who_does_not_answer_for_the_table_decides_nothing(people: People, advice: Advice) -> None:
    stranger = client_of(people.stranger)
    assert stranger.get(f"/optimizer/advice/{advice.pk}/").status_code == 404
    assert stranger.get(TAB).status_code == 404
    with pytest.raises((NotAllowed, NotVisible)):
        advice_apply(advice, user=people.stranger, reason="mine", now=timezone.now())
    advice.refresh_from_db()
    assert advice.state == AdviceState.NEW


def test_the_busiest_tables_are_due_until_they_are_looked_at_or_refused(
    people: People, table: IcebergTable
) -> None:
    now = timezone.now()
    assert tables_due("main", now=now) is None
    scan(table, n=19)
    assert tables_due("main", now=now) is None
    scan(table)
    other = iceberg("busier", now=now, owner="olga")
    scan(other, n=20, files=500)
    due = tables_due("main", now=now)
    assert due is not None
    assert [one["table"] for one in due["tables"]] == ["busier", "clicks"]
    looked(Run(lake="main", params=due), table)
    assert [one["table"] for one in (tables_due("main", now=now) or {})["tables"]] == ["busier"]
    later = now + AGAIN_AFTER + timedelta(minutes=1)
    assert len((tables_due("main", now=later) or {})["tables"]) == 2
    row = Advice.objects.get()
    client = client_of(people.owner)
    body = json.dumps({"reason": "We drop it soon"})
    said = client.post(
        f"/api/v1/optimizer/advice/{row.pk}/dismiss/", body, content_type="application/json"
    )
    assert said.json()["state"] == "DISMISSED"
    assert [one["table"] for one in (tables_due("main", now=later) or {})["tables"]] == ["busier"]
    much_later = now + AFTER_NO + timedelta(minutes=1)
    scan(table, n=20, days=-28)
    assert "clicks" in [
        one["table"] for one in (tables_due("main", now=much_later) or {})["tables"]
    ]


def test_scans_that_an_index_answers_speak_for_no_layout(
    people: People, table: IcebergTable
) -> None:
    wanted = PolicyChange("main", "shop.clicks", {"index_columns": ["id:bloom"]}, 0, "look-ups")
    policy_set(wanted, user=people.owner, now=timezone.now())
    scan(table, n=24)
    scan(table, (Filter("note", FilterKind.PREFIX),), n=3)
    run = asked(people, table)
    (order,) = run.params["tables"]
    assert [one["filters"] for one in order["shapes"]] == [[["note", "prefix"]]]
    assert [one["filters"] for one in order["served"]] == [[["id", "="]]]
    assert order["n_scans"] == 3
    manifest = looked(run, table)
    said = manifest["result"]["tables"][0]["said"]
    assert said.startswith("3 scans were recorded; 20 are needed.")


def mode(people: People, how: str, *, by: User | None = None, **values: object) -> None:
    stands = policy_current("main", "*")
    wanted = PolicyChange(
        "main", "*", {"advice": how, **values}, stands.version if stands else 0, "as we like it"
    )
    policy_set(wanted, user=by or people.admin, now=timezone.now())


def test_advice_is_tried_by_itself_where_the_policy_says_so(
    people: People, table: IcebergTable
) -> None:
    scan(table, n=60, days=1)
    scan(table, BY_NOTE, n=60)
    looked(asked(people, table), table)
    mode(people, "propose", is_on=True)
    advice_apply_automatic("main", now=timezone.now())
    assert Advice.objects.get().state == AdviceState.NEW
    mode(people, "auto", is_on=False)
    advice_apply_automatic("main", now=timezone.now())
    assert Advice.objects.get().state == AdviceState.NEW
    mode(people, "auto", is_on=True)
    for _ in range(2):
        advice_apply_automatic("main", now=timezone.now())
    row = Advice.objects.get()
    # A layout is tried on a branch before it is applied: test_trials.py.
    assert (row.state, row.trial_state) == (AdviceState.NEW, "RUNNING")


def test_nothing_is_applied_by_itself_on_little_or_while_the_stop_is_on(
    people: People, advice: Advice, table: IcebergTable
) -> None:
    mode(people, "auto", is_on=True)
    advice_apply_automatic("main", now=timezone.now())
    advice.refresh_from_db()
    assert advice.state == AdviceState.NEW  # the confidence is low
    Advice.objects.update(evidence={**advice.evidence, "confidence": "high"})
    emergency_stop_start(lake="main", pressed_by="otto", reason="stop", now=timezone.now())
    advice_apply_automatic("main", now=timezone.now())
    advice.refresh_from_db()
    assert advice.state == AdviceState.NEW


def test_advice_that_is_switched_off_is_not_looked_for(people: People, table: IcebergTable) -> None:
    scan(table, n=30)
    mode(people, "off")
    assert tables_due("main", now=timezone.now()) is None
    mode(people, "propose")
    assert tables_due("main", now=timezone.now()) is not None
