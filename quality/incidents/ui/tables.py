"""The columns of the list of incidents."""

from django.urls import reverse

from portal.ui.lists.answers import ListSpec
from portal.ui.lists.tables import Column
from quality.incidents.selectors.incidents import ORDERS
from quality.models import Incident


def incident_url(row: Incident) -> str:
    """Return the page of an incident."""
    return reverse("readiness:incident", args=[row.pk])


INCIDENTS = ListSpec(
    template="readiness/incidents.html",
    caption="Incidents of checks",
    columns=(
        Column(key="rule_words", title="Rule", url=incident_url),
        Column(key="table_name", title="Table"),
        Column(key="badge", title="State", kind="state"),
        Column(key="severity", title="Severity"),
        Column(key="assigned_to", title="Assigned to"),
        Column(key="n_windows", title="Windows", kind="count", shown_from="tablet"),
        Column(key="opened_at", title="Opened", kind="ago", sort="opened"),
        Column(key="failed_at", title="Failed last", kind="ago", sort="failed"),
        Column(key="text", title="Why", is_wide=True, shown_from="desktop"),
    ),
    orders=ORDERS,
    filename="incidents.csv",
    exports=(
        "id", "lake", "db", "table", "rule_words", "severity", "state", "team", "assignee",
        "n_windows", "n_failures", "opened_at", "failed_at", "acknowledged_by", "acknowledged_at",
        "closed_at", "closed_by", "resolution", "reason", "text",
    ),
)  # fmt: skip
