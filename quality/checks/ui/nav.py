"""The navigation entry and the words of checks."""

from collections.abc import Mapping

from portal.access.models import STAFF
from portal.access.registry import Page, register_page
from portal.ui.frame.states import Badge, register_badges

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


def register_pages() -> None:
    """Add the page below data readiness, and its words."""
    register_badges(BADGES)
    register_page(Page("readiness", "Checks", "readiness:checks", 30, STAFF))
