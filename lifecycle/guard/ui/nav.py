"""Navigation entries, labels and home card of the guard."""

from django.http import HttpRequest

from lifecycle.core.ui.links import list_url
from lifecycle.guard.domain import Outcome
from lifecycle.guard.selectors import policy_events_visible
from portal.access.registry import GEAR, Card, Page, register_home_card, register_page
from portal.access.roles.domain import STAFF
from portal.catalog.services.registry import register_trace_link
from portal.ui.frame.context import lake_or_none, person
from portal.ui.frame.states import Badge, register_badges

SHOWN_AT_MOST = 100
BADGES = {
    Outcome.CHANGED.value: Badge("Changed", "circle-check", "good", "By a lifecycle admin."),
    Outcome.WOULD_REFUSE.value: Badge(
        "Would be refused", "alert-triangle", "bad", "It happened: the guard is in audit mode."
    ),
    Outcome.WARNED.value: Badge("Warned", "route-off", "warn", "A path rule that only warns."),
    Outcome.REFUSED.value: Badge("Refused", "shield-check", "info", "It did not happen."),
    Outcome.REPLACED.value: Badge(
        "Replaced", "replace", "bad", "Dropped and created again with another LEVEL or TTL."
    ),
    Outcome.UNSEEN.value: Badge(
        "Unseen", "eye-off", "bad", "LEVEL or TTL changed and the guard did not see it."
    ),
}


def register_pages() -> None:
    """Add the navigation, the words and the home card."""
    register_badges(BADGES)
    register_page(Page("backups", "Dropped objects", "lifecycle:dropped", 40))
    register_page(Page(GEAR, "Policy alarms", "lifecycle:policy-alarms", 80, STAFF))
    register_home_card(alarms_card)
    register_trace_link(dropped_link)


def dropped_link(lake: str, db: str, table: str) -> tuple[str, str]:
    """Return the list of dropped objects under a table's name."""
    return "Dropped objects of this name", list_url("dropped", lake, db=db, table=table)


def alarms_card(request: HttpRequest) -> Card | None:
    """Tell an admin of policy alarms that nobody has closed."""
    user = person(request)
    lake = lake_or_none(request)
    if lake is None:
        return None
    if not user.is_lake_admin_of(lake):
        return None
    rows = policy_events_visible(lake, user).filter(is_alarm=True, closed_at=None)
    opened = list(rows.order_by("-at")[:SHOWN_AT_MOST])
    if not opened:
        return None
    return Card(
        kind="waiting",
        title="Policy alarms",
        value=f"{len(opened):,}" if len(opened) < SHOWN_AT_MOST else f"{SHOWN_AT_MOST:,}+",
        url=list_url("policy-alarms", lake, open="yes"),
        detail=f"the newest on {opened[0]} by {opened[0].actor or 'nobody knows whom'}",
        icon="shield-exclamation",
        tone="bad",
        order=12,
    )
