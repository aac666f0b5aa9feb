"""Reads the standing rules visible to a person, and the actions open to them."""

from collections.abc import Sequence

import django_filters as filters
from django.db.models import Exists, OuterRef, QuerySet

from lifecycle.drop.selectors.plans import OWN, PlanActions
from lifecycle.models import DropPlan, StandingRule, StandingRuleState, TableFinding
from portal.access.models import User
from portal.approvals.domain import ApprovalState
from portal.approvals.models import Decision
from portal.approvals.selectors import is_requester
from portal.ui.lists.filters import ListFilter


class RuleFilter(ListFilter):
    """Rules by state and table."""

    state = filters.ChoiceFilter(choices=StandingRuleState.choices, label="State")
    db = filters.CharFilter(label="Database")
    table = filters.CharFilter(label="Table")

    class Meta:
        model = StandingRule
        fields: list[str] = []


def rules_visible(lake: str, user: User) -> QuerySet[StandingRule]:
    """Return the rules of a lake: all to admins and operators, else those of one's own tables."""
    rows = StandingRule.objects.filter(lake=lake).select_related("approval")
    if user.is_lake_keeper:
        return rows
    mine = TableFinding.objects.current(lake).for_user(user)
    return rows.filter(Exists(mine.filter(db=OuterRef("db"), table=OuterRef("table"))))


def plans_of_rule(rule: StandingRule, user: User) -> QuerySet[DropPlan]:
    """Return the plans that a rule made, newest first, as far as a person may see them."""
    return DropPlan.objects.filter(standing_rule=rule).for_user(user).order_by("-created_at")


def rule_actions(rule: StandingRule, user: User, decisions: Sequence[Decision]) -> PlanActions:
    """Say what the server would allow this person (withdraw = end the rule)."""
    live = rule.state in (StandingRuleState.PENDING, StandingRuleState.ACTIVE)
    may_end = live and (user.is_lake_admin or user.username == rule.requested_by)
    approval = rule.approval
    if approval is None or rule.state != StandingRuleState.PENDING or not user.is_lake_admin:
        return PlanActions(withdraw=may_end)
    is_own = is_requester(approval, user)
    decided = any(one.user_id == user.pk for one in decisions)
    may_approve = approval.state == ApprovalState.PENDING and not decided and not is_own
    is_open = approval.state in (ApprovalState.PENDING, ApprovalState.APPROVED)
    why = OWN if is_own else ""
    return PlanActions(may_approve, reject=is_open, withdraw=may_end, why_not=why)


def rules_to_decide(lake: str, user: User) -> list[StandingRule]:
    """Return the rules that wait for this admin."""
    if not user.is_lake_admin:
        return []
    waiting = rules_visible(lake, user).filter(state=StandingRuleState.PENDING)
    found = []
    for rule in waiting.order_by("created_at")[:200]:
        decisions = list(rule.approval.decisions.all()) if rule.approval is not None else []
        if rule_actions(rule, user, decisions).approve:
            found.append(rule)
    return found
