"""The demo's guided tour: an owner restores what was dropped."""

from lifecycle.core.ui.links import list_url
from portal.ui.tour import TourStep, register_tour_step


def register_tour() -> None:
    """Add the step."""
    register_tour_step(
        TourStep(
            "restore",
            "Restore it",
            "Preview what comes back, restore it, look at it, undo it.",
            "alice or an admin",
            ("alice", "ada", "ben", "cleo"),
            30,
            lambda lake: list_url("backups", lake),
            actions=("restore.requested",),
        )
    )
