"""States of a policy request, of an enrollment, and of an enrollment's tables."""

from enum import StrEnum


class RequestKind(StrEnum):
    """What a person wants done about a table or database."""

    SET = "SET"
    EXTEND = "EXTEND"
    HAND_OVER = "HAND_OVER"
    WAIVE = "WAIVE"


class RequestState(StrEnum):
    """Where a request stands; the last five are final."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    REJECTED = "REJECTED"
    LAPSED = "LAPSED"
    WITHDRAWN = "WITHDRAWN"


class EnrollmentState(StrEnum):
    """Where an enrollment stands; DONE may still be undone."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"
    REJECTED = "REJECTED"
    LAPSED = "LAPSED"
    WITHDRAWN = "WITHDRAWN"
    UNDOING = "UNDOING"
    UNDONE = "UNDONE"


class EnrollmentItemState(StrEnum):
    """What became of one table of an enrollment."""

    PENDING = "PENDING"
    DONE = "DONE"
    SKIPPED = "SKIPPED"
    FAILED = "FAILED"
    UNDONE = "UNDONE"
    KEPT = "KEPT"


_ASKED = frozenset(
    {
        RequestState.RUNNING,
        RequestState.REJECTED,
        RequestState.LAPSED,
        RequestState.WITHDRAWN,
    }
)
REQUEST_TRANSITIONS: dict[RequestState, frozenset[RequestState]] = {
    # Straight to DONE where nothing has to be written to the lake: an extension is a hold, a
    # exception a row that the next scan reads.
    RequestState.PENDING: _ASKED | {RequestState.DONE},
    RequestState.RUNNING: frozenset({RequestState.DONE, RequestState.FAILED}),
    RequestState.DONE: frozenset(),
    RequestState.FAILED: frozenset(),
    RequestState.REJECTED: frozenset(),
    RequestState.LAPSED: frozenset(),
    RequestState.WITHDRAWN: frozenset(),
}
ENROLLMENT_TRANSITIONS: dict[EnrollmentState, frozenset[EnrollmentState]] = {
    EnrollmentState.PENDING: frozenset(
        {
            EnrollmentState.RUNNING,
            EnrollmentState.REJECTED,
            EnrollmentState.LAPSED,
            EnrollmentState.WITHDRAWN,
        }
    ),
    EnrollmentState.RUNNING: frozenset({EnrollmentState.DONE, EnrollmentState.FAILED}),
    # A run that broke off has enrolled some tables; those can be taken out again.
    EnrollmentState.FAILED: frozenset({EnrollmentState.UNDOING}),
    EnrollmentState.DONE: frozenset({EnrollmentState.UNDOING}),
    EnrollmentState.UNDOING: frozenset({EnrollmentState.UNDONE, EnrollmentState.FAILED}),
    EnrollmentState.UNDONE: frozenset(),
    EnrollmentState.REJECTED: frozenset(),
    EnrollmentState.LAPSED: frozenset(),
    EnrollmentState.WITHDRAWN: frozenset(),
}
