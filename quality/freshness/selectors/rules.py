"""Queries of visible rules, and of the status of a table's partitions against its deadline."""

import django_filters as filters
from django.db.models import QuerySet

from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter, prefix
from quality.models import ExpectedPartition, FreshnessRule

RULE_ORDERS = {"table": ("db", "table"), "-table": ("-db", "-table")}
PICTURED = 60


class RuleFilter(ListFilter):
    """Rules by database and table."""

    db = prefix("db", "Database")
    table = prefix("table", "Table")
    sets = filters.ChoiceFilter(
        choices=[("rule", "A rule too"), ("said", "People and jobs only")],
        label="Marked ready by",
        empty_label="Any",
        method="filter_sets",
    )

    class Meta:
        model = FreshnessRule
        fields: list[str] = []

    def filter_sets(
        self, rows: QuerySet[FreshnessRule], name: str, value: str
    ) -> QuerySet[FreshnessRule]:
        """Keep those of which a rule says ready, or the others."""
        none = {"delay_minutes": None, "min_rows": None, "min_files": None}
        return rows.filter(**none) if value == "said" else rows.exclude(**none)


def rules_visible(lake: str, user: User) -> QuerySet[FreshnessRule]:
    """Return the rules of a lake that the person may see."""
    return FreshnessRule.objects.for_user(user).filter(lake=lake)


def get_rule_for_user(rule_id: int, user: User) -> FreshnessRule:
    """Return one rule.

    Raises:
        NotVisible: there is none for this person.
    """
    found = FreshnessRule.objects.for_user(user).filter(pk=rule_id).first()
    if found is None:
        raise NotVisible("readiness.rule", "There is no such table for you.", rule=rule_id)
    return found


def recent_activity_of(rule: FreshnessRule) -> list[ExpectedPartition]:
    """Return the last periods of one table, newest first."""
    return list(rule.expected.order_by("-start")[:PICTURED])
