"""Gauges of checks for a monitoring server. No table is named."""

from collections import Counter
from collections.abc import Iterator

from django.db.models import F

from portal.access.gauges import Gauge, Sample, register_gauge
from portal.access.lakes import all_lakes
from quality.checks.selectors.check_sets import STATES, with_badge
from quality.checks.selectors.coverage import n_without_checks
from quality.models import CheckSet


def register_gauges() -> None:
    """Add the numbers of checks to /metrics."""
    register_gauge(
        Gauge(
            "readiness_checked_tables",
            "Tables with checks, by lake and state.",
            states,
            labels=("lake", "state"),
        )
    )
    register_gauge(
        Gauge(
            "readiness_unchecked_tables",
            "Tables without any check, by lake.",
            unchecked,
            labels=("lake",),
        )
    )


def states() -> Iterator[Sample]:
    """Count tables by how their last measurement came out; each state is told also with none."""
    rows = with_badge(CheckSet.objects.order_by()).annotate(state=F("badge"))
    found = Counter(rows.values_list("lake", "state"))
    for lake in all_lakes():
        for state, _ in STATES:
            name = state.removeprefix("CHECK_").lower()
            yield {"lake": lake, "state": name}, found[lake, state]


def unchecked() -> Iterator[Sample]:
    """Count tables without any check."""
    for lake in all_lakes():
        yield {"lake": lake}, n_without_checks(lake)
