"""Labels of the optimizer's states. Every page uses the same words."""

from collections.abc import Mapping

from portal.ui.frame.states import Badge, register_badges
from quality.models import FreshnessStatus

BADGES: Mapping[str, Badge] = {
    f"PARTITION_{FreshnessStatus.MISSING}": Badge(
        "Not there", "circle-dashed", "warn", "The metastore has no partition of it yet."
    ),
    f"PARTITION_{FreshnessStatus.UNREADY}": Badge(
        "Not ready", "hourglass", "warn", "It is there, and its flag says that it is not complete."
    ),
    f"PARTITION_{FreshnessStatus.READY}": Badge("Ready", "circle-check", "good"),
    "PARTITION_GIVEN_UP": Badge(
        "Given up", "circle-x", "quiet", "It is not checked any more after 35 days."
    ),
    "PARTITION_LATE": Badge(
        "Late", "alarm", "bad", "It was not ready when it had to be, and is not yet."
    ),
    "PARTITION_CAME_LATE": Badge("Came late", "clock-exclamation", "warn"),
    "HIDES": Badge("Can hide", "eye-off", "good", "With the hook."),
    "SHOWS": Badge("Cannot hide", "eye", "warn", "It shows what is not ready."),
}


def register_state_badges() -> None:
    """Tell the platform the room's words."""
    register_badges(BADGES)
