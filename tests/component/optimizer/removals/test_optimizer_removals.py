"""Who lets old snapshots go: nobody alone, nobody who asked, and only exactly what was read."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.core.services.actions import task_cancel
from optimizer.core.services.dispatcher import waiting
from optimizer.core.services.results import reclaim, results_ingest
from optimizer.iceberg.planner.run_kinds import RemoveKind
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.iceberg.planner.services.planner import plan_of
from optimizer.models import IcebergTable, OptimizeTask, PolicyVersion, RemovalPlan
from optimizer.policies.selectors.policies import policies_of
from optimizer.removals.domain.states import RemovalState
from optimizer.removals.services.claims import lists_claim
from optimizer.removals.services.removals import removal_decide, removal_withdraw
from portal.access.models import User
from portal.approvals.domain import DecisionInput
from portal.approvals.models import Approval
from portal.approvals.services import approvals_lapse
from portal.audit.models import AuditEvent
from portal.lake.errors import PortalError
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.safety.services import emergency_stop_start
from tests.component.conftest import LAKE, People
from tests.component.optimizer.iceberg.planner.test_optimizer_queue import policy
from tests.component.optimizer.iceberg.removal_rows import DIGEST, proposal, proposed, result_of
from tests.component.optimizer.optimizer_rows import NOW, iceberg, task

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
PAGES, API = "/optimizer/removals/", "/api/v1/optimizer/removals/"
LATER = NOW + timedelta(days=2)


@pytest.fixture(autouse=True)
def cooling_off(settings: Any) -> None:
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 3600


def code(step: Callable[[], object]) -> str:
    with pytest.raises(PortalError) as error:
        step()
    return error.value.code


def decide(
    plan: RemovalPlan, user: User, decision: str = "APPROVE", digest: str = DIGEST
) -> RemovalPlan:
    answer = DecisionInput(decision, "so it is", digest)
    return removal_decide(plan.pk, user=user, answer=answer, authenticated_at=NOW, now=NOW)


def approved(row: IcebergTable, people: People, **values: Any) -> RemovalPlan:
    plan = proposed(row, now=NOW, **values)
    for one in (people.second, people.third):
        plan = decide(plan, one)
    assert plan.state == "APPROVED"
    return plan


def expiring(*, by: str = "ada", **values: Any) -> tuple[int, ...]:
    """A policy of the lake that lets snapshots go, written by somebody."""
    policy(kinds=["EXPIRE"], expire_days=7, **values)
    PolicyVersion.objects.update(by=by)
    return tuple(PolicyVersion.objects.filter(is_current=True).values_list("pk", flat=True))


def run_of(kind: str = "optimizer.remove") -> Run:
    return Run.objects.create(lake=LAKE, kind=kind, requested_by="schedule", queued_at=NOW)


def test_a_list_waits_for_two_who_neither_asked_nor_wrote_the_policy(people: People) -> None:
    row = iceberg()
    plan = proposed(row, now=NOW, requested_by="olga", versions=expiring(by="ada"))
    made = OptimizeTask.objects.get()
    assert (plan.state, plan.requesters, made.state) == ("PENDING", ["olga", "ada"], "TO_APPROVE")
    assert (made.run, made.is_open) == (None, True)
    assert code(lambda: decide(plan, people.admin)) == "approval.own"
    assert code(lambda: decide(plan, people.operator)) == "approval.role"
    assert code(lambda: decide(plan, people.owner)) == "approval.role"
    assert code(lambda: decide(plan, people.stranger)) == "removal.unknown"
    assert code(lambda: decide(plan, people.second, digest="e" * 64)) == "removal.stale"
    assert decide(plan, people.second).state == "PENDING"
    assert code(lambda: decide(plan, people.second)) == "approval.decided"
    assert decide(plan, people.third).state == "APPROVED"
    assert Approval.objects.get().state == "APPROVED"
    made.refresh_from_db()
    assert (made.state, "cooling-off" in made.waits_for) == (TaskState.TO_APPROVE, True)
    assert not waiting(ICEBERG, LAKE, now=NOW).exists()
    assert AuditEvent.objects.filter(action="removal.approved").count() == 1


def test_who_writes_the_policy_after_the_list_was_drawn_up_stands_behind_it_no_more(
    people: People,
) -> None:
    plan = proposed(iceberg(), now=NOW, versions=expiring(by="olga"))
    decide(plan, people.second)
    expiring(by=people.second.username, version=2)
    assert decide(plan, people.third).state == "PENDING", "the first yes counts no longer"
    expiring(by=people.admin.username, version=3)
    assert code(lambda: decide(plan, people.admin)) == "approval.own"
    plan = approved(iceberg("other"), people)
    expiring(by=people.third.username, version=4)
    assert lists_claim(ICEBERG, run_of(), now=LATER) == 0
    plan.refresh_from_db()
    assert plan.state == "FAILED"
    assert "is based on" in plan.outcome


def test_a_login_that_is_not_fresh_and_a_no_without_a_reason_do_not_count(people: People) -> None:
    plan = proposed(iceberg(), now=NOW)
    old = NOW - timedelta(minutes=16)

    def say(decision: str, reason: str, at: Any) -> object:
        answer, who = DecisionInput(decision, reason, DIGEST), people.admin
        return removal_decide(plan.pk, user=who, answer=answer, authenticated_at=at, now=NOW)

    assert code(lambda: say("APPROVE", "", old)) == "approval.fresh_login"
    assert code(lambda: say("REJECT", "  ", NOW)) == "removal.reject_reason"
    plan.refresh_from_db()
    assert plan.state == "PENDING"


def test_a_big_list_needs_three(people: People, settings: Any) -> None:
    settings.LAKEWARDEN_PLAN_BIG_BYTES = 1_000
    plan = proposed(iceberg(), now=NOW)
    assert plan.approval is not None
    assert plan.approval.n_needed == 3
    decide(plan, people.second)
    assert decide(plan, people.third).state == "PENDING"
    assert decide(plan, people.admin).state == "APPROVED"


@pytest.mark.parametrize("first", ["nobody", "one yes", "two yeses"])
def test_one_no_ends_it_until_it_begins_and_it_is_not_asked_again_for_a_week(
    people: People, first: str
) -> None:
    row = iceberg()
    expiring()
    plan = proposed(row, now=NOW)
    if first != "nobody":
        decide(plan, people.second)
    if first == "two yeses":
        decide(plan, people.third)
    assert decide(plan, people.admin, "REJECT").state == "REJECTED"
    made = OptimizeTask.objects.get()
    assert (made.state, made.outcome_code) == (TaskState.CANCELLED, "removal.rejected")
    assert "ada: so it is" in made.outcome
    assert code(lambda: decide(plan, people.second)) == "removal.closed"
    assert RemoveKind().scheduled_params(LAKE, now=LATER) is None

    def kinds(days: int) -> list[TaskKind]:
        found = policies_of(LAKE).of(row.db, row.table)
        planned = plan_of(row, found, speed=None, now=NOW + timedelta(days=days))
        return [one.kind for one in planned.tasks]

    assert kinds(6) == []
    assert kinds(8) == [TaskKind.EXPIRE]


def test_who_asked_takes_it_back_until_somebody_decided(people: People) -> None:
    plan = proposed(iceberg(), now=NOW, requested_by="olga")

    def back(user: User) -> RemovalPlan:
        return removal_withdraw(plan.pk, user=user, reason="never mind", now=NOW)

    assert code(lambda: back(people.second)) == "approval.withdraw"
    assert code(lambda: back(people.stranger)) == "removal.unknown"
    assert back(people.owner).state == "WITHDRAWN"
    assert OptimizeTask.objects.get().outcome_code == "removal.withdrawn"
    other = proposed(iceberg("other"), now=NOW, requested_by="olga")
    decide(other, people.second)
    with pytest.raises(PortalError):
        removal_withdraw(other.pk, user=people.owner, reason="too late", now=NOW)


def test_what_nobody_decides_on_lapses(people: People) -> None:
    plan = proposed(iceberg(), now=NOW)
    approvals_lapse(NOW + timedelta(hours=73))
    plan.refresh_from_db()
    assert (plan.state, OptimizeTask.objects.get().state) == ("LAPSED", "CANCELLED")


def test_what_is_approved_goes_once_after_the_cooling_off_with_exactly_its_digest(
    people: People,
) -> None:
    row = iceberg()
    plan = approved(row, people, versions=expiring(by="olga"))
    kind = RemoveKind()
    assert (kind.destroys, kind.queue) == (True, "destructive")
    assert kind.scheduled_params(LAKE, now=NOW) is None
    assert kind.scheduled_params(LAKE, now=LATER) == {}
    run, other = run_of(), run_of()
    assert lists_claim(ICEBERG, run, now=NOW) == 0
    assert lists_claim(ICEBERG, run, now=LATER) == 1
    assert lists_claim(ICEBERG, run, now=LATER) == 1
    assert lists_claim(ICEBERG, other, now=LATER) == 0
    (order,) = kind.request(run)["tasks"]
    assert order["removal"]["approved"] == {
        "plan": str(plan.pk), "uri": plan.items_uri, "digest": DIGEST
    }  # fmt: skip
    assert (order["kind"], order["removal"]["expire_days"]) == ("EXPIRE", 7)
    assert kind.request(other)["tasks"] == []
    plan.refresh_from_db()
    assert (plan.state, Approval.objects.get().used_by_run) == ("RUNNING", str(run.pk))
    removed = {"n_items": 25, "n_files": 58, "n_bytes": 3_900_000, "files": {"data files": 30}}
    words = "25 snapshots expired; deleted with them: 30 data files."
    said = result_of(plan.task, outcome="DONE", reason=words, removed=removed)
    for _ in range(2):
        results_ingest(ICEBERG, run, said, now=LATER)
    plan.refresh_from_db()
    assert (plan.state, plan.outcome, plan.removed["n_items"]) == ("DONE", words, 25)
    made = OptimizeTask.objects.get()
    assert (made.state, made.is_open, made.outcome) == (TaskState.DONE, None, words)
    row.refresh_from_db()
    assert row.inspect_due_at == LATER


def test_a_draft_is_asked_for_without_an_approval_and_the_policy_of_now_goes_along(
    people: People,
) -> None:
    expiring(keep_snapshots=4, orphan_days=9)
    run = run_of("optimize")
    task(iceberg(), kind=TaskKind.EXPIRE, state=TaskState.SENT, run=run.pk)
    (order,) = RemoveKind().request(run)["tasks"]
    assert order["removal"] == {
        "expire_days": 7, "keep_snapshots": 4, "orphan_days": 9, "approved": None,
        "quarantine_days": 7, "quarantine": "", "borrowers": [],
    }  # fmt: skip


@pytest.mark.parametrize("what", ["policy", "approver", "deleted", "paused", "busy", "stop"])
def test_what_changed_since_the_approval_stops_it(people: People, what: str) -> None:
    row = iceberg()
    plan = approved(row, people, versions=expiring(by="olga"))
    if what == "policy":
        policy(version=2, kinds=["MINOR"])
    elif what == "approver":
        User.objects.filter(username="cem").update(is_active=False)
    elif what in ("deleted", "paused"):
        IcebergTable.objects.update(**{f"is_{what}": True})
    elif what == "busy":
        task(row, state=TaskState.SENT)
    else:
        emergency_stop_start(lake=LAKE, pressed_by="ada", reason="stop", now=NOW)
    assert lists_claim(ICEBERG, run_of(), now=LATER) == 0
    plan.refresh_from_db()
    if what in ("policy", "approver"):
        ended = OptimizeTask.objects.get()
        assert (plan.state, ended.state, bool(plan.outcome)) == ("FAILED", "CANCELLED", True)
        approvals_lapse(LATER + timedelta(days=9))
        plan.refresh_from_db()
        assert plan.state == "FAILED"
    else:
        assert plan.state == "APPROVED"
        assert RemoveKind().scheduled_params(LAKE, now=LATER) is None


def test_a_run_that_died_uses_the_approval_up_and_the_rest_is_drawn_up_anew(
    people: People,
) -> None:
    plan = approved(iceberg(), people)
    OptimizeTask.objects.update(requested_by="olga")
    run = run_of()
    assert lists_claim(ICEBERG, run, now=LATER) == 1
    Run.objects.filter(pk=run.pk).update(state=RunState.FAILED, finished_at=LATER)
    assert reclaim(ICEBERG, LAKE, now=LATER) == 1
    plan.refresh_from_db()
    made = OptimizeTask.objects.get()
    assert (plan.state, made.state) == (RemovalState.FAILED, TaskState.WAITING)
    again = run_of("optimize")
    OptimizeTask.objects.update(state=TaskState.SENT, run=again.pk)
    (order,) = RemoveKind().request(again)["tasks"]
    assert order["removal"]["approved"] is None


def test_the_page_shows_what_would_go_and_lets_only_those_decide_who_may(people: People) -> None:
    row = iceberg()
    plan = proposed(row, now=timezone.now(), requested_by="olga")
    page = f"{PAGES}{plan.pk}/"

    def client(user: User, *, fresh: bool = True) -> Client:
        found = Client()
        found.force_login(user)
        if fresh:
            session = found.session
            session["lw_authenticated_at"] = timezone.now().timestamp()
            session.save()
        return found

    text = client(people.second).get(page).content.decode()
    for words in (
        "Approve: remove 26 snapshots",
        "2 approvals",
        "too young",
        "&lt;b&gt;a.parquet",
    ):
        assert words in text, words
    assert "Withdraw this list" not in text
    owner = client(people.owner).get(page).content.decode()
    assert "Withdraw this list" in owner
    assert "Approve: remove" not in owner
    for path in (page, f"{API}{plan.pk}/"):
        assert client(people.stranger).get(path).status_code == 404
    assert str(plan.pk) not in client(people.stranger).get(PAGES).content.decode()
    assert client(people.stranger).get(API).json()["results"] == []
    assert plan.short_id in client(people.owner).get(PAGES).content.decode()
    said = {"decision": "APPROVE", "digest": DIGEST, "reason": ""}
    assert client(people.owner).post(f"{page}decide/", said).status_code == 403
    assert client(people.second, fresh=False).post(f"{page}decide/", said).status_code == 302
    assert plan.approval is not None
    assert not plan.approval.decisions.exists()
    assert client(people.second).post(f"{page}decide/", {**said, "digest": "x"}).status_code == 409
    assert client(people.second).post(f"{page}decide/", said).status_code == 302
    answer = client(people.third).post(
        f"{API}{plan.pk}/decide/", json.dumps(said), content_type="application/json"
    )
    assert (answer.status_code, answer.json()["state"]) == (200, "APPROVED")
    assert answer.json()["steps"] == ["reject"]
    text = client(people.second).get(page).content.decode()
    assert "not before" in text


@pytest.mark.parametrize("is_draft", [True, False])
def test_a_removal_cancelled_in_its_run_asks_nobody_and_is_not_repeated(
    people: People, is_draft: bool
) -> None:
    row, by = iceberg(), "olga"
    if is_draft:
        run = run_of("optimize")
        made = task(row, kind=TaskKind.EXPIRE, state=TaskState.SENT, run=run.pk, requested_by=by)
    else:
        made, run = approved(row, people, requested_by=by).task, run_of()
        assert lists_claim(ICEBERG, run, now=LATER) == 1
    task_cancel(made, user=people.owner, reason="not today", now=LATER)
    said = result_of(made, proposal=proposal()) if is_draft else {"result": {"results": []}}
    results_ingest(ICEBERG, run, said, now=LATER)
    made.refresh_from_db()
    assert (made.state, made.outcome) == (TaskState.CANCELLED, "olga: not today")
    assert [one.state for one in RemovalPlan.objects.all()] == ([] if is_draft else ["FAILED"])


def test_the_page_of_orphan_files_says_what_is_left_and_why(people: People) -> None:
    plan = proposed(
        iceberg(),
        now=timezone.now(),
        kind=TaskKind.ORPHANS,
        n_items=60,
        files={},
        stays={"KNOWN": 900, "DOUBTFUL": 2},
        sample=["file:/lake/clicks/data/<i>x.parquet"],
        file_sample=[],
        notes=["12 more wait for the next list."],
    )
    client = Client()
    client.force_login(people.admin)
    text = client.get(f"{PAGES}{plan.pk}/").content.decode()
    for words in ("60 files", "part of the table", "doubtful: the table knows", "12 more wait",
                  "&lt;i&gt;x.parquet", "Approve: remove 60 files"):  # fmt: skip
        assert words in text, words
    page = client.get(f"/optimizer/tables/{plan.table_id}/").content.decode()
    of_it = "table_format=iceberg&amp;db=shop&amp;table=clicks"
    assert f"/optimizer/removals/?lake={LAKE}&amp;{of_it}" in page


def test_an_owner_asks_for_a_list_and_nothing_goes_by_that(people: People) -> None:
    row = iceberg(now=timezone.now())
    client = Client()
    client.force_login(people.owner)
    address = f"/optimizer/tables/{row.pk}/removal/"
    page = client.get(f"/optimizer/tables/{row.pk}/").content.decode()
    assert "List old snapshots" in page
    reason = {"reason": "the disk is full"}
    assert client.post(address, {**reason, "kind": "EXPIRE"}).status_code == 302
    made = OptimizeTask.objects.get()
    assert (made.kind, made.state, made.requested_by) == ("EXPIRE", "WAITING", "olga")
    for wrong in ("MINOR", "", "expire"):
        assert client.post(address, {**reason, "kind": wrong}).status_code == 400
    OptimizeTask.objects.update(state=TaskState.TO_APPROVE)
    assert client.post(address, {**reason, "kind": "EXPIRE"}).status_code == 409
    other = Client()
    other.force_login(people.stranger)
    assert other.post(address, {**reason, "kind": "EXPIRE"}).status_code == 404


def test_an_admin_sees_on_the_home_page_what_waits(people: People) -> None:
    proposed(iceberg(), now=timezone.now(), requested_by="ben")
    for user, is_told in ((people.admin, True), (people.second, False), (people.owner, False)):
        client = Client()
        client.force_login(user)
        text = client.get("/").content.decode()
        assert ("Removals from tables to decide" in text) is is_told, user
