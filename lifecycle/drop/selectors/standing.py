"""Reads the standing rules visible to a person, and the plans that each made."""

from uuid import UUID

import django_filters as filters
from django.db.models import Exists, OuterRef, QuerySet

from lifecycle.models import DropPlan, StandingRule, StandingRuleState, TableFinding
from portal.access.models import User
from portal.lake.errors import NotVisible
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
    if user.is_lake_staff_of(lake):
        return rows
    mine = TableFinding.objects.current(lake).for_user(user)
    return rows.filter(Exists(mine.filter(db=OuterRef("db"), table=OuterRef("table"))))


def plans_of_rule(rule: StandingRule, user: User) -> QuerySet[DropPlan]:
    """Return the plans that a rule made, newest first, as far as a person may see them."""
    return DropPlan.objects.filter(standing_rule=rule).for_user(user).order_by("-created_at")


def get_rule_for_user(rule_id: UUID | str, *, user: User) -> StandingRule:
    """Return a rule that this person may see: admins and operators all, owners their tables'."""
    rule = StandingRule.objects.select_related("approval").filter(pk=rule_id).first()
    if rule is not None and not user.is_lake_staff_of(rule.lake):
        tables = TableFinding.objects.current(rule.lake).for_user(user)
        if not tables.filter(db=rule.db, table=rule.table).exists():
            rule = None
    if rule is None:
        raise NotVisible(
            "standing.missing", "There is no such standing rule, or it is not yours to see."
        )
    return rule
