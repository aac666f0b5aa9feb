"""Labels of the states of removal lists. Every page uses the same words."""

from collections.abc import Mapping

from optimizer.removals.domain.states import RemovalState
from portal.ui.frame.states import Badge, register_badges

RECOVERY_BADGES: Mapping[str, Badge] = {
    f"RECOVERY_{RemovalState.RUNNING}": Badge("Being restored", "loader-2", "busy"),
    f"RECOVERY_{RemovalState.DONE}": Badge("Restored", "circle-check", "good"),
    f"RECOVERY_{RemovalState.PARTIAL}": Badge("Partly restored", "circle-half-2", "warn"),
    f"RECOVERY_{RemovalState.NOTHING}": Badge(
        "Nothing restored", "circle-dashed", "quiet", "Nothing on the list was lost any more."
    ),
}

REMOVAL_BADGES: Mapping[str, Badge] = {
    f"REMOVAL_{RemovalState.PENDING}": Badge("Waiting for approval", "hourglass", "warn"),
    f"REMOVAL_{RemovalState.APPROVED}": Badge(
        "Approved", "circle-check", "warn", "It begins after the cooling-off time."
    ),
    f"REMOVAL_{RemovalState.RUNNING}": Badge("Removing", "loader-2", "busy"),
    f"REMOVAL_{RemovalState.DONE}": Badge("Removed", "circle-check", "good"),
    f"REMOVAL_{RemovalState.PARTIAL}": Badge("Removed in part", "circle-half-2", "warn"),
    f"REMOVAL_{RemovalState.NOTHING}": Badge(
        "Nothing removed", "circle-dashed", "quiet", "Nothing on the list might go any more."
    ),
    f"REMOVAL_{RemovalState.FAILED}": Badge("Failed", "alert-circle", "bad"),
    f"REMOVAL_{RemovalState.REJECTED}": Badge("Rejected", "circle-x", "bad"),
    f"REMOVAL_{RemovalState.WITHDRAWN}": Badge("Withdrawn", "arrow-back-up", "quiet"),
    f"REMOVAL_{RemovalState.LAPSED}": Badge(
        "Expired", "clock-off", "quiet", "Nobody decided in time."
    ),
}


def register_state_badges() -> None:
    """Tell the kit how lists look."""
    looks = {**REMOVAL_BADGES, **RECOVERY_BADGES}
    register_badges({str(state): look for state, look in looks.items()})
