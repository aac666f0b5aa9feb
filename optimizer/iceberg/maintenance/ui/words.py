"""Labels of what stays of an Iceberg table, and of quarantines. Every page uses the same words."""

from collections.abc import Mapping

from optimizer.iceberg.maintenance.domain.expiry import Stay
from optimizer.iceberg.maintenance.domain.orphans import Left
from optimizer.iceberg.maintenance.domain.quarantine import QuarantineState
from portal.ui.frame.states import StateLook, register_states

_LOOKS: Mapping[str, StateLook] = {
    f"QUARANTINE_{QuarantineState.HELD}": StateLook("In quarantine", "archive", "warn"),
    f"QUARANTINE_{QuarantineState.RETURNING}": StateLook("Being restored", "loader-2", "busy"),
    f"QUARANTINE_{QuarantineState.RETURNED}": StateLook("Restored", "arrow-back-up", "good"),
    f"QUARANTINE_{QuarantineState.DELETING}": StateLook("Being deleted", "loader-2", "busy"),
    f"QUARANTINE_{QuarantineState.DELETED}": StateLook("Deleted", "circle-check", "quiet"),
    f"STAY_{Stay.CURRENT}": StateLook("the current snapshot", "lock", "quiet"),
    f"STAY_{Stay.REFERENCED}": StateLook("held by a branch or a tag", "lock", "quiet"),
    f"STAY_{Stay.BRANCH}": StateLook("in the history of a branch", "lock", "quiet"),
    f"STAY_{Stay.STAGED}": StateLook("written aside to be published", "lock", "quiet"),
    f"STAY_{Stay.YOUNG}": StateLook("too young", "lock", "quiet"),
    f"STAY_{Stay.NEWEST}": StateLook("among the newest", "lock", "quiet"),
    f"STAY_{Left.KNOWN}": StateLook("part of the table", "lock", "quiet"),
    f"STAY_{Left.HIDDEN}": StateLook("below names that begin with _ or .", "lock", "quiet"),
    f"STAY_{Left.OUTSIDE}": StateLook("outside of the table's place", "lock", "quiet"),
    f"STAY_{Left.DOUBTFUL}": StateLook(
        "doubtful: the table knows the name under another path", "lock", "quiet"
    ),
}


def register_words() -> None:
    """Tell the kit how they look."""
    register_states({str(state): look for state, look in _LOOKS.items()})
