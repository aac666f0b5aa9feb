"""The error tree: each kind has its HTTP status, and its JSON form holds text only."""

import pytest

from portal.lake.errors import (
    DataSafetyError,
    ExternalFailure,
    NotAllowed,
    NotVisible,
    PortalError,
    RuleViolation,
    StaleState,
)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (RuleViolation, 400),
        (NotAllowed, 403),
        (NotVisible, 404),
        (StaleState, 409),
        (DataSafetyError, 500),
    ],
)
def test_each_kind_answers_with_its_status(kind: type[PortalError], status: int) -> None:
    error = kind("a.code", "Do this.", n=3)
    assert error.status == status
    assert error.as_dict() == {
        "kind": kind.__name__,
        "code": "a.code",
        "message": "Do this.",
        "fields": {"n": "3"},
    }


def test_an_outside_failure_says_which_service_and_whether_to_try_again() -> None:
    error = ExternalFailure("metastore.down", "Wait.", service="metastore", retryable=True)
    assert (error.status, error.service, error.retryable) == (502, "metastore", True)
