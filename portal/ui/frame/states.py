"""Word, icon and colour of each state. Mails, pages and the API use the same word.

The platform's states are here; a room adds its own with `register_states` when it registers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "info", "busy", "warn", "bad", "quiet"]


@dataclass(frozen=True)
class StateLook:
    """How one state looks: its word, its icon (Tabler's name) and its tone."""

    word: str
    icon: str
    tone: Tone
    help: str = ""


_LOOKS: dict[str, StateLook] = {
    "QUEUED": StateLook("Queued", "clock", "quiet", "Waits for a worker."),
    "CLAIMED": StateLook("Claimed", "hand-grab", "busy", "A worker has taken it."),
    "SUBMITTING": StateLook("Submitting", "upload", "busy", "The Spark application is starting."),
    "RUNNING": StateLook("Running", "loader-2", "busy"),
    "SETTLING": StateLook("Settling", "checks", "busy", "What happened is being checked."),
    "DONE": StateLook("Done", "circle-check", "good"),
    "FAILED": StateLook("Failed", "alert-circle", "bad"),
    "CANCELLED": StateLook("Cancelled", "ban", "quiet"),
    "PENDING": StateLook("Waiting for approval", "hourglass", "warn"),
    "APPROVED": StateLook("Approved", "circle-check", "good"),
    "REJECTED": StateLook("Rejected", "circle-x", "bad"),
    "LAPSED": StateLook("Expired", "clock-off", "quiet", "Nobody decided in time."),
    "WITHDRAWN": StateLook("Withdrawn", "arrow-back-up", "quiet"),
    "USED": StateLook("Used", "check", "quiet"),
    "SENDING": StateLook("Sending", "send", "busy"),
    "SENT": StateLook("Sent", "mail-check", "good"),
    "DROPPED": StateLook("In backup", "archive", "info", "Dropped; can be restored."),
    "RESTORED": StateLook("Restored", "restore", "good"),
    "UNDONE": StateLook("Undone", "arrow-back-up", "quiet"),
    "PARTLY_RESTORED": StateLook("Partly restored", "restore", "warn"),
    "PURGING": StateLook("Being purged", "trash-x", "bad", "Cannot be restored any more."),
    "PURGED": StateLook("Purged", "trash-off", "bad", "Gone for good."),
    "RED_BUTTON_ON": StateLook("On", "hand-stop", "bad"),
    "RED_BUTTON_OFF": StateLook("Off", "circle-check", "good"),
    "ANSWERS": StateLook("OK", "circle-check", "good"),
    "SILENT": StateLook("Silent", "alert-circle", "bad", "It does not answer, or it is not there."),
    "HERE": StateLook("Active", "user-check", "good"),
    "LEFT": StateLook("Disabled", "user-off", "warn", "Cannot sign in, and gets no mail."),
    "LIVE": StateLook("Active", "key", "good"),
    "EXPIRED": StateLook("Expired", "clock-off", "quiet", "Its last day is over."),
    "ENDED": StateLook("Ended", "player-stop", "quiet"),
    "REPORTED": StateLook("Reported", "flag", "warn", "Left alone; see its run."),
}


def register_states(looks: Mapping[str, StateLook]) -> None:
    """Add a room's states; a state that is known must look the same."""
    for state, look in looks.items():
        if _LOOKS.get(state, look) != look:
            raise ValueError(f"state {state} is shown as {_LOOKS[state]} already")
        _LOOKS[state] = look


def look_of(state: str) -> StateLook:
    """Return a state's look; an unknown one is shown plainly by its own word."""
    known = _LOOKS.get(state)
    if known:
        return known
    return StateLook(state.replace("_", " ").capitalize(), "point", "quiet")
