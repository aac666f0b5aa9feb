"""Labels of the optimizer's states. Every page uses the same words."""

from collections.abc import Mapping

from portal.ui.frame.states import StateLook, register_states
from quality.models import Standing

LOOKS: Mapping[str, StateLook] = {
    f"PARTITION_{Standing.MISSING}": StateLook(
        "Not there", "circle-dashed", "warn", "The metastore has no partition of it yet."
    ),
    f"PARTITION_{Standing.UNREADY}": StateLook(
        "Not ready", "hourglass", "warn", "It is there, and its flag says that it is not complete."
    ),
    f"PARTITION_{Standing.READY}": StateLook("Ready", "circle-check", "good"),
    "PARTITION_GIVEN_UP": StateLook(
        "Given up", "circle-x", "quiet", "It is not checked any more after 35 days."
    ),
    "PARTITION_LATE": StateLook(
        "Late", "alarm", "bad", "It was not ready when it had to be, and is not yet."
    ),
    "PARTITION_CAME_LATE": StateLook("Came late", "clock-exclamation", "warn"),
    "HIDES": StateLook("Can hide", "eye-off", "good", "With the hook."),
    "SHOWS": StateLook("Cannot hide", "eye", "warn", "It shows what is not ready."),
}


def register_words() -> None:
    """Tell the platform the room's words."""
    register_states(LOOKS)
