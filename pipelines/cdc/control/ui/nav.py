"""Navigation entry and words of the pages of change capture."""

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from pipelines.cdc.control.selectors.numbers import troubled
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
from portal.ui.frame.states import Badge, register_badges

_LOOKS = {
    "CDC_RUNNING": Badge("Running", "circle-check", "good"),
    "CDC_LOADING": Badge("Full load", "loader-2", "busy", "Changes are captured beside it."),
    "CDC_STARTING": Badge("Starting", "clock", "quiet", "Its program has not reported yet."),
    "CDC_PAUSED": Badge("Paused", "player-pause", "warn", "Nothing is captured or applied."),
    "CDC_HELD": Badge(
        "Decision needed", "hand-stop", "warn", "A change of a table's schema waits for a person."
    ),
    "CDC_FAILED": Badge("Error", "alert-triangle", "bad", "Its page says why."),
    "CDC_SILENT": Badge(
        "No report",
        "plug-connected-x",
        "bad",
        "Is manage.py cdc_capture running?",
    ),
    "CDC_TABLE_LIVE": Badge("Live", "circle-check", "good", "Its changes are applied."),
    "CDC_TABLE_WAITING": Badge("Not applied yet", "clock", "quiet"),
    "CDC_TABLE_LOADING": Badge("Full load", "loader-2", "busy"),
    "CDC_TABLE_PAUSED": Badge(
        "Paused", "player-pause", "warn", "Its changes are captured and not applied."
    ),
    "CDC_TABLE_HELD": Badge(
        "Decision needed", "hand-stop", "warn", "Its changes are kept aside meanwhile."
    ),
    "CDC_TABLE_FAILED": Badge("Error", "alert-triangle", "bad", "Other tables go on."),
    "CDC_SCHEMA_NONE": Badge("Nothing to decide", "circle-check", "quiet"),
    "CDC_SCHEMA_WAITING": Badge("Waiting", "hand-stop", "warn", "An admin decides."),
    "CDC_SCHEMA_APPROVED": Badge("Approved", "circle-check", "good"),
    "CDC_SCHEMA_REFUSED": Badge("Refused", "ban", "bad", "Its records stay aside."),
    "CDC_TABLE_REFUSED": Badge(
        "Not captured", "ban", "bad", "What must change at the source stands beside it."
    ),
}


def troubled_card(request: HttpRequest) -> Card | None:
    """Tell admins and operators of pipelines that stand still."""
    lake = lake_or_none(request)
    if lake is None or not person(request).is_lake_staff_of(lake):
        return None
    rows = troubled(lake, now=timezone.now())
    if not rows:
        return None
    first = rows[0].pipeline
    url = reverse("pipelines:pipelines")
    return Card(
        kind="waiting",
        title="Pipelines that stand still",
        value=f"{len(rows):,}",
        url=url if len(rows) > 1 else reverse("pipelines:pipeline", args=[first.name]),
        detail=first.problem or first.apply_problem or "No report from its capture",
        icon="transform",
        tone="bad",
        order=13,
    )


def register_pages() -> None:
    """Add the navigation, the home card and the words."""
    register_home_card(troubled_card)
    register_badges(_LOOKS)
    register_entry(Entry("pipelines", "Pipelines", "transform", 85))
    added = frozenset({"pipelines:create"})
    register_page(Page("pipelines", "Pipelines", "pipelines:pipelines", 10, STAFF, also=added))
