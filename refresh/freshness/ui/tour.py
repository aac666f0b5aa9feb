"""The demo's guided tour: an operator repairs a cache."""

from portal.ui.tour import TourStep, register_tour_step
from refresh.freshness.ui.nav import list_url


def register_tour() -> None:
    """Add the step."""
    register_tour_step(
        TourStep(
            "repair",
            "Repair a stale cache",
            "Find the front end that answers with old data, refresh the table.",
            "otto, an operator",
            40,
            lambda lake: list_url("tables", lake),
            actions=("refresh.asked", "refresh.repair_asked"),
        )
    )
