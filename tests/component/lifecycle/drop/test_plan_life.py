"""A plan from request to run: who may do which step, once, and on which content."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from lifecycle.backup.models import Hold
from lifecycle.drop.selectors.plans import get_plan_for_user
from lifecycle.drop.services.deletion_requests import deletion_request
from lifecycle.drop.services.execution import (
    keep_days,
    plan_execute,
    plan_finish,
    plans_start_due,
)
from lifecycle.drop.services.plans import plan_request, plan_withdraw
from lifecycle.models import DatabaseSetting, DropPlan, PlanState
from portal.access.models import User
from portal.approvals.services import approvals_lapse
from portal.audit.models import AuditEvent
from portal.audit.services import audit_record, audit_verify
from portal.lake.errors import (
    NotAllowed,
    NotVisible,
    PortalError,
    RuleViolation,
    StaleState,
)
from portal.runs.models import Run
from portal.safety.services import emergency_stop_start
from tests.component.lifecycle.plan_world import LAKE, NOW, World, make_world, partitions
from tests.support.plan_words import plan_approve, plan_reject
from tests.support.together import together

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 86_400
    world = make_world(tmp_path)
    world.scan(partitions(3))
    return world


def approve(plan: DropPlan, user: User, now: datetime = NOW, **changes: Any) -> DropPlan:
    values: dict[str, Any] = {"digest": plan.digest}
    values |= {"authenticated_at": now - timedelta(minutes=1)} | changes
    return plan_approve(plan.pk, user=user, now=now, **values)


def approved(world: World) -> DropPlan:
    plan = world.plan()
    approve(plan, world.person("bert"))
    return approve(plan, world.person("carl"))


def code_of(action: Callable[[], object], kind: type[PortalError]) -> str:
    with pytest.raises(kind) as caught:
        action()
    return caught.value.code


def test_a_plan_goes_from_request_to_run_and_end(world: World) -> None:
    plan = world.plan()
    assert (plan.state, plan.n_items, plan.n_bytes, plan.n_files) == ("PENDING", 3, 3000, 9)
    assert len(plan.digest) == 64
    assert plan.tables.get().examples.count() == 3
    assert approve(plan, world.person("bert")).state == PlanState.PENDING
    plan = approve(plan, world.person("carl"))
    assert plan.state == PlanState.APPROVED
    assert plans_start_due(NOW + DAY - timedelta(seconds=1)) == []
    (run,) = plans_start_due(NOW + DAY)
    plan.refresh_from_db()
    assert (plan.state, plan.run_id, run.kind) == ("RUNNING", run.pk, "lifecycle.drop")
    assert plans_start_due(NOW + DAY) == []
    skipped = [{"item": "sales.orders/dt=2026-01-02", "outcome": "SKIPPED", "reason": "newer data"}]
    report = {"counts": {"DROPPED": 2, "SKIPPED": 1}, "skipped": skipped}
    for _ in range(2):
        plan_finish(plan, run, outcome="done", report=report, now=NOW + DAY)
        plan.refresh_from_db()
    assert plan.state == PlanState.DONE
    assert plan.outcome["counts"] == {"DROPPED": 2, "SKIPPED": 1}
    result = plan.results.get()
    assert (result.db, result.table, result.partition) == ("sales", "orders", "dt=2026-01-02")
    assert result.reason == "newer data"
    actions = list(
        AuditEvent.objects.filter(object_id=str(plan.pk), object_type="drop_plan")
        .order_by("seq")
        .values_list("action", flat=True)
    )
    assert actions == [
        *("plan.requested", "plan.created", "plan.approved", "plan.started", "plan.finished")
    ]
    assert audit_verify().broken_at is None


def test_a_plan_whose_run_was_cancelled_is_cancelled_and_not_failed(world: World) -> None:
    plan = approved(world)
    run = plan_execute(plan.pk, now=NOW + DAY)
    plan.refresh_from_db()
    report: dict[str, Any] = {"counts": {"DROPPED": 1}, "skipped": []}
    plan_finish(plan, run, outcome="cancelled", report=report, now=NOW + DAY)
    plan.refresh_from_db()
    assert (plan.state, plan.outcome["counts"]["NOT_REACHED"]) == ("CANCELLED", 2)
    assert "what it had dropped stays in the backup" in plan.ended_reason
    assert world.plan().state == PlanState.PENDING, "its items may be planned again"


def test_the_same_items_have_the_same_digest_and_a_changed_item_another(world: World) -> None:
    first = world.plan()
    plan_reject(
        first.pk,
        user=world.person("bert"),
        digest=first.digest,
        authenticated_at=NOW,
        now=NOW,
        reason="try again",
    )
    assert world.plan().digest == first.digest
    DropPlan.objects.update(state="REJECTED")
    world.scan(partitions(3, n_bytes=1001))
    assert world.plan().digest != first.digest


def test_only_admins_and_operators_make_plans(world: World) -> None:
    ask: dict[str, Any] = {"tables": ["sales.orders"], "reason": "old", "now": NOW}
    for name in ("alice", "dora", "eve"):
        refused = partial(plan_request, LAKE, user=world.person(name), **ask)
        assert code_of(refused, NotAllowed) == "plan.role"
    assert plan_request(LAKE, user=world.person("otto"), **ask).state == PlanState.DRAFTING
    anna = world.person("anna")
    assert code_of(lambda: plan_request(LAKE, reason="x", user=anna, now=NOW), RuleViolation)
    ask["reason"] = " "
    assert code_of(lambda: plan_request(LAKE, user=anna, **ask), RuleViolation) == "plan.reason"


def test_nobody_approves_what_they_asked_for_not_even_a_superuser(world: World) -> None:
    anna = world.person("anna")
    User.objects.filter(pk=anna.pk).update(is_superuser=True, is_staff=True)
    plan = world.plan()
    assert code_of(lambda: approve(plan, anna), NotAllowed) == "approval.own"
    otto = world.person("otto")
    User.objects.filter(pk=otto.pk).update(is_superuser=True)
    assert code_of(lambda: approve(plan, otto), NotAllowed) == "approval.role"
    approve(plan, world.person("bert"))
    assert code_of(lambda: approve(plan, world.person("bert")), StaleState)


def test_who_changed_policy_or_a_hold_and_who_asked_counts_as_a_requester(world: World) -> None:
    audit_record(
        "policy.changed",
        actor="bert",
        lake=LAKE,
        object_type="table",
        object_id="sales.orders",
        data={"ttl": 60},
        now=NOW,
    )
    Hold.objects.create(
        lake=LAKE,
        db="sales",
        table="orders",
        kind="LEGAL",
        reason="court",
        placed_by="bert",
        placed_at=NOW - DAY,
        released_by="carl",
        released_at=NOW - DAY,
    )
    deletion_request(
        lake=LAKE,
        name=("sales", "orders", ""),
        with_recently_read=False,
        reason="old",
        user=world.person("alice"),
        now=NOW,
    )
    plan = world.plan()
    assert plan.requesters == ["alice", "anna", "bert", "carl"]
    for name in ("bert", "carl"):
        assert code_of(partial(approve, plan, world.person(name)), NotAllowed) == "approval.own"


@pytest.mark.parametrize("age", [timedelta(minutes=16), timedelta(seconds=-1), None])
def test_approval_needs_a_fresh_login(world: World, age: timedelta | None) -> None:
    plan = world.plan()
    at = None if age is None else NOW - age
    bert = world.person("bert")
    assert code_of(lambda: approve(plan, bert, authenticated_at=at), NotAllowed)
    assert approve(plan, bert, authenticated_at=NOW - timedelta(minutes=15)).state == "PENDING"


def test_approval_of_other_content_is_refused(world: World) -> None:
    plan = world.plan()
    bert = world.person("bert")
    assert code_of(lambda: approve(plan, bert, digest="0" * 64), StaleState) == "plan.changed"


def test_a_plan_changed_after_approval_cannot_run(world: World) -> None:
    plan = approved(world)
    DropPlan.objects.filter(pk=plan.pk).update(digest="0" * 64, items_sha256="0" * 64)
    assert code_of(lambda: plan_execute(plan.pk, now=NOW + DAY), StaleState) == "approval.changed"
    assert plans_start_due(NOW + DAY) == []
    plan.refresh_from_db()
    assert plan.state == PlanState.APPROVED
    assert plan.outcome["blocked"]["code"] == "approval.changed"


@pytest.mark.parametrize(
    "changed", [{"keep_days": {"sales": 16}}, {"backup_root": "file:///elsewhere"}]
)
def test_where_and_how_long_backups_are_kept_is_part_of_what_is_approved(
    world: World, changed: dict[str, Any]
) -> None:
    plan = approved(world)
    assert plan.keep_days == {"sales": 15}
    DropPlan.objects.filter(pk=plan.pk).update(**changed)
    assert code_of(lambda: plan_execute(plan.pk, now=NOW + DAY), StaleState) == "approval.changed"


def test_days_lowered_after_the_approval_do_not_shorten_it_and_more_days_count(
    world: World,
) -> None:
    DatabaseSetting.objects.update(backup_days=40)
    plan = approved(world)
    DatabaseSetting.objects.update(backup_days=15)
    assert keep_days(plan) == {"sales": 40}
    DatabaseSetting.objects.update(backup_days=60)
    assert keep_days(plan) == {"sales": 60}
    assert plan_execute(plan.pk, now=NOW + DAY).params["digest"] == plan.digest


def test_an_approver_who_lost_the_role_no_longer_counts(world: World) -> None:
    plan = approved(world)
    world.person("carl").groups.clear()
    assert code_of(lambda: plan_execute(plan.pk, now=NOW + DAY), StaleState) == "approval.approvers"


def test_one_rejection_ends_a_plan_even_an_approved_one(world: World) -> None:
    plan = approved(world)
    word: dict[str, Any] = {"digest": plan.digest, "authenticated_at": NOW, "now": NOW}
    bert = world.person("bert")
    silent = partial(plan_reject, plan.pk, user=bert, reason=" ", **word)
    assert code_of(silent, RuleViolation) == "plan.reject_reason"
    plan = plan_reject(plan.pk, user=bert, reason="still needed", **word)
    assert (plan.state, plan.ended_by, plan.ended_reason) == ("REJECTED", "bert", "still needed")
    assert plans_start_due(NOW + 3 * DAY) == []
    assert code_of(lambda: approve(plan, world.person("carl")), StaleState) == "plan.not_pending"


def test_a_plan_lapses_after_72_hours(world: World) -> None:
    plan = world.plan()
    approvals_lapse(NOW + 3 * DAY - timedelta(seconds=1))
    assert get_plan_for_user(plan.pk, user=world.person("anna")).state == PlanState.PENDING
    approvals_lapse(NOW + 3 * DAY)
    assert get_plan_for_user(plan.pk, user=world.person("anna")).state == PlanState.LAPSED
    late = NOW + 4 * DAY
    assert code_of(lambda: approve(plan, world.person("bert"), late), StaleState)


def test_its_maker_withdraws_a_plan_until_the_first_decision(world: World) -> None:
    ask: dict[str, Any] = {"reason": "mistake", "now": NOW}
    plan = world.plan()
    bert, anna = world.person("bert"), world.person("anna")
    assert code_of(lambda: plan_withdraw(plan.pk, user=bert, **ask), NotAllowed)
    assert plan_withdraw(plan.pk, user=anna, **ask).state == PlanState.WITHDRAWN
    assert code_of(lambda: plan_withdraw(plan.pk, user=anna, **ask), StaleState)
    second = world.plan()
    approve(second, bert)
    assert code_of(lambda: plan_withdraw(second.pk, user=anna, **ask), StaleState)


def test_nothing_starts_under_the_red_button_or_out_of_act_mode(world: World) -> None:
    plan = approved(world)
    DatabaseSetting.objects.update(mode="NOTIFY")
    assert code_of(lambda: plan_execute(plan.pk, now=NOW + DAY), StaleState) == "plan.mode"
    DatabaseSetting.objects.update(mode="ACT")
    emergency_stop_start(lake=LAKE, pressed_by="otto", reason="smoke", now=NOW)
    assert code_of(lambda: plan_execute(plan.pk, now=NOW + DAY), StaleState) == "red_button.on"
    assert not Run.objects.filter(kind="lifecycle.drop").exists()


def test_strangers_do_not_see_a_plan_and_owners_only_theirs(world: World) -> None:
    plan = world.plan()
    for name in ("anna", "otto", "alice", "dora"):
        assert get_plan_for_user(plan.pk, user=world.person(name)).pk == plan.pk
    eve = world.person("eve")
    assert code_of(lambda: get_plan_for_user(plan.pk, user=eve), NotVisible) == "plan.missing"
    assert code_of(lambda: approve(plan, eve), NotVisible) == "plan.missing"
    assert code_of(lambda: approve(plan, world.person("alice")), NotAllowed)


def test_two_admins_at_the_same_moment_both_count_once(world: World) -> None:
    plan = world.plan()
    bert, carl = world.person("bert"), world.person("carl")
    assert together(lambda: approve(plan, bert), lambda: approve(plan, carl)) == ["", ""]
    assert get_plan_for_user(plan.pk, user=bert).state == PlanState.APPROVED
    assert plan.approval is not None
    assert plan.approval.decisions.count() == 2


def test_one_admin_twice_at_the_same_moment_counts_once(world: World) -> None:
    plan = world.plan()
    bert = world.person("bert")
    results = together(*[lambda: approve(plan, bert)] * 4)
    assert sorted(results) == ["", *["approval.decided"] * 3]
    assert get_plan_for_user(plan.pk, user=bert).state == PlanState.PENDING


def test_a_plan_started_by_two_at_once_runs_once(world: World) -> None:
    plan = approved(world)
    results = together(*[lambda: plan_execute(plan.pk, now=NOW + DAY)] * 3)
    assert sorted(results) == ["", "plan.not_approved", "plan.not_approved"]
    assert Run.objects.filter(kind="lifecycle.drop").count() == 1


def test_approving_and_rejecting_at_once_never_leaves_it_approved(world: World) -> None:
    plan = world.plan()
    approve(plan, world.person("bert"))
    carl, bert = world.person("carl"), world.person("bert")
    together(
        lambda: approve(plan, carl),
        lambda: plan_reject(
            plan.pk, user=bert, digest=plan.digest, authenticated_at=NOW, now=NOW, reason="wait"
        ),
    )
    assert get_plan_for_user(plan.pk, user=bert).state == PlanState.REJECTED
    assert plans_start_due(NOW + 3 * DAY) == []
