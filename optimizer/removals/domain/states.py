"""States of a removal list, from its creating to its end."""

from enum import StrEnum

REFUSED = ("removal.rejected", "removal.withdrawn")


class RemovalState(StrEnum):
    """Where a plan of a removal stands."""

    PENDING = "PENDING"  # waits for people
    APPROVED = "APPROVED"  # cools off, then goes with the next run
    RUNNING = "RUNNING"
    DONE = "DONE"
    PARTIAL = "PARTIAL"
    NOTHING = "NOTHING"  # nothing of it might go any more
    FAILED = "FAILED"
    REJECTED = "REJECTED"
    WITHDRAWN = "WITHDRAWN"
    LAPSED = "LAPSED"


OPEN = frozenset({RemovalState.PENDING, RemovalState.APPROVED, RemovalState.RUNNING})
ENDED = frozenset(RemovalState) - OPEN
_UNANSWERED = frozenset({RemovalState.REJECTED, RemovalState.WITHDRAWN, RemovalState.LAPSED})
TRANSITIONS: dict[RemovalState, frozenset[RemovalState]] = {
    RemovalState.PENDING: _UNANSWERED | {RemovalState.APPROVED},
    RemovalState.APPROVED: _UNANSWERED | {RemovalState.RUNNING, RemovalState.FAILED},
    RemovalState.RUNNING: frozenset(
        {RemovalState.DONE, RemovalState.PARTIAL, RemovalState.NOTHING, RemovalState.FAILED}
    ),
    **{state: frozenset() for state in ENDED},
}
