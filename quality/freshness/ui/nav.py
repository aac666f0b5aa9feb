"""Navigation entries and home cards of the optimizer."""

from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from portal.access.registry import Card, Page, register_home_card, register_page
from portal.ui.frame.context import lake_or_none, person
from quality.freshness.selectors.awaited import n_late
from quality.freshness.ui.badges import register_state_badges

SECTION = "Data readiness"


def register_pages() -> None:
    """Add the navigation, the home card and the words."""
    register_state_badges()
    register_page(Page(SECTION, "Expected partitions", "readiness:awaited", "calendar-time", 66))
    register_page(Page(SECTION, "Freshness rules (SLA)", "readiness:rules", "alarm", 67))
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
