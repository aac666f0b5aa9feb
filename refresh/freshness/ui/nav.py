"""Navigation and home card of tables and their freshness."""

from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from portal.access.registry import Card, Page, register_home_card, register_page
from portal.access.roles.domain import STAFF
from portal.ui.frame.context import lake_or_none, person
from refresh.freshness.domain.freshness import Danger
from refresh.freshness.selectors.tables import n_wrong


def register_pages() -> None:
    """Add the navigation and the home card."""
    register_page(Page("refresh", "Cached tables", "refresh:tables", 20, STAFF))
    register_home_card(wrong_card)


def list_url(name: str, lake: str, **query: str) -> str:
    """Return a list of the room under its filter."""
    return f"{reverse(f'refresh:{name}')}?{urlencode({'lake': lake, **query})}"


def wrong_card(request: HttpRequest) -> Card | None:
    """Notify people of tables on which queries may be answered wrongly now."""
    lake = lake_or_none(request)
    if lake is None:
        return None
    n_tables = n_wrong(lake, person(request))
    if not n_tables:
        return None
    return Card(
        kind="waiting",
        title="Tables with stale results",
        value=f"{n_tables:,}",
        url=list_url("tables", lake, danger=Danger.WRONG),
        detail="Partitions were written again and StarRocks may still give what was there before",
        icon="alert-octagon",
        tone="bad",
        order=5,
    )
