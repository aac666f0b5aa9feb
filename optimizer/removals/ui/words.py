"""Labels of the states of removal lists. Every page uses the same words."""

from collections.abc import Mapping

from optimizer.removals.domain.states import RemovalState
from portal.ui.frame.states import StateLook, register_states

RECOVERY_LOOKS: Mapping[str, StateLook] = {
    f"RECOVERY_{RemovalState.RUNNING}": StateLook("Being restored", "loader-2", "busy"),
    f"RECOVERY_{RemovalState.DONE}": StateLook("Restored", "circle-check", "good"),
    f"RECOVERY_{RemovalState.PARTIAL}": StateLook("Partly restored", "circle-half-2", "warn"),
    f"RECOVERY_{RemovalState.NOTHING}": StateLook(
        "Nothing restored", "circle-dashed", "quiet", "Nothing on the list was lost any more."
    ),
}

REMOVAL_LOOKS: Mapping[str, StateLook] = {
    f"REMOVAL_{RemovalState.PENDING}": StateLook("Waiting for approval", "hourglass", "warn"),
    f"REMOVAL_{RemovalState.APPROVED}": StateLook(
        "Approved", "circle-check", "warn", "It begins after the cooling-off time."
    ),
    f"REMOVAL_{RemovalState.RUNNING}": StateLook("Removing", "loader-2", "busy"),
    f"REMOVAL_{RemovalState.DONE}": StateLook("Removed", "circle-check", "good"),
    f"REMOVAL_{RemovalState.PARTIAL}": StateLook("Removed in part", "circle-half-2", "warn"),
    f"REMOVAL_{RemovalState.NOTHING}": StateLook(
        "Nothing removed", "circle-dashed", "quiet", "Nothing on the list might go any more."
    ),
    f"REMOVAL_{RemovalState.FAILED}": StateLook("Failed", "alert-circle", "bad"),
    f"REMOVAL_{RemovalState.REJECTED}": StateLook("Rejected", "circle-x", "bad"),
    f"REMOVAL_{RemovalState.WITHDRAWN}": StateLook("Withdrawn", "arrow-back-up", "quiet"),
    f"REMOVAL_{RemovalState.LAPSED}": StateLook(
        "Expired", "clock-off", "quiet", "Nobody decided in time."
    ),
}


def register_words() -> None:
    """Tell the kit how lists look."""
    looks = {**REMOVAL_LOOKS, **RECOVERY_LOOKS}
    register_states({str(state): look for state, look in looks.items()})
