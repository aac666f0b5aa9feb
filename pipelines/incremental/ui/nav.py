"""The navigation entry, the home card and the words of layers."""

from collections.abc import Mapping

from django.http import HttpRequest
from django.urls import reverse

from pipelines.incremental.selectors.layers import troubled
from pipelines.incremental.ui.schema_requests import requests_card
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.access.roles.domain import STAFF
from portal.ui.frame.context import lake_or_none, person
from portal.ui.frame.states import Badge, register_badges

BADGES: Mapping[str, Badge] = {
    "LAYER_CURRENT": Badge("Up to date", "circle-check", "good"),
    "LAYER_NEW": Badge("Not advanced yet", "clock", "quiet"),
    "LAYER_BEHIND": Badge(
        "Behind", "hourglass", "quiet", "An older commit of a source was still being written."
    ),
    "LAYER_LATE": Badge("Late", "hourglass", "warn", "It was not advanced for three intervals."),
    "LAYER_PAUSED": Badge("Paused", "player-pause", "warn"),
    "LAYER_HELD": Badge(
        "Decision needed", "hand-stop", "warn", "Columns of a source changed; an admin decides."
    ),
    "LAYER_FAILED": Badge("Error", "alert-triangle", "bad", "Its page says why."),
    "LAYER_ADVANCE_DONE": Badge("Advanced", "circle-check", "good"),
    "LAYER_ADVANCE_UNCHANGED": Badge("Nothing new", "circle-dashed", "quiet"),
    "LAYER_ADVANCE_HELD": Badge("Held", "hand-stop", "warn"),
    "LAYER_ADVANCE_FAILED": Badge("Error", "alert-triangle", "bad"),
}


def troubled_card(request: HttpRequest) -> Card | None:
    """Tell admins and operators of layers that do not advance."""
    lake = lake_or_none(request)
    if lake is None or not person(request).is_lake_staff_of(lake):
        return None
    rows = troubled(lake)
    if not rows:
        return None
    first = rows[0]
    url = (
        reverse("pipelines:layers")
        if len(rows) > 1
        else reverse("pipelines:layer", args=[first.pk])
    )
    return Card(
        kind="waiting",
        title="Layers that do not advance",
        value=f"{len(rows):,}",
        url=url,
        detail=first.problem or "It was not advanced for three intervals.",
        icon="stack-2",
        tone="bad",
        order=14,
    )


def register_pages() -> None:
    """Add the pages below the pipelines, the card, and the words."""
    register_badges(BADGES)
    register_home_card(troubled_card)
    register_home_card(requests_card)
    register_page(Page("pipelines", "Layers", "pipelines:layers", 30, STAFF))
