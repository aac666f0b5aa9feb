"""The demo's guided tour: an operator compacts a table."""

from urllib.parse import urlencode

from django.urls import reverse

from portal.ui.tour import TourStep, register_tour_step


def register_tour() -> None:
    """Add the step."""
    register_tour_step(
        TourStep(
            "compact",
            "Compact a table",
            "See small files slow a table down, compact it, compare.",
            "otto, an operator",
            ("otto", "ada", "ben", "cleo"),
            50,
            lambda lake: f"{reverse('optimizer:tables')}?{urlencode({'lake': lake})}",
            actions=("optimizer.asked",),
        )
    )
