"""The navigation entry, the home card and the words of checks."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from portal.access.registry import Card, Page, register_home_card, register_page
from portal.access.roles.domain import STAFF
from portal.lake.counts import count_words
from portal.ui.frame.context import lake_or_none, person
from portal.ui.frame.states import Badge, register_badges
from quality.checks.selectors.check_sets import n_failing
from quality.checks.selectors.coverage import tables_without_checks

BADGES: Mapping[str, Badge] = {
    "CHECK_PASSED": Badge("Passed", "circle-check", "good"),
    "CHECK_FAILED": Badge("Failed", "circle-x", "bad", "A value is outside of its bounds."),
    "CHECK_UNKNOWN": Badge(
        "Not judged", "hourglass", "warn", "There is no value, or nothing to compare it with."
    ),
    "CHECK_PROBLEM": Badge(
        "Not measured", "alert-circle", "bad", "The last measurement of the table failed."
    ),
    "CHECK_NEW": Badge("Never measured", "circle-dashed", "quiet"),
}

_COUNTED = 1_000
"""Home counts no further."""


def register_pages() -> None:
    """Add the page below data readiness, the home card, and the words."""
    register_badges(BADGES)
    register_page(Page("readiness", "Checks", "readiness:checks", 30, STAFF))
    register_home_card(failing_card)


def failing_card(request: HttpRequest) -> Card | None:
    """Tell people of their tables whose checks fail, and how many tables have none."""
    lake = lake_or_none(request)
    if lake is None:
        return None
    user = person(request)
    n_failed = n_failing(lake, user)
    if not n_failed:
        return None
    n_without = tables_without_checks(lake, user)[:_COUNTED].count()
    without = count_words(n_without, "table") if n_without < _COUNTED else f"{_COUNTED:,} or more"
    query = urlencode({"lake": lake, "state": "CHECK_FAILED"})
    return Card(
        kind="waiting",
        title="Tables whose checks fail",
        value=f"{n_failed:,}",
        url=f"{reverse('readiness:checks')}?{query}",
        detail=f"{without} without any check",
        icon="circle-x",
        tone="bad",
        order=15,
    )
