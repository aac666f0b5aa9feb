"""The columns of the lists of check sets, results and measurements."""

from django.urls import reverse

from portal.ui.lists.answers import ListSpec
from portal.ui.lists.tables import Column
from quality.checks.selectors.check_sets import HISTORY_ORDERS, RESULT_ORDERS, SET_ORDERS
from quality.models import CheckSet, RuleResult


def set_url(row: CheckSet) -> str:
    """Return the page of a table's checks."""
    return reverse("readiness:check-set", args=[row.pk])


def result_url(row: RuleResult) -> str:
    """Return the page of a rule's result."""
    return reverse("readiness:check-result", args=[row.pk])


SETS = ListSpec(
    template="readiness/checks.html",
    caption="Tables with checks",
    columns=(
        Column(key="__str__", title="Table", sort="table", url=set_url),
        Column(key="badge", title="State", kind="state"),
        Column(key="owner", title="Owner"),
        Column(key="measured_at", title="Measured", kind="ago"),
        Column(
            key="next_at",
            title="Next",
            kind="template",
            template="readiness/_cell_next_check.html",
        ),
        Column(key="problem", title="Problem", is_wide=True),
    ),
    orders=SET_ORDERS,
    filename="checks.csv",
    exports=(
        "lake", "db", "table", "owner", "badge", "is_paused", "every_minutes", "measured_at",
        "next_at", "problem", "version", "set_by", "set_at",
    ),
)  # fmt: skip
RESULTS = ListSpec(
    template="readiness/check_set.html",
    caption="Results of the rules",
    columns=(
        Column(key="rule", title="Rule", url=result_url),
        Column(key="window", title="Window", kind="code", sort="window"),
        Column(key="badge", title="Result", kind="state"),
        Column(key="severity", title="Severity"),
        Column(key="judged_at", title="Measured", kind="ago", sort="judged"),
        Column(key="text", title="Why", is_wide=True),
    ),
    orders=RESULT_ORDERS,
    filename="check-results.csv",
    exports=("rule", "window", "severity", "outcome", "value", "low", "high", "judged_at", "text"),
)
HISTORY = ListSpec(
    template="readiness/check_history.html",
    caption="What was measured",
    columns=(
        Column(key="metric", title="Metric", kind="code"),
        Column(key="window", title="Window", kind="code"),
        Column(key="value", title="Value"),
        Column(key="reason", title="No value because"),
        Column(key="measured_at", title="Measured", kind="ago", sort="measured"),
        Column(key="detail", title="Detail", is_wide=True),
    ),
    orders=HISTORY_ORDERS,
    filename="measurements.csv",
    exports=("metric", "window", "day", "value", "reason", "detail", "measured_at"),
)
