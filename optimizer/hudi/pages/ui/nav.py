"""Navigation and home card of Hudi tables, and what stands above every tab of one."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from optimizer.hudi.inspect.selectors.snapshots import Seen
from optimizer.hudi.tables.selectors.tables import n_critical_tables
from optimizer.models import HudiTable
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.access.roles.domain import STAFF
from portal.ui.frame.context import lake_or_none, person

HUDI_TABS = (
    ("hudi-table", "Health"),
    ("hudi-timeline", "Timeline"),
    ("hudi-files", "File groups"),
    ("hudi-services", "Services"),
    ("hudi-tasks", "Tasks"),
    ("hudi-settings", "Policy"),
)


def register_pages() -> None:
    """Add the navigation and the home card."""
    register_page(Page("services", "Hudi tables", "optimizer:hudi-tables", 20, STAFF))
    register_home_card(hudi_card)


def hudi_card(request: HttpRequest) -> Card | None:
    """Say in how many Hudi tables of the person rows are wrong, lost or late."""
    lake = lake_or_none(request)
    if lake is None:
        return None
    n_tables = n_critical_tables(lake, person(request))
    if not n_tables:
        return None
    query = urlencode({"lake": lake, "show": "critical"})
    return Card(
        kind="number",
        title="Hudi tables with critical findings",
        value=f"{n_tables:,}",
        url=f"{reverse('optimizer:hudi-tables')}?{query}",
        detail="Their rows are wrong, lost or late until somebody acts",
        icon="alert-octagon",
        tone="bad",
        order=69,
    )


def frame_of(table: HudiTable, seen: Seen, shown: dict[str, Any]) -> dict[str, Any]:
    """Return what stands above every tab, and the tab's own."""
    return {"hudi": table, "seen": seen, "tabs": HUDI_TABS, **shown}
