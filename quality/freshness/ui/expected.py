"""The page of what is expected: which partitions are ready, which are late, and why."""

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column
from quality.freshness.selectors.expected import (
    EXPECTED_ORDERS,
    ExpectedPartitionFilter,
    expected_visible,
    n_late,
)
from quality.models import ExpectedPartition


def rule_url(row: ExpectedPartition) -> str:
    """Return the page of a row's table."""
    return reverse("readiness:rule", args=[row.rule_id])


EXPECTED = ListSpec(
    template="readiness/expected.html",
    caption="Expected partitions",
    columns=(
        Column(key="spec", title="Partition", kind="code", sort="start"),
        Column(key="rule", title="Table", url=rule_url),
        Column(
            key="", title="Status", kind="template", template="readiness/_cell_standing.html"
        ),
        Column(key="due_at", title="Due", kind="ago"),
        Column(key="", title="Ready", kind="template", template="readiness/_cell_ready.html"),
        Column(
            key="late_seconds",
            title="Late by",
            kind="template",
            template="readiness/_cell_late.html",
            is_number=True,
        ),
        Column(key="reason", title="Reason", is_wide=True),
    ),
    orders=EXPECTED_ORDERS,
    filename="expected-partitions.csv",
    exports=(
        "rule.db", "rule.table", "rule.owner", "spec", "start", "end", "standing", "due_at",
        "ready_at", "ready_by", "late_seconds", "waiting_since", "reason", "is_given_up",
    ),
)  # fmt: skip


@require_GET
def expected(request: HttpRequest) -> HttpResponseBase:
    """List what is expected, as the person may see it, newest first."""
    lake, user = current_lake(request), person(request)
    filterset = ExpectedPartitionFilter(request.GET, queryset=expected_visible(lake, user))
    context = {"n_late": n_late(lake, user, now=timezone.now())}
    return list_response(request, EXPECTED, filterset=filterset, context=context)
