"""Navigation and home card of removals."""

from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from optimizer.core.ui.words import SECTION
from optimizer.removals.selectors import removals_to_decide
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.ui.frame.context import lake_or_none, person
from portal.ui.templatetags.lw import human_bytes


def register_pages() -> None:
    """Add the navigation and the home card."""
    register_page(Page(SECTION, "Removals", "optimizer:removals", "clipboard-check", 63))
    register_home_card(removals_card)


def removals_card(request: HttpRequest) -> Card | None:
    """Tell an admin of lists of what would be removed that wait for them."""
    lake = lake_or_none(request)
    if lake is None:
        return None
    waiting = removals_to_decide(lake, person(request), now=timezone.now())
    if not waiting:
        return None
    query = urlencode({"lake": lake, "state": "PENDING"})
    return Card(
        kind="waiting",
        title="Removals from tables to decide",
        value=f"{len(waiting):,}",
        url=f"{reverse('optimizer:removals')}?{query}",
        detail=f"{human_bytes(sum(one.n_bytes for one in waiting))} would be freed",
        icon="clipboard-check",
        tone="warn",
        order=12,
    )
