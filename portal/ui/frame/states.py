"""Word, icon and colour of each state. Mails, pages and the API use the same word.

The platform's states are here; a room adds its own with `register_states` when it registers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "info", "busy", "warn", "bad", "quiet"]


@dataclass(frozen=True)
class Badge:
    """How one state looks: its word, its icon (Tabler's name) and its tone."""

    word: str
    icon: str
    tone: Tone
    help: str = ""


_LOOKS: dict[str, Badge] = {
    "QUEUED": Badge("Queued", "clock", "quiet", "Waits for a worker."),
    "CLAIMED": Badge("Claimed", "hand-grab", "busy", "A worker has taken it."),
    "SUBMITTING": Badge("Submitting", "upload", "busy", "The Spark application is starting."),
    "RUNNING": Badge("Running", "loader-2", "busy"),
    "SETTLING": Badge("Settling", "checks", "busy", "What happened is being checked."),
    "DONE": Badge("Done", "circle-check", "good"),
    "FAILED": Badge("Failed", "alert-circle", "bad"),
    "CANCELLED": Badge("Cancelled", "ban", "quiet"),
    "PENDING": Badge("Waiting for approval", "hourglass", "warn"),
    "APPROVED": Badge("Approved", "circle-check", "good"),
    "REJECTED": Badge("Rejected", "circle-x", "bad"),
    "LAPSED": Badge("Expired", "clock-off", "quiet", "Nobody decided in time."),
    "WITHDRAWN": Badge("Withdrawn", "arrow-back-up", "quiet"),
    "USED": Badge("Used", "check", "quiet"),
    "SENDING": Badge("Sending", "send", "busy"),
    "SENT": Badge("Sent", "mail-check", "good"),
    "DROPPED": Badge("In backup", "archive", "info", "Dropped; can be restored."),
    "RESTORED": Badge("Restored", "restore", "good"),
    "UNDONE": Badge("Undone", "arrow-back-up", "quiet"),
    "PARTLY_RESTORED": Badge("Partly restored", "restore", "warn"),
    "PURGING": Badge("Being purged", "trash-x", "bad", "Cannot be restored any more."),
    "PURGED": Badge("Purged", "trash-off", "bad", "Gone for good."),
    "RED_BUTTON_ON": Badge("On", "hand-stop", "bad"),
    "RED_BUTTON_OFF": Badge("Off", "circle-check", "good"),
    "ANSWERS": Badge("OK", "circle-check", "good"),
    "SILENT": Badge("Silent", "alert-circle", "bad", "It does not answer, or it is not there."),
    "HERE": Badge("Active", "user-check", "good"),
    "LEFT": Badge("Disabled", "user-off", "warn", "Cannot sign in, and gets no mail."),
    "LIVE": Badge("Active", "key", "good"),
    "EXPIRED": Badge("Expired", "clock-off", "quiet", "Its last day is over."),
    "ENDED": Badge("Ended", "player-stop", "quiet"),
    "TABLE_OK": Badge("Healthy", "heart-check", "good", "Every part of it is in order."),
    "TABLE_UNKNOWN": Badge("Health unknown", "help-circle", "quiet", "A part was not read yet."),
    "TABLE_WARN": Badge("Needs attention", "alert-triangle", "warn", "As its worst part."),
    "TABLE_BAD": Badge("In poor health", "heart-broken", "bad", "As its worst part."),
    "PART_OK": Badge("OK", "circle-check", "good"),
    "PART_UNKNOWN": Badge("Unknown", "help-circle", "quiet"),
    "PART_WARN": Badge("Warning", "alert-triangle", "warn"),
    "PART_BAD": Badge("Bad", "alert-circle", "bad"),
    "REPORTED": Badge("Reported", "flag", "warn", "Left alone; see its run."),
}


def register_badges(looks: Mapping[str, Badge]) -> None:
    """Add a room's states; a state that is known must look the same."""
    for state, look in looks.items():
        if _LOOKS.get(state, look) != look:
            raise ValueError(f"state {state} is shown as {_LOOKS[state]} already")
        _LOOKS[state] = look


def badge_for(state: str) -> Badge:
    """Return a state's look; an unknown one is shown plainly by its own word."""
    known = _LOOKS.get(state)
    if known:
        return known
    return Badge(state.replace("_", " ").capitalize(), "point", "quiet")
