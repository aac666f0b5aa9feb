"""Navigation and home card of Iceberg tables."""

from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from optimizer.core.domain.bands import HealthBand
from optimizer.iceberg.tables.selectors.tables import n_poor
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.access.roles.domain import STAFF
from portal.ui.frame.context import lake_or_none, person


def register_pages() -> None:
    """Add the navigation and the home card."""
    register_page(Page("services", "Iceberg tables", "optimizer:tables", 10, STAFF))
    register_home_card(poor_card)


def poor_card(request: HttpRequest) -> Card | None:
    """Say how many tables of the person are in poor health, where there is one."""
    lake = lake_or_none(request)
    if lake is None:
        return None
    n_tables = n_poor(lake, person(request))
    if not n_tables:
        return None
    query = urlencode({"lake": lake, "band": HealthBand.POOR})
    return Card(
        kind="number",
        title="Iceberg tables in poor health",
        value=f"{n_tables:,}",
        url=f"{reverse('optimizer:tables')}?{query}",
        detail="Small files or delete files slow their queries down",
        icon="heart-broken",
        tone="warn",
        order=70,
    )
