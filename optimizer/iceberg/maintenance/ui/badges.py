"""Labels of what stays of an Iceberg table, and of quarantines. Every page uses the same words."""

from collections.abc import Mapping

from optimizer.iceberg.maintenance.domain.expiry import Stay
from optimizer.iceberg.maintenance.domain.orphans import Left
from optimizer.iceberg.maintenance.domain.quarantine import QuarantineState
from portal.ui.frame.states import Badge, register_badges

_LOOKS: Mapping[str, Badge] = {
    f"QUARANTINE_{QuarantineState.HELD}": Badge("In quarantine", "archive", "warn"),
    f"QUARANTINE_{QuarantineState.RETURNING}": Badge("Being restored", "loader-2", "busy"),
    f"QUARANTINE_{QuarantineState.RETURNED}": Badge("Restored", "arrow-back-up", "good"),
    f"QUARANTINE_{QuarantineState.DELETING}": Badge("Being deleted", "loader-2", "busy"),
    f"QUARANTINE_{QuarantineState.DELETED}": Badge("Deleted", "circle-check", "quiet"),
    f"STAY_{Stay.CURRENT}": Badge("the current snapshot", "lock", "quiet"),
    f"STAY_{Stay.REFERENCED}": Badge("held by a branch or a tag", "lock", "quiet"),
    f"STAY_{Stay.TRIAL}": Badge("held by the trial of a layout", "lock", "quiet"),
    f"STAY_{Stay.BRANCH}": Badge("in the history of a branch", "lock", "quiet"),
    f"STAY_{Stay.STAGED}": Badge("written aside to be published", "lock", "quiet"),
    f"STAY_{Stay.YOUNG}": Badge("too young", "lock", "quiet"),
    f"STAY_{Stay.NEWEST}": Badge("among the newest", "lock", "quiet"),
    f"STAY_{Left.KNOWN}": Badge("part of the table", "lock", "quiet"),
    f"STAY_{Left.HIDDEN}": Badge("below names that begin with _ or .", "lock", "quiet"),
    f"STAY_{Left.OUTSIDE}": Badge("outside of the table's place", "lock", "quiet"),
    f"STAY_{Left.DOUBTFUL}": Badge(
        "doubtful: the table knows the name under another path", "lock", "quiet"
    ),
}


def register_state_badges() -> None:
    """Tell the kit how they look."""
    register_badges({str(state): look for state, look in _LOOKS.items()})
