"""Trials of advised layouts: asked, refused, taken in, shown, cleaned up, and before `auto`."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.advice.domain.states import AdviceState, TrialState
from optimizer.advice.domain.subjects import Subject
from optimizer.advice.services.automatic import AFTER_A_FAILURE, advice_apply_automatic
from optimizer.advice.services.trials import (
    AGAIN_AFTER,
    KIND,
    cleanup_due,
    cleanup_ingest,
    trial_ingest,
    trial_request,
    trial_wait,
    trials_reclaim,
)
from optimizer.models import Advice, IcebergTable, Trial
from optimizer.policies.selectors.policies import policies_of, policy_current
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.access.models import User
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.requests.services import run_cancel
from portal.safety.services import emergency_stop_start
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.portal.ui.table_rows import listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
MIB = 1024**2
FILTERS = [["id", "="]]
WITH_NULL = [*FILTERS, ["id", "null"]]
"""As Spark asks for a value."""
PARTITION = {
    **{"partition": "dt=1", "reason": "largest", "share": 1.0, "n_rows": 900, "seconds": 1.5},
    **{"n_files": 9, "n_bytes": 90 * MIB, "n_files_after": 3, "n_bytes_after": 80 * MIB},
    **{"planned": 900, "planned_after": 100},
}
VERDICT = {
    **{"decision": "KEEP", "saved": 0.7, "low": 0.6, "high": 0.8, "n_queries": 24, "n_worse": 1},
    "reason": "The same 24 queries read 70.0% fewer bytes.",
}


@pytest.fixture
def table(people: People) -> IcebergTable:
    listed("clicks", format="iceberg")
    return iceberg("clicks", now=timezone.now(), owner=people.owner.username)


@pytest.fixture
def advice(table: IcebergTable) -> Advice:
    return advised(table)


def advised(table: IcebergTable, **changed: Any) -> Advice:
    now = timezone.now()
    shape = {"digest": "d", "filters": FILTERS, "n_scans": 120, "n_files": 9, "n_bytes": 900}
    evidence = {"reason": "It pays.", "runner_up": "", "confidence": "medium", "shapes": [shape]}
    fields = {
        **{"proposed": "sort(id)", "expected": 0.3, "bytes_a_day": 900, "rewrite_bytes": 90},
        **{"n_scans": 120, "n_days": 2, "evidence": evidence, "made_at": now},
    }
    return Advice.objects.create(table=table, confirmed_at=now, **{**fields, **changed})


def client_of(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def tried(row: Advice, people: People) -> Trial:
    return trial_request(row, user=people.owner, reason="let us see", now=timezone.now())


def result_of(trial: Trial, **changed: Any) -> dict[str, Any]:
    return {
        **{"trial": trial.pk, "branch": trial.branch, "base": 5, "seconds": 12.0},
        **{"n_partitions": 7, "n_bytes": 700 * MIB, "most_bytes": 1 << 30},
        **{"bytes_written": 80 * MIB, "partitions": [PARTITION], "verdict": VERDICT},
        "shapes": [
            {"filters": WITH_NULL, "n_scans": 120, "n_queries": 24, "before": 900, "after": 270}
        ],
        **{"is_cleaned": True, "cleanup": "3 data files were removed."},
        **changed,
    }


def run_of(trial: Trial) -> Run:
    assert trial.run is not None
    return Run.objects.get(pk=trial.run)


def ended(trial: Trial, *, outcome: str = "done", **changed: Any) -> Trial:
    """Let the run of a trial end, and take in what it says."""
    manifest = {"outcome": outcome, "error": None, "result": result_of(trial, **changed)}
    trial_ingest(run_of(trial), manifest, now=timezone.now())
    trial.refresh_from_db()
    return trial


def decision(name: str, **changed: Any) -> dict[str, Any]:
    return {"verdict": {**VERDICT, "decision": name, **changed}}


def test_a_trial_is_asked_for_runs_and_is_shown(people: People, advice: Advice) -> None:
    owner, address = client_of(people.owner), f"/optimizer/advice/{advice.pk}/"
    assert "Try on a branch" in owner.get(address).content.decode()
    assert owner.post(f"{address}try/", {"reason": " "}).status_code == 400
    answer = owner.post(f"{address}try/", {"reason": "let us see"})
    run = Run.objects.get(kind=KIND)
    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{run.pk}/")
    trial = Trial.objects.get()
    assert (trial.run, trial.state, trial.requested_by) == (run.pk, "RUNNING", "olga")
    assert trial.branch.startswith(f"lakewarden_trial_{advice.pk}_")
    order = run.params
    assert (order["layout"], order["table"]) == ("sort(id)", "clicks")
    assert order["shapes"] == [{"filters": FILTERS, "n_scans": 120}]
    page = owner.get(address).content.decode()
    assert "On trial" in page
    assert str(run.pk) in page
    assert "Try on a branch" not in page
    ended(trial)
    page = owner.get(address).content.decode()
    for words in (
        "Pays",
        "The same 24 queries read 70.0% fewer bytes.",
        "60 to 80 % with 95 % confidence",
        "dt=1",
        "largest",
        "Branch and files are gone again. 3 data files were removed.",
        "chart-trial-shapes",
        "chart-trial-saved",
        "Try on a branch",
    ):
        assert words in page, words
    assert "null" not in page.partition("Trial on a branch")[2].partition("Scans it stands on")[0]
    inbox = owner.get("/optimizer/advice/?lake=main").content.decode()
    assert "Pays" in inbox
    kept = owner.get("/optimizer/advice/?lake=main&trial=KEEP").content.decode()
    assert "sort(id)" in kept
    other = owner.get("/optimizer/advice/?lake=main&trial=UNSURE").content.decode()
    assert "sort(id)" not in other
    assert b"KEEP" in owner.get("/optimizer/advice/?lake=main&format=csv").getvalue()
    assert policy_current("main", "shop.clicks") is None  # a trial applies nothing


def test_the_api_asks_and_shows(people: People, advice: Advice) -> None:
    owner, address = client_of(people.owner), f"/api/v1/optimizer/advice/{advice.pk}/"
    body = json.dumps({"reason": "let us see"})
    answer = owner.post(f"{address}try/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["state"]) == (202, "RUNNING")
    ended(Trial.objects.get())
    whole = owner.get(address).json()
    assert whole["trial_state"] == "KEEP"
    (one,) = whole["trials"]
    assert (one["saved"], one["low"], one["high"]) == (0.7, 0.6, 0.8)
    assert one["evidence"]["partitions"][0]["partition"] == "dt=1"


def test_who_may_not_apply_may_not_try(people: People, advice: Advice) -> None:
    with pytest.raises((NotAllowed, NotVisible)):
        trial_request(advice, user=people.stranger, reason="mine", now=timezone.now())
    body = {"reason": "mine"}
    stranger = client_of(people.stranger)
    assert stranger.post(f"/optimizer/advice/{advice.pk}/try/", body).status_code == 404
    assert not Trial.objects.exists()
    assert not Run.objects.filter(kind=KIND).exists()


def test_two_at_once_and_what_is_decided_are_refused(people: People, advice: Advice) -> None:
    trial = tried(advice, people)
    with pytest.raises(StaleState) as refused:
        tried(advice, people)
    assert refused.value.code == "trial.running"
    ended(trial)
    tried(advice, people)
    Advice.objects.update(state=AdviceState.DISMISSED)
    with pytest.raises(StaleState) as late:
        tried(advice, people)
    assert late.value.code == "advice.decided"


def test_indexes_and_paused_tables_are_not_tried(
    people: People, table: IcebergTable, advice: Advice
) -> None:
    indexes = advised(table, subject=Subject.INDEXES, proposed="id")
    with pytest.raises(RuleViolation) as refused:
        tried(indexes, people)
    assert refused.value.code == "trial.subject"
    page = client_of(people.owner).get(f"/optimizer/advice/{indexes.pk}/").content.decode()
    assert "Try on a branch" not in page
    trial = tried(advice, people)
    run = run_of(trial)
    assert trial_wait(run) == ""
    IcebergTable.objects.update(is_paused=True, paused_reason="audit")
    assert "shop.clicks is paused" in trial_wait(run)
    ended(trial)
    advice.refresh_from_db()
    with pytest.raises(RuleViolation) as paused:
        tried(Advice.objects.get(pk=advice.pk), people)
    assert paused.value.code == "trial.paused"


def test_a_trial_waits_for_the_end_of_the_emergency_stop(people: People, advice: Advice) -> None:
    trial = tried(advice, people)
    emergency_stop_start(lake="main", pressed_by="otto", reason="stop", now=timezone.now())
    assert "otto started the emergency stop" in trial_wait(run_of(trial))


def test_a_trial_that_failed_says_why_and_is_cleaned_up(people: People, advice: Advice) -> None:
    trial = tried(advice, people)
    run = run_of(trial)
    manifest: dict[str, Any] = {"outcome": "died", "error": None, "result": {}}
    for _ in range(2):
        trial_ingest(run, manifest, now=timezone.now())
    trial.refresh_from_db()
    assert (trial.state, trial.is_open, trial.cleaned_at) == (TrialState.FAILED, None, None)
    advice.refresh_from_db()
    assert (advice.state, advice.trial_state) == (AdviceState.NEW, "FAILED")
    page = client_of(people.owner).get(f"/optimizer/advice/{advice.pk}/").content.decode()
    assert "Its run ended before it came to a result." in page
    assert "may still be there" in page
    now = timezone.now()
    due = cleanup_due("main", now=now)
    assert due is not None
    assert due["trials"] == [
        {
            **{"id": trial.pk, "db": "shop", "table": "clicks", "uuid": advice.table.uuid},
            **{"branch": trial.branch, "run": str(trial.run)},
        }
    ]
    clean = Run(lake="main", params=due)
    problem = {"id": trial.pk, "code": "metastore.unreachable", "problem": "It is down."}
    cleanup_ingest(clean, {"result": {"trials": [problem]}}, now=now)
    trial.refresh_from_db()
    assert (trial.cleaned_at, trial.cleanup) == (None, "It is down.")
    assert cleanup_due("main", now=now) is None
    later = now + AGAIN_AFTER + timedelta(minutes=1)
    assert cleanup_due("main", now=later) == due
    cleanup_ingest(clean, {"result": {}}, now=later)
    cleanup_ingest(clean, {"result": {"trials": [{"id": trial.pk, "said": "2 gone."}]}}, now=later)
    trial.refresh_from_db()
    assert (trial.cleaned_at, trial.cleanup) == (later, "2 gone.")
    assert cleanup_due("main", now=later + AGAIN_AFTER * 2) is None


def test_nothing_is_cleaned_where_the_table_is_gone(people: People, advice: Advice) -> None:
    trial = ended(tried(advice, people), outcome="failed", is_cleaned=False, verdict=None)
    IcebergTable.objects.update(is_deleted=True)
    assert cleanup_due("main", now=timezone.now()) is None
    trial.refresh_from_db()
    assert trial.cleaned_at is not None


def test_one_that_is_cancelled_in_the_queue_ends(people: People, advice: Advice) -> None:
    trial = tried(advice, people)
    trials_reclaim("main", now=timezone.now())
    trial.refresh_from_db()
    assert trial.state == TrialState.RUNNING
    assert trial.run is not None
    run_cancel(trial.run, user=people.owner, now=timezone.now())
    assert run_of(trial).state == RunState.CANCELLED
    trials_reclaim("main", now=timezone.now())
    trial.refresh_from_db()
    assert (trial.state, trial.is_open) == (TrialState.FAILED, None)
    assert trial.cleaned_at is not None
    assert cleanup_due("main", now=timezone.now()) is None
    tried(Advice.objects.get(pk=advice.pk), people)


def auto(people: People) -> None:
    wanted = PolicyChange("main", "*", {"advice": "auto", "is_on": True}, 0, "as we like it")
    policy_set(wanted, user=people.admin, now=timezone.now())


def test_auto_tries_a_layout_first_and_applies_what_pays(people: People, advice: Advice) -> None:
    auto(people)
    for _ in range(2):
        advice_apply_automatic("main", now=timezone.now())
    trial = Trial.objects.get()
    assert trial.requested_by == people.admin.username
    advice.refresh_from_db()
    assert advice.state == AdviceState.NEW
    ended(trial)
    advice_apply_automatic("main", now=timezone.now())
    advice.refresh_from_db()
    assert (advice.state, advice.decided_by) == (AdviceState.APPLIED, people.admin.username)
    assert advice.reason == (
        "By itself: the policy of * says auto, the confidence is medium, and the trial showed: "
        "The same 24 queries read 70.0% fewer bytes."
    )
    assert str(policies_of("main").of("shop", "clicks").policy.layout) == "sort(id)"


def test_auto_dismisses_what_does_not_pay_and_leaves_to_people_what_is_unsure(
    people: People, table: IcebergTable, advice: Advice
) -> None:
    auto(people)
    advice_apply_automatic("main", now=timezone.now())
    ended(Trial.objects.get(), **decision("ROLL_BACK", saved=0.02))
    advice_apply_automatic("main", now=timezone.now())
    advice.refresh_from_db()
    assert advice.state == AdviceState.DISMISSED
    assert advice.reason.startswith("By itself: the policy of * says auto, and the trial showed")
    assert policy_current("main", "shop.clicks") is None
    unsure = advised(table, proposed="sort(word)")
    advice_apply_automatic("main", now=timezone.now())
    ended(unsure.trials.get(), **decision("UNSURE", low=None))
    for _ in range(2):
        advice_apply_automatic("main", now=timezone.now())
    unsure.refresh_from_db()
    assert (unsure.state, unsure.trials.count()) == (AdviceState.NEW, 1)
    page = client_of(people.owner).get(f"/optimizer/advice/{unsure.pk}/").content.decode()
    assert "too few queries for an interval" in page


def test_auto_tries_again_a_day_after_a_failure(people: People, advice: Advice) -> None:
    auto(people)
    advice_apply_automatic("main", now=timezone.now())
    ended(Trial.objects.get(), outcome="failed", verdict=None)
    advice_apply_automatic("main", now=timezone.now())
    assert Trial.objects.count() == 1
    later = timezone.now() + AFTER_A_FAILURE + timedelta(minutes=1)
    advice_apply_automatic("main", now=later)
    assert Trial.objects.count() == 2
