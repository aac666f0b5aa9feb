"""The error tree: each kind has its HTTP status, and its JSON form holds text only."""

import pickle

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


def test_an_error_comes_back_whole_from_another_process() -> None:
    error = ExternalFailure("fs.refused", "No.", service="filesystem", retryable=False, path="/x")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - what was pickled the line before
    assert (type(copy), copy.as_dict()) == (ExternalFailure, error.as_dict())
    assert pickle.loads(pickle.dumps(StaleState("a.b", "Gone."))).code == "a.b"  # noqa: S301 - (as above)
