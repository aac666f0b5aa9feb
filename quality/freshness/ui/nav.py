"""Navigation entries and home cards of the optimizer."""

from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from portal.access.registry import (
    Card,
    Entry,
    Page,
    register_entry,
    register_home_card,
    register_page,
)
from portal.access.roles.domain import STAFF
from portal.ui.frame.context import lake_or_none, person
from quality.freshness.selectors.expected import n_late
from quality.freshness.ui.badges import register_state_badges


def register_pages() -> None:
    """Add the navigation, the home card and the words."""
    register_state_badges()
    register_entry(Entry("readiness", "Data readiness", "calendar-check", 90))
    register_page(Page("readiness", "Expected partitions", "readiness:awaited", 10, STAFF))
    register_page(Page("readiness", "Freshness rules (SLA)", "readiness:rules", 20, STAFF))
    register_home_card(late_card)


def late_card(request: HttpRequest) -> Card | None:
    """Tell admins and operators and owners of partitions that are late now."""
    lake = lake_or_none(request)
    if lake is None:
        return None
    n_now = n_late(lake, person(request), now=timezone.now())
    if not n_now:
        return None
    query = urlencode({"lake": lake, "late": "now"})
    return Card(
        kind="waiting",
        title="Partitions that are late",
        value=f"{n_now:,}",
        url=f"{reverse('readiness:awaited')}?{query}",
        detail="They should be ready to be read by now",
        icon="alarm",
        tone="warn",
        order=14,
    )
