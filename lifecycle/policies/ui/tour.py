"""The demo's guided tour: an owner answers a notice."""

from lifecycle.core.ui.links import list_url
from portal.ui.tour import TourStep, register_tour_step


def register_tour() -> None:
    """Add the step."""
    register_tour_step(
        TourStep(
            "answer",
            "Answer an expiry notice",
            "Keep what is still needed, let the rest go.",
            "alice, an owner",
            ("alice",),
            10,
            lambda lake: list_url("expiring", lake, show="week"),
            actions=("hold.placed", "owner.changed", "clean_now.requested", "still_read.yes"),
        )
    )
