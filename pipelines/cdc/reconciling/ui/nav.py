"""Words and the home card of comparisons."""

from django.http import HttpRequest
from django.urls import reverse

from pipelines.cdc.reconciling.selectors.comparisons import differing
from portal.access.registry import Card, register_home_card
from portal.ui.frame.context import lake_or_none, person
from portal.ui.frame.states import Badge, register_badges

_LOOKS = {
    "CDC_COMPARED_EQUAL": Badge("Equal", "circle-check", "good"),
    "CDC_COMPARED_DIFFERENT": Badge(
        "Different", "alert-triangle", "bad", "The lake has other rows than the source."
    ),
    "CDC_COMPARED_SKIPPED": Badge("Not compared", "clock", "quiet", "Its page says why."),
    "CDC_COMPARED_FAILED": Badge("Error", "alert-circle", "warn", "Its page says why."),
}


def differing_card(request: HttpRequest) -> Card | None:
    """Tell admins and operators of captured tables that differ from their source."""
    lake = lake_or_none(request)
    if lake is None or not person(request).is_lake_staff_of(lake):
        return None
    rows = list(differing(lake)[:100])
    if not rows:
        return None
    table = rows[0].captured
    return Card(
        kind="waiting",
        title="Captured tables that differ",
        value=f"{len(rows):,}",
        url=reverse("pipelines:table-comparisons", args=[table.pipeline.name, table.pk]),
        detail=f"{table} differs from its source",
        icon="git-compare",
        tone="bad",
        order=14,
    )


def register_pages() -> None:
    """Add the home card and the words."""
    register_home_card(differing_card)
    register_badges(_LOOKS)
