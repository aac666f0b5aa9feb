"""Labels of the optimizer's states. Every page uses the same words."""

from collections.abc import Mapping

from portal.ui.frame.states import StateLook, register_states
from refresh.freshness.domain.freshness import Freshness
from refresh.models import Ending

LOOKS: Mapping[str, StateLook] = {
    Freshness.FRESH: StateLook("Fresh", "circle-check", "good", "Every known change is loaded."),
    Freshness.STALE: StateLook("Stale", "clock-exclamation", "warn", "It changed since."),
    Freshness.DIVERGED: StateLook(
        "Diverged", "git-fork", "bad", "A probe saw something else than the metastore has."
    ),
    Freshness.COLD: StateLook("Cold", "snowflake", "info", "It restarted, with empty caches."),
    "NOT_MAINTAINED": StateLook(
        "Not maintained", "player-pause", "quiet", "Auto-refresh is off: nobody refreshes it."
    ),
    "DANGER_WRONG": StateLook(
        "Stale results possible",
        "alert-octagon",
        "bad",
        "A partition was written again, and queries may still get what was there before.",
    ),
    "DANGER_INCOMPLETE": StateLook(
        "New data is missing", "circle-dashed", "warn", "What is new is not seen yet."
    ),
    "DANGER_NONE": StateLook("Results are current", "circle-check", "good"),
    "DANGER_UNKNOWN": StateLook(
        "Not known", "help-circle", "quiet", "Nothing proves what queries get."
    ),
    Ending.PARTIAL: StateLook(
        "Done in part", "circle-half-2", "warn", "Some front ends missed it and are asked again."
    ),
    Ending.LOST: StateLook(
        "Outcome unknown",
        "help-circle",
        "quiet",
        "Its worker ended first; the statement is sent again.",
    ),
    "NOT_ASKED": StateLook(
        "Not asked", "ban", "quiet", "The coordinator failed before it asked the others."
    ),
    "CAUSE_EVENT": StateLook("Event", "bell", "quiet", "The metastore reported a change."),
    "CAUSE_HOOK": StateLook("Job", "plug", "quiet", "A job reported a write."),
    "CAUSE_SWEEP": StateLook("Sweep", "radar-2", "quiet", "The portal found it in a check."),
    "CAUSE_PERSON": StateLook("Person", "user", "quiet", "Somebody asked for it on its page."),
    "LANE_NEW": StateLook("Not planned yet", "clock", "quiet"),
    "LANE_FAST": StateLook("Fast", "bolt", "quiet"),
    "LANE_SLOW": StateLook("Slow", "hourglass", "quiet"),
    "LANE_GIANT": StateLook("Large", "building-warehouse", "quiet", "Leaves room for all others."),
}


def register_words() -> None:
    """Tell the kit how the room's states look."""
    register_states({str(state): look for state, look in LOOKS.items()})
