"""Gauges of incidents for a monitoring server. Nothing names a table."""

from collections.abc import Iterator

from django.db.models import Count

from portal.access.gauges import Gauge, Sample, register_gauge
from portal.access.lakes import all_lakes
from quality.checks.domain.rules import Severity
from quality.incidents.domain.states import UNCLOSED
from quality.models import Incident


def register_gauges() -> None:
    """Add the numbers of incidents to /metrics."""
    register_gauge(
        Gauge(
            "quality_open_incidents",
            "Incidents of checks that are not closed, by lake, severity and state.",
            unclosed,
            labels=("lake", "severity", "state"),
        )
    )


def unclosed() -> Iterator[Sample]:
    """Count what is not closed, also where there is nothing."""
    rows = Incident.objects.unclosed().order_by()
    counted = rows.values_list("lake", "severity", "state").annotate(n=Count("pk"))
    found = {(lake, severity, state): n for lake, severity, state, n in counted}
    for lake in all_lakes():
        for severity in (Severity.ALARM, Severity.BLOCK):
            for state in UNCLOSED:
                labels = {"lake": lake, "severity": severity.value, "state": state.value.lower()}
                yield labels, found.get((lake, severity.value, state.value), 0)
