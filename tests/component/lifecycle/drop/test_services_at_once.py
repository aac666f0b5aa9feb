"""Two services meet at the same rows: both end in words, whoever is first, never in a deadlock.

On SQLite every transaction waits for the one before it;
tests/integration/whole/test_portal_on_mariadb.py runs this file on MariaDB, where opposite lock
orders end in error 1213.
"""

import json
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from lifecycle.drop.services.deletion_requests import deletion_request, deletion_request_close
from lifecycle.drop.services.execution import plan_execute
from lifecycle.drop.services.plans import plan_request, plan_withdraw
from lifecycle.drop.services.standing_rules import (
    RuleParams,
    standing_rule_decide,
    standing_rule_end,
    standing_rule_request,
    standing_rules_refresh,
)
from lifecycle.models import DeletionRequest, DropPlan, PlanState, StandingRule, StandingRuleState
from portal.approvals.domain import DecisionInput
from portal.approvals.models import Approval, Decision
from portal.approvals.services import approvals_lapse
from portal.audit.services import audit_verify
from portal.lake.errors import ExternalFailure
from portal.notices.models import Notice, NoticeState
from portal.notices.services import STUCK_AFTER, Mail, _claim, notice_queue, notices_unstick
from portal.runs.execution.steps import run_step
from portal.runs.execution.takeover import watch
from portal.runs.models import Outbox, Run
from portal.runs.outbox.services import outbox_publish
from portal.runs.requests.services import run_cancel, run_request
from tests.component.lifecycle.plan_world import LAKE, NOW, TODAY, World, make_world, partitions
from tests.support.plan_words import plan_approve, plan_reject
from tests.support.together import together

pytestmark = pytest.mark.django_db(transaction=True)
TURNS = 4
HOUR = timedelta(hours=1)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 0
    world = make_world(tmp_path)
    world.scan(partitions(3))
    return world


def wish_of(world: World) -> DeletionRequest:
    return deletion_request(
        lake=LAKE,
        name=("sales", "orders", ""),
        with_recently_read=False,
        reason="not needed",
        user=world.person("alice"),
        now=NOW,
    )


def approved(world: World) -> DropPlan:
    plan = world.plan()
    for name in ("bert", "carl"):
        plan_approve(
            plan.pk, user=world.person(name), digest=plan.digest, authenticated_at=NOW, now=NOW
        )
    return plan


def reject(plan: DropPlan, world: World, name: str) -> DropPlan:
    return plan_reject(
        plan.pk,
        user=world.person(name),
        digest=plan.digest,
        authenticated_at=NOW,
        now=NOW,
        reason="not now",
    )


def signed_in(world: World, name: str) -> Client:
    client = Client()
    client.force_login(world.person(name))
    session = client.session
    session["lw_authenticated_at"] = timezone.now().timestamp()
    session.save()
    return client


def test_two_admins_approve_at_the_same_moment_on_the_page_and_over_the_api(world: World) -> None:
    plan = world.plan()
    Approval.objects.update(expires_at=timezone.now() + HOUR)
    page, api = signed_in(world, "bert"), signed_in(world, "carl")
    answers: dict[str, int] = {}

    def on_the_page() -> None:
        address = f"/lifecycle/plans/{plan.pk}/approve/"
        answers["page"] = page.post(address, {"digest": plan.digest}).status_code

    def over_the_api() -> None:
        address = f"/api/v1/lifecycle/plans/{plan.pk}/approve/"
        body = json.dumps({"digest": plan.digest})
        answers["api"] = api.post(address, body, content_type="application/json").status_code

    together(on_the_page, over_the_api)
    assert answers == {"page": 302, "api": 200}
    plan.refresh_from_db()
    assert plan.state == PlanState.APPROVED
    assert Decision.objects.filter(approval=plan.approval).count() == 2
    # Who comes a moment later is told, and changes nothing.
    late = page.post(f"/lifecycle/plans/{plan.pk}/approve/", {"digest": plan.digest})
    assert late.status_code == 409
    assert "This is already approved." in late.content.decode()
    over_the_api()
    assert answers["api"] == 409
    assert Decision.objects.filter(approval=plan.approval).count() == 2


def test_a_plan_starts_while_somebody_rejects_it(world: World) -> None:
    for _ in range(TURNS):
        plan = approved(world)
        together(lambda: plan_execute(plan.pk, now=NOW + HOUR), lambda: reject(plan, world, "bert"))  # noqa: B023 - used within the turn
        plan.refresh_from_db()
        assert plan.state in (PlanState.RUNNING, PlanState.REJECTED)
        assert (plan.run_id is not None) is (plan.state == PlanState.RUNNING)
        DropPlan.objects.filter(pk=plan.pk).update(state=PlanState.REJECTED)
    assert audit_verify().broken_at is None


def test_a_plan_starts_while_approvals_lapse(world: World) -> None:
    late = NOW + timedelta(days=4)
    for _ in range(TURNS):
        plan = approved(world)
        together(
            lambda: plan_execute(plan.pk, now=NOW + HOUR),  # noqa: B023 - used within the turn
            lambda: approvals_lapse(late),
        )
        plan.refresh_from_db()
        assert plan.state in (PlanState.RUNNING, PlanState.LAPSED)
        DropPlan.objects.filter(pk=plan.pk).update(state=PlanState.REJECTED)
    assert audit_verify().broken_at is None


def test_a_plan_is_withdrawn_while_it_is_drawn_up(world: World) -> None:
    anna, seen = world.person("anna"), set()
    for _ in range(TURNS):
        plan = plan_request(LAKE, tables=["sales.orders"], reason="old", user=anna, now=NOW)
        together(
            lambda: run_step(str(plan.plan_run_id), holder="worker"),  # noqa: B023 - used within the turn
            lambda: plan_withdraw(plan.pk, user=anna, reason="no", now=NOW),  # noqa: B023 - (as above)
        )
        plan.refresh_from_db()
        seen.add(plan.state)
        assert plan.state in (PlanState.WITHDRAWN, PlanState.PENDING)
        DropPlan.objects.filter(pk=plan.pk).update(state=PlanState.WITHDRAWN)
    assert audit_verify().broken_at is None


def test_a_wish_is_closed_while_a_plan_takes_it_in(world: World) -> None:
    alice, anna = world.person("alice"), world.person("anna")
    for _ in range(TURNS):
        wish = wish_of(world)
        plan = plan_request(LAKE, tables=["sales.orders"], reason="old", user=anna, now=NOW)
        together(
            lambda: run_step(str(plan.plan_run_id), holder="worker"),  # noqa: B023 - used within the turn
            lambda: deletion_request_close(wish.pk, user=alice, reason="", now=NOW),  # noqa: B023 - (as above)
        )
        plan.refresh_from_db()
        wish.refresh_from_db()
        assert plan.state == PlanState.PENDING, plan.ended_reason
        assert wish.state in (DeletionRequest.State.PLANNED, DeletionRequest.State.CLOSED)
        DropPlan.objects.filter(pk=plan.pk).update(state=PlanState.WITHDRAWN)
    assert audit_verify().broken_at is None


def waiting_rule(world: World) -> StandingRule:
    wish = RuleParams("sales", "orders", 5, 5000, TODAY + timedelta(days=9), "daily logs")
    return standing_rule_request(LAKE, wish, user=world.person("anna"), now=NOW)


def decide(rule: StandingRule, world: World, name: str, decision: str = "APPROVE") -> None:
    standing_rule_decide(
        rule.pk,
        user=world.person(name),
        answer=DecisionInput(decision, "seen", rule.digest),
        authenticated_at=NOW,
        now=NOW,
    )


def test_a_rule_begins_while_it_is_ended_and_rejected(world: World) -> None:
    for _ in range(TURNS):
        rule = waiting_rule(world)
        decide(rule, world, "bert")
        decide(rule, world, "carl")
        together(
            lambda: standing_rules_refresh(LAKE, now=NOW + HOUR),
            lambda: standing_rule_end(rule.pk, user=world.person("bert"), reason="no", now=NOW),  # noqa: B023 - used within the turn
            lambda: decide(rule, world, "carl", "REJECT"),  # noqa: B023 - (as above)
        )
        rule.refresh_from_db()
        assert rule.state in (StandingRuleState.ENDED, StandingRuleState.REJECTED), rule.last_note
    assert audit_verify().broken_at is None


def test_runs_are_asked_for_cancelled_and_published_at_once(world: World) -> None:
    otto = world.person("otto")

    def ask() -> Run:
        return run_request(
            "lifecycle.scan",
            lake=LAKE,
            params={"now": NOW.isoformat()},
            requested_by="otto",
            now=NOW,
        )

    def refuse(row: Outbox) -> None:
        if row.pk % 3 == 0:
            raise ExternalFailure("broker.gone", "Nobody.", service="broker", retryable=True)

    for turn in range(TURNS):
        runs = [ask() for _ in range(6)]
        now = NOW + turn * HOUR
        together(
            *[lambda run=run: run_cancel(run.pk, user=otto, now=NOW) for run in runs],
            lambda: outbox_publish(refuse, now=now),  # noqa: B023 - used within the turn
            lambda: watch(now=now),  # noqa: B023 - (as above)
            ask,
        )
        assert not Run.objects.filter(pk__in=[run.pk for run in runs], finished_at=None).exists()
    assert audit_verify().broken_at is None


def test_notices_are_claimed_while_stuck_ones_are_freed(world: World) -> None:
    mail = Mail(subject="s", text="t")
    for turn in range(TURNS):
        made = [
            notice_queue(
                f"test.{turn}.{n}",
                lake=LAKE,
                day=TODAY,
                recipient="alice",
                email="alice@example.org",
                mail=mail,
                now=NOW,
            )
            for n in range(12)
        ]
        ids = [notice.pk for notice in made]
        Notice.objects.filter(pk__in=ids[::2]).update(
            state=NoticeState.SENDING, claimed_at=NOW - STUCK_AFTER
        )

        def claim_all(order: int, ids: list[UUID] = ids) -> None:
            for pk in ids[::order]:
                _claim(pk, now=NOW + HOUR)

        together(
            lambda: claim_all(1),
            lambda: claim_all(-1),
            *[lambda: notices_unstick(NOW + HOUR)] * 3,
        )
