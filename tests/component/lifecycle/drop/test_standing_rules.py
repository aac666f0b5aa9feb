"""Standing rules: two people, caps, 90 days.

First drops, big days and recently read stay explicit.
"""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from lifecycle.drop.selectors.standing import get_rule_for_user
from lifecycle.drop.services.deletion_requests import deletion_request
from lifecycle.drop.services.execution import plan_execute, plans_start_due
from lifecycle.drop.services.standing_plans import standing_plans_make
from lifecycle.drop.services.standing_rules import (
    RuleParams,
    standing_rule_decide,
    standing_rule_end,
    standing_rule_request,
    standing_rules_refresh,
)
from lifecycle.models import (
    DropPlan,
    DropPlanTable,
    PlanState,
    StandingRule,
    StandingRuleState,
    TableFinding,
)
from portal.approvals.domain import DecisionInput
from portal.approvals.models import Approval
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from tests.component.lifecycle.plan_world import (
    LAKE,
    NOW,
    TODAY,
    World,
    changed,
    make_world,
    partitions,
)

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 3600
    world = make_world(tmp_path)
    world.scan(partitions(3))
    return world


def wish(**changes: object) -> RuleParams:
    values: dict[str, object] = {
        "db": "sales",
        "table": "orders",
        "max_items_day": 5,
        "max_bytes_day": 5000,
        "until": TODAY + timedelta(days=89),
        "reason": "daily logs",
    }
    return RuleParams(**(values | changes))  # type: ignore[arg-type]  # tests change single values


def decide(
    rule: StandingRule, world: World, name: str, decision: str = "APPROVE", digest: str = ""
) -> None:
    standing_rule_decide(
        rule.pk,
        user=world.person(name),
        answer=DecisionInput(decision, "reason", digest or rule.digest),
        authenticated_at=NOW,
        now=NOW,
    )


def active_rule(world: World, **changes: object) -> StandingRule:
    rule = standing_rule_request(LAKE, wish(**changes), user=world.person("anna"), now=NOW)
    decide(rule, world, "bert")
    decide(rule, world, "carl")
    standing_rules_refresh(LAKE, now=NOW + timedelta(hours=1))
    rule.refresh_from_db()
    assert rule.state == StandingRuleState.ACTIVE
    return rule


def dropped_before(world: World) -> None:
    """Let an explicitly approved drop of the table have succeeded long ago."""
    approval = Approval.objects.create(
        lake=LAKE,
        kind="lifecycle.drop",
        object_id="old",
        digest="0" * 64,
        state="USED",
        created_at=NOW - 9 * DAY,
        expires_at=NOW,
    )
    plan = DropPlan.objects.create(
        lake=LAKE,
        state=PlanState.DONE,
        requested_by="anna",
        created_at=NOW - 9 * DAY,
        ended_at=NOW - 8 * DAY,
        approval=approval,
        digest="0" * 64,
        items_sha256="0" * 64,
    )
    DropPlanTable.objects.create(
        plan=plan, lake=LAKE, db="sales", table="orders", tbl_id=1, n_items=1, digest="d"
    )


def plan_of_day(world: World, now: datetime = NOW + timedelta(hours=2)) -> DropPlan:
    (plan,) = standing_plans_make(LAKE, now)
    return world.drawn(plan)


def test_a_rule_needs_two_others_and_its_cooling_off(world: World) -> None:
    rule = standing_rule_request(LAKE, wish(), user=world.person("anna"), now=NOW)
    with pytest.raises(NotAllowed):
        decide(rule, world, "anna")
    with pytest.raises(StaleState, match="not the one that you read"):
        decide(rule, world, "bert", digest="0" * 64)
    decide(rule, world, "bert")
    decide(rule, world, "carl")
    standing_rules_refresh(LAKE, now=NOW)
    assert standing_plans_make(LAKE, NOW) == []
    standing_rules_refresh(LAKE, now=NOW + timedelta(hours=1))
    rule.refresh_from_db()
    assert rule.state == StandingRuleState.ACTIVE


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"until": TODAY + timedelta(days=90)}, RuleViolation),
        ({"until": TODAY - DAY}, RuleViolation),
        ({"max_items_day": 0}, RuleViolation),
        ({"reason": " "}, RuleViolation),
        ({"table": "none"}, RuleViolation),
        ({"table": "free"}, RuleViolation),
    ],
)
def test_what_a_rule_may_not_say(
    world: World, changes: dict[str, object], kind: type[Exception]
) -> None:
    world.scan([*partitions(3), *partitions(1, tbl="free", tbl_id=9, level=None, ttl=None)])
    with pytest.raises(kind):
        standing_rule_request(LAKE, wish(**changes), user=world.person("anna"), now=NOW)
    standing_rule_request(LAKE, wish(), user=world.person("otto"), now=NOW)
    with pytest.raises(StaleState):
        standing_rule_request(LAKE, wish(), user=world.person("anna"), now=NOW)
    with pytest.raises(NotAllowed):
        standing_rule_request(LAKE, wish(), user=world.person("alice"), now=NOW)


def test_the_first_drop_of_a_table_stays_explicit(world: World) -> None:
    active_rule(world)
    plan = plan_of_day(world)
    assert plan.state == PlanState.PENDING
    assert "first drop" in plan.reason
    assert plan.approval is not None


def test_a_covered_plan_runs_without_another_approval_once_a_day(world: World) -> None:
    rule = active_rule(world)
    dropped_before(world)
    now = NOW + timedelta(hours=2)
    plan = plan_of_day(world, now)
    assert (plan.state, plan.approval, plan.standing_rule_id) == ("APPROVED", None, rule.pk)
    assert standing_plans_make(LAKE, now) == []
    (run,) = plans_start_due(now)
    assert run.params["digest"] == plan.digest


@pytest.mark.parametrize(
    ("caps", "word"), [({"max_items_day": 2}, "items"), ({"max_bytes_day": 2999}, "bytes")]
)
def test_a_day_over_the_caps_stays_explicit(
    world: World, caps: dict[str, object], word: str
) -> None:
    active_rule(world, **caps)
    dropped_before(world)
    plan = plan_of_day(world)
    assert plan.state == PlanState.PENDING
    assert f"{word} would be over the rule's cap" in plan.reason


def test_the_caps_count_the_whole_day(world: World) -> None:
    rule = active_rule(world)
    dropped_before(world)
    DropPlan.objects.create(
        lake=LAKE,
        state=PlanState.DONE,
        source="STANDING",
        standing_rule=rule,
        requested_by="anna",
        created_at=NOW + timedelta(hours=2),
        ended_at=NOW,
        n_items=3,
        n_bytes=1,
        digest="1" * 64,
        items_sha256="1" * 64,
    )
    DropPlan.objects.filter(n_items=3).update(created_at=NOW)
    with_used = DropPlan.objects.create(
        lake=LAKE,
        standing_rule=rule,
        source="STANDING",
        requested_by="anna",
        created_at=NOW + timedelta(hours=2),
        selection={"databases": [], "tables": ["sales.orders"]},
    )
    from lifecycle.drop.services.store import plan_draw

    plan_draw(with_used, folder="x", now=NOW + timedelta(hours=2))
    assert with_used.state == PlanState.PENDING
    assert "over the rule's cap of 5" in with_used.reason


def test_still_read_stays_explicit_even_with_the_owners_yes(world: World) -> None:
    active_rule(world)
    dropped_before(world)
    one, *others = partitions(3)
    world.scan([changed(one, cls="STILL_READ"), *others])
    deletion_request(
        lake=LAKE,
        name=("sales", "orders", ""),
        with_recently_read=True,
        reason="yes",
        user=world.person("alice"),
        now=NOW,
    )
    plan = plan_of_day(world)
    assert plan.state == PlanState.PENDING
    assert "recently read" in plan.reason


def test_a_new_table_of_the_same_name_is_not_covered(world: World) -> None:
    active_rule(world)
    dropped_before(world)
    world.scan(partitions(3, tbl_id=2))
    plan = plan_of_day(world)
    assert plan.state == PlanState.PENDING
    assert "earlier table" in plan.reason


def test_an_ended_rule_stops_plans_that_have_not_started(world: World) -> None:
    rule = active_rule(world)
    dropped_before(world)
    plan = plan_of_day(world)
    with pytest.raises(NotAllowed):
        standing_rule_end(rule.pk, user=world.person("otto"), reason="x", now=NOW)
    standing_rule_end(rule.pk, user=world.person("bert"), reason="no more", now=NOW)
    with pytest.raises(StaleState):
        plan_execute(plan.pk, now=NOW + timedelta(hours=3))
    assert standing_plans_make(LAKE, NOW + DAY) == []


def ttl_changed(world: World, actor: str, before: int, after: int, now: datetime = NOW) -> None:
    """Record what an admin's change of TTL leaves behind, which takes effect at once."""
    audit_record(
        "policy.changed",
        actor=actor,
        lake=LAKE,
        object_type="table",
        object_id="sales.orders",
        data={
            "from": {"level": 1, "ttl": before},
            "to": {"level": 1, "ttl": after},
            "through": "portal",
        },
        now=now,
    )


def test_an_approver_who_changes_the_ttl_does_not_decide_alone(world: World) -> None:
    active_rule(world)
    dropped_before(world)
    ttl_changed(world, "bert", 365, 1)
    world.scan(partitions(3, ttl=1))
    plan = plan_of_day(world)
    assert (plan.state, plan.requesters) == ("PENDING", ["anna", "bert"])
    assert "approved for LEVEL 1, TTL 60, owner alice" in plan.reason


def test_an_approver_who_changed_it_back_and_forth_is_subtracted_all_the_same(
    world: World,
) -> None:
    active_rule(world)
    dropped_before(world)
    ttl_changed(world, "bert", 60, 61)
    ttl_changed(world, "bert", 61, 60)
    plan = plan_of_day(world)
    assert plan.state == PlanState.PENDING
    assert "has since changed what it is based on" in plan.reason


def test_who_owns_the_table_is_part_of_the_rule(world: World) -> None:
    active_rule(world)
    dropped_before(world)
    TableFinding.objects.update(owner="dora")
    plan = plan_of_day(world)
    assert plan.state == PlanState.PENDING
    assert "owner dora" in plan.reason


def test_a_plan_whose_cover_is_lost_before_it_starts_ends_and_the_next_is_put_to_people(
    world: World,
) -> None:
    active_rule(world)
    dropped_before(world)
    plan = plan_of_day(world)
    assert plan.state == PlanState.APPROVED
    ttl_changed(world, "carl", 365, 60)
    assert plans_start_due(NOW + timedelta(hours=3)) == []
    plan.refresh_from_db()
    assert (plan.state, plan.ended_by) == ("LAPSED", "system")
    assert "has since changed what it is based on" in plan.ended_reason
    assert plan_of_day(world, NOW + DAY).state == PlanState.PENDING


def test_a_rule_that_is_altered_in_the_database_covers_nothing(world: World) -> None:
    rule = active_rule(world)
    dropped_before(world)
    StandingRule.objects.filter(pk=rule.pk).update(max_items_day=1_000_000)
    plan = plan_of_day(world)
    assert plan.state == PlanState.PENDING
    assert "not what was approved" in plan.reason


def test_a_rule_from_before_policies_were_kept_covers_nothing(world: World) -> None:
    rule = active_rule(world)
    dropped_before(world)
    StandingRule.objects.filter(pk=rule.pk).update(level=None, ttl=None, owner="")
    assert plan_of_day(world).state == PlanState.PENDING


def test_an_approver_who_lost_the_role_ends_the_cover(world: World) -> None:
    active_rule(world)
    dropped_before(world)
    plan = plan_of_day(world)
    world.person("bert").groups.clear()
    with pytest.raises(StaleState):
        plan_execute(plan.pk, now=NOW + timedelta(hours=3))


def test_a_rule_ends_after_its_last_day(world: World) -> None:
    rule = active_rule(world, until=TODAY)
    dropped_before(world)
    assert standing_plans_make(LAKE, NOW + DAY) == []
    rule.refresh_from_db()
    assert rule.state == StandingRuleState.ENDED


def test_a_rejected_rule_is_over(world: World) -> None:
    rule = standing_rule_request(LAKE, wish(), user=world.person("anna"), now=NOW)
    decide(rule, world, "bert", "REJECT")
    rule.refresh_from_db()
    assert rule.state == StandingRuleState.REJECTED


def test_who_sees_a_rule_on_its_page(world: World) -> None:
    rule = standing_rule_request(LAKE, wish(), user=world.person("anna"), now=timezone.now())
    url = f"/lifecycle/standing-rules/{rule.pk}/"
    seen = {}
    for name in ("anna", "bert", "otto", "alice", "eve"):
        client = Client()
        client.force_login(world.person(name))
        response = client.get(url)
        text = response.content.decode()
        seen[name] = (response.status_code, 'value="APPROVE"' in text, "/end/" in text)
    assert seen == {
        "anna": (200, False, True),
        "bert": (200, True, True),
        "otto": (200, False, False),
        "alice": (200, False, False),
        "eve": (404, False, False),
    }
    assert TableFinding.objects.exists()
    with pytest.raises(NotVisible):
        get_rule_for_user(rule.pk, user=world.person("eve"))
    anna = Client()
    anna.force_login(world.person("anna"))
    listed = anna.get("/lifecycle/standing-rules/").content.decode()
    assert "sales.orders" in listed
    assert "Ask for a standing rule" in listed
