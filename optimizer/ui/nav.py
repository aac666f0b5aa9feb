"""Which entries and home card does the room have?"""

from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from optimizer.domain.bands import HealthBand
from optimizer.selectors.hudi_tables import n_critical_tables
from optimizer.selectors.removals import removals_to_decide
from optimizer.selectors.tables import n_poor
from optimizer.selectors.tasks import requesters_of_runs
from optimizer.ui.hudi_words import register_hudi_words
from optimizer.ui.words import register_words
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.lake.errors import NotVisible
from portal.ui.frame import current_lake, person
from portal.ui.run_steps import register_run_cause
from portal.ui.templatetags.lw import human_bytes

SECTION = "File health"


def register_pages() -> None:
    """Add the navigation, the home card and the words."""
    register_words()
    register_hudi_words()
    register_run_cause(requesters_of_runs)
    register_page(Page(SECTION, "Iceberg tables", "optimizer:tables", "snowflake", 60))
    register_page(Page(SECTION, "Hudi tables", "optimizer:hudi-tables", "timeline-event", 61))
    register_page(Page(SECTION, "Optimizer queue", "optimizer:queue", "list-details", 62))
    register_page(Page(SECTION, "Removals", "optimizer:removals", "clipboard-check", 63))
    register_page(Page(SECTION, "Optimizer policies", "optimizer:policies", "adjustments", 64))
    register_home_card(poor_card)
    register_home_card(hudi_card)
    register_home_card(removals_card)


def poor_card(request: HttpRequest) -> Card | None:
    """Say how many tables of the person are in poor health, where there is one."""
    try:
        lake = current_lake(request)
    except NotVisible:
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


def hudi_card(request: HttpRequest) -> Card | None:
    """Say in how many Hudi tables of the person rows are wrong, lost or late."""
    try:
        lake = current_lake(request)
    except NotVisible:
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


def removals_card(request: HttpRequest) -> Card | None:
    """Tell an admin of lists of what would be removed that wait for them."""
    try:
        lake = current_lake(request)
    except NotVisible:
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
