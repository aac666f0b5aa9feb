"""The navigation entry, the home card and the words of incidents."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from portal.access.registry import Card, Page, register_home_card, register_page
from portal.access.roles.domain import STAFF
from portal.ui.frame.context import lake_or_none, person
from portal.ui.frame.states import Badge, register_badges
from quality.incidents.selectors.incidents import ANY_UNCLOSED, n_unclosed

BADGES: Mapping[str, Badge] = {
    "INCIDENT_OPEN": Badge("Open", "alert-triangle", "bad", "Nobody has acknowledged it."),
    "INCIDENT_ACKNOWLEDGED": Badge("Acknowledged", "user-check", "warn", "Somebody looks at it."),
    "INCIDENT_RECOVERED": Badge("Recovered", "circle-check", "good", "Closed by a measurement."),
    "INCIDENT_RESOLVED": Badge("Resolved", "checks", "good", "Closed by a person."),
    "INCIDENT_FAILING": Badge("Fails", "circle-x", "bad", "It has not passed since."),
    "INCIDENT_SETTLED": Badge(
        "Over", "circle-check", "good", "It passed when it was measured again, or was overridden."
    ),
}


def register_pages() -> None:
    """Add the page below data readiness, the home card and the words."""
    register_badges(BADGES)
    register_page(Page("readiness", "Incidents", "readiness:incidents", 25, STAFF))
    register_home_card(incidents_card)


def incidents_card(request: HttpRequest) -> Card | None:
    """Tell people of incidents of their tables that are not closed."""
    lake = lake_or_none(request)
    if lake is None:
        return None
    n_now = n_unclosed(lake, person(request))
    if not n_now:
        return None
    query = urlencode({"lake": lake, "state": ANY_UNCLOSED})
    return Card(
        kind="waiting",
        title="Open incident" if n_now == 1 else "Open incidents",
        value=f"{n_now:,}",
        url=f"{reverse('readiness:incidents')}?{query}",
        detail="Checks that do not pass",
        icon="alert-triangle",
        tone="bad",
        order=13,
    )
