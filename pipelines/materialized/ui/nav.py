"""The navigation entry and the words of materializations."""

from collections.abc import Mapping

from portal.access.registry import Page, register_page
from portal.access.roles.domain import STAFF
from portal.ui.frame.states import Badge, register_badges

BADGES: Mapping[str, Badge] = {
    "MATERIALIZED_FRESH": Badge("Refreshed", "circle-check", "good"),
    "MATERIALIZED_NEW": Badge("Not computed yet", "circle-dashed", "quiet"),
    "MATERIALIZED_PAUSED": Badge("Paused", "player-pause", "warn"),
    "MATERIALIZED_PROBLEM": Badge(
        "Not refreshed", "alert-circle", "bad", "The last refresh failed; its page says why."
    ),
    "MATERIALIZATION_ADVICE_NEW": Badge("New", "bulb", "warn", "Waits for somebody's decision."),
    "MATERIALIZATION_ADVICE_APPLIED": Badge("Applied", "circle-check", "good"),
    "MATERIALIZATION_ADVICE_ROLLED_BACK": Badge(
        "Taken back", "arrow-back-up", "quiet", "The materialization did not pay; it is paused."
    ),
    "MATERIALIZATION_ADVICE_DISMISSED": Badge("Dismissed", "ban", "quiet"),
    "MATERIALIZATION_ADVICE_OUTDATED": Badge(
        "Outdated", "circle-dashed", "quiet", "The queries of the last weeks do not ask for it."
    ),
    "REFRESH_INCREMENTAL": Badge("By changes", "circle-check", "good"),
    "REFRESH_FULL": Badge("In full", "database", "quiet"),
    "REFRESH_NOTHING": Badge("Nothing to do", "circle-dashed", "quiet"),
    "REFRESH_FAILED": Badge("Failed", "circle-x", "bad"),
}


def register_pages() -> None:
    """Add the page and the words."""
    register_badges(BADGES)
    added = frozenset({"pipelines:materialization-new", "pipelines:materialization-advice"})
    register_page(
        Page("pipelines", "Materializations", "pipelines:materializations", 40, STAFF, also=added)
    )
