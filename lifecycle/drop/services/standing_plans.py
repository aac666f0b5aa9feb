"""Makes plans under standing rules, and decides which of them a rule covers today.

A rule never covers the first drop of a table, more than its caps, or recently read items: such a
day's plan waits for its own approval (`lifecycle.drop.domain.standing` decides).
"""

from collections.abc import Collection
from datetime import date, datetime

from django.db import transaction
from django.db.models import Sum

from lifecycle.drop.domain import standing
from lifecycle.drop.services.plans import plan_create
from lifecycle.drop.services.standing_rules import rule_check, rule_terms, standing_rules_refresh
from lifecycle.models import (
    DropPlan,
    PlanSource,
    PlanState,
    StandingRule,
    StandingRuleState,
    TableFinding,
)
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.lake.errors import StaleState
from portal.safety.selectors import emergency_stop_state

_USED = (
    *(PlanState.APPROVED, PlanState.RUNNING, PlanState.DONE, PlanState.FAILED),
    PlanState.CANCELLED,
)


def standing_plans_make(lake: str, now: datetime) -> list[DropPlan]:
    """Have today's plans created, one a rule and day; called again the same day it adds none.

    None while the emergency stop is on: nobody looks at what such a plan would start by itself.
    """
    standing_rules_refresh(lake, now=now)
    if emergency_stop_state(lake) is not None:
        return []
    today = day_of(now, get_lake(lake).zone)
    made = []
    for rule in StandingRule.objects.filter(lake=lake, state=StandingRuleState.ACTIVE):
        due = TableFinding.objects.current(lake).filter(
            db=rule.db, table=rule.table, n_clean_now__gt=0
        )
        if due.exists() and not _plan_of_day(rule, today):
            with transaction.atomic():
                made.append(
                    plan_create(
                        lake,
                        selection={"databases": [], "tables": [f"{rule.db}.{rule.table}"]},
                        requested_by=rule.requested_by,
                        reason=f"Standing rule: {rule.reason}",
                        now=now,
                        source=PlanSource.STANDING,
                        standing_rule=rule,
                    )
                )
    return made


def _plan_of_day(rule: StandingRule, today: date) -> bool:
    zone = get_lake(rule.lake).zone
    newest = DropPlan.objects.filter(standing_rule=rule).order_by("-created_at").first()
    return newest is not None and day_of(newest.created_at, zone) >= today


def standing_decision(
    plan: DropPlan,
    share: standing.TableShare,
    *,
    dropped_before: bool,
    requesters: Collection[str],
    now: datetime,
) -> standing.StandingDecision:
    """Decide whether the plan's rule covers its only table today.

    Who is a requester of this plan, as by a change of TTL since the rule was approved, does not
    count among the rule's approvers.
    """
    rule = plan.standing_rule
    if rule is None:
        return standing.StandingDecision(covered=False, reason="The table has no standing rule.")
    try:
        rule_check(rule, also_requesters=requesters, now=now)
    except StaleState as error:
        return standing.StandingDecision(covered=False, reason=error.message)
    zone = get_lake(plan.lake).zone
    today = day_of(now, zone)
    others = [
        other.pk
        for other in DropPlan.objects.filter(
            standing_rule=rule, approval__isnull=True, state__in=_USED
        ).exclude(pk=plan.pk)
        if day_of(other.created_at, zone) == today
    ]
    used = DropPlan.objects.filter(pk__in=others, digest__gt="").aggregate(
        items=Sum("n_items"), size=Sum("n_bytes")
    )
    return standing.decide(
        rule_terms(rule),
        share,
        used=standing.UsedToday(used["items"] or 0, used["size"] or 0),
        dropped_before=dropped_before,
        today=today,
    )
