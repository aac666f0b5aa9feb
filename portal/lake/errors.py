"""The one tree of errors that cross a border: who can repair it, and what to do next.

Codes are stable (`path.dotdot`, `plan.changed`); wording may change. Connectors and services raise
nothing else; the outer doors (middleware, DRF handler, task base, job main) turn them into answers.
"""

from functools import partial
from typing import ClassVar


class PortalError(Exception):
    """Base of all expected errors: a stable `code`, a message saying what to do, and `fields`."""

    status: ClassVar[int] = 500

    def __init__(self, code: str, message: str, **fields: object) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fields = fields

    def __reduce__(self) -> tuple[partial["PortalError"], tuple[()]]:
        """Let an error come back whole from an executor or another process."""
        return partial(type(self), self.code, self.message, **self.fields), ()

    def as_dict(self) -> dict[str, object]:
        """Return the JSON form used by the API, manifests and run rows."""
        return {
            "code": self.code,
            "message": self.message,
            "kind": type(self).__name__,
            "fields": {key: str(value) for key, value in self.fields.items()},
        }


class RuleViolation(PortalError):
    """What was asked breaks a rule; the person asking can repair it."""

    status = 400


class TooMuch(RuleViolation):
    """More was sent at once than is taken in; the person asking can send less."""

    status = 413


class NotAllowed(PortalError):
    """The person may see the thing, but may not do this to it."""

    status = 403


class NotVisible(PortalError):
    """The thing is not there for this person; never says whether it exists."""

    status = 404


class StaleState(PortalError):
    """Somebody was first: a compare-and-set was lost, or a plan changed since it was read."""

    status = 409


class Busy(PortalError):
    """There is no room just now; the same may be asked again after so many seconds."""

    status = 429

    def __init__(self, code: str, message: str, *, after_seconds: int, **fields: object) -> None:
        super().__init__(code, message, after_seconds=after_seconds, **fields)
        self.after_seconds = after_seconds


class ExternalFailure(PortalError):
    """A system outside the portal failed or did not answer in time."""

    status = 502

    def __init__(
        self, code: str, message: str, *, service: str, retryable: bool, **fields: object
    ) -> None:
        super().__init__(code, message, service=service, retryable=retryable, **fields)
        self.service = service
        self.retryable = retryable


class DataSafetyError(PortalError):
    """Data could be lost by going on.

    Stops the run, turns the emergency stop on, is never retried.
    """

    status = 500
