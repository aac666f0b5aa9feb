"""The columns of the lists of check sets, results and measurements."""

from django.urls import reverse

from portal.catalog.models import Table
from portal.ui.lists.answers import ListSpec
from portal.ui.lists.tables import Column
from portal.ui.tables.addresses import table_url
from quality.checks.selectors.check_sets import HISTORY_ORDERS, RESULT_ORDERS, SET_ORDERS
from quality.checks.selectors.coverage import COVERAGE_ORDERS
from quality.models import CheckSet, CheckTrial, RuleResult


def set_url(row: CheckSet) -> str:
    """Return the page of a table's checks."""
    return reverse("readiness:check-set", args=[row.pk])


def result_url(row: RuleResult) -> str:
    """Return the page of a rule's result."""
    return reverse("readiness:check-result", args=[row.pk])


def rule_url(row: CheckSet, rule: str) -> str:
    """Return the page of a rule."""
    return reverse("readiness:check-rule", args=[row.pk, rule])


def trial_url(row: CheckTrial) -> str:
    """Return the page of a trial."""
    return reverse("readiness:check-trial", args=[row.pk])


def _table_url(row: Table) -> str:
    return table_url(row.lake, row.db, row.name)


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
OF_RULE = ListSpec(
    template="readiness/check_rule.html",
    caption="Results of the rule",
    columns=(
        Column(key="window", title="Window", kind="code", sort="window", url=result_url),
        Column(key="badge", title="Result", kind="state"),
        Column(key="judged_at", title="Measured", kind="ago", sort="judged"),
        Column(key="text", title="Why", is_wide=True),
    ),
    orders=RESULT_ORDERS,
    filename="check-rule.csv",
    exports=RESULTS.exports,
)
COVERAGE = ListSpec(
    template="readiness/check_coverage.html",
    caption="Tables without checks",
    columns=(
        Column(key="__str__", title="Table", sort="table", url=_table_url),
        Column(key="format", title="Format"),
        Column(key="owner", title="Owner"),
        Column(key="first_seen_at", title="First seen", kind="ago", shown_from="tablet"),
        Column(key="", title="Checks", kind="template", template="readiness/_cell_propose.html"),
    ),
    orders=COVERAGE_ORDERS,
    filename="tables-without-checks.csv",
    exports=("lake", "db", "name", "format", "owner", "db_owner", "first_seen_at"),
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
        Column(key="commit", title="Commit", kind="code", shown_from="tablet"),
        Column(key="detail", title="Detail", is_wide=True),
    ),
    orders=HISTORY_ORDERS,
    filename="measurements.csv",
    exports=("metric", "window", "day", "value", "reason", "detail", "commit", "measured_at"),
)
