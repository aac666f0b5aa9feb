"""The demo's guided tour: an operator repairs a cache."""

from portal.ui.tour import TourStep, register_tour_step
from refresh.freshness.ui.nav import list_url


def register_tour() -> None:
    """Add the step."""
    register_tour_step(
        TourStep(
            "repair",
            "Repair a stale cache",
            "A program overwrites live.readings all the time: see each front end, repair one.",
            "otto, an operator",
            ("otto", "ada", "ben", "cleo"),
            40,
            lambda lake: list_url("tables", lake, table="readings"),
            actions=("refresh.asked", "refresh.repair_asked"),
        )
    )
