"""Labels of the optimizer's states. Every page uses the same words."""

from collections.abc import Mapping

from portal.ui.frame.states import Badge, register_badges
from refresh.freshness.domain.freshness import Freshness
from refresh.models import RefreshOutcome

BADGES: Mapping[str, Badge] = {
    Freshness.FRESH: Badge("Fresh", "circle-check", "good", "Every known change is loaded."),
    Freshness.STALE: Badge("Stale", "clock-exclamation", "warn", "It changed since."),
    Freshness.DIVERGED: Badge(
        "Diverged", "git-fork", "bad", "A probe saw something else than the metastore has."
    ),
    Freshness.COLD: Badge("Cold", "snowflake", "info", "It restarted, with empty caches."),
    "NOT_MAINTAINED": Badge(
        "Not maintained", "player-pause", "quiet", "Auto-refresh is off: nobody refreshes it."
    ),
    "DANGER_WRONG": Badge(
        "Stale results possible",
        "alert-octagon",
        "bad",
        "A partition was written again, and queries may still get what was there before.",
    ),
    "DANGER_INCOMPLETE": Badge(
        "New data is missing", "circle-dashed", "warn", "What is new is not seen yet."
    ),
    "DANGER_NONE": Badge("Results are current", "circle-check", "good"),
    "DANGER_UNKNOWN": Badge(
        "Not known", "help-circle", "quiet", "Nothing proves what queries get."
    ),
    RefreshOutcome.PARTIAL: Badge(
        "Done in part", "circle-half-2", "warn", "Some front ends missed it and are asked again."
    ),
    RefreshOutcome.LOST: Badge(
        "Outcome unknown",
        "help-circle",
        "quiet",
        "Its worker ended first; the statement is sent again.",
    ),
    "NOT_ASKED": Badge(
        "Not asked", "ban", "quiet", "The coordinator failed before it asked the others."
    ),
    "CAUSE_EVENT": Badge("Event", "bell", "quiet", "The metastore reported a change."),
    "CAUSE_HOOK": Badge("Job", "plug", "quiet", "A job reported a write."),
    "CAUSE_SWEEP": Badge("Sweep", "radar-2", "quiet", "The portal found it in a check."),
    "CAUSE_PERSON": Badge("Person", "user", "quiet", "Somebody asked for it on its page."),
    "LANE_NEW": Badge("Not planned yet", "clock", "quiet"),
    "LANE_FAST": Badge("Fast", "bolt", "quiet"),
    "LANE_SLOW": Badge("Slow", "hourglass", "quiet"),
    "LANE_GIANT": Badge("Large", "building-warehouse", "quiet", "Leaves room for all others."),
}


def register_state_badges() -> None:
    """Tell the kit how the room's states look."""
    register_badges({str(state): look for state, look in BADGES.items()})
