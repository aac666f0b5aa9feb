"""The demo's guided tour: admins approve a drop."""

from lifecycle.core.ui.links import list_url
from portal.ui.tour import TourStep, register_tour_step


def register_tour() -> None:
    """Add the step."""
    register_tour_step(
        TourStep(
            "drop",
            "Approve a drop",
            "Create a new plan as ada; two other admins approve what it holds.",
            "ada, then ben and cleo",
            ("ada", "ben", "cleo"),
            20,
            lambda lake: list_url("plans", lake),
            actions=("approval.approved",),
        )
    )
