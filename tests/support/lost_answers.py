"""A file system or a metastore whose answers get lost, or that somebody changes in between."""

from collections.abc import Callable
from typing import Any

from portal.connectors.file_status import lost_answer, stale_path
from portal.lake.errors import ExternalFailure, PortalError
from portal.lake.paths import LakePath

When = Callable[..., bool]
_NOWHERE = LakePath.parse("file:///lost")


def losing(
    real: Any,
    method: str,
    *,
    error: PortalError,
    nth: int = 1,
    sent: bool = True,
    when: When = lambda *_args: True,
) -> Any:
    """Wrap an adapter: the nth call of a method is done (or not even `sent`), then raises.

    Only calls count for whose arguments `when` holds.
    """

    def strike(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        if sent:
            call(*args, **options)
        raise error

    return between(real, method, strike, nth=nth, when=when)


def between(
    real: Any,
    method: str,
    strike: Callable[..., Any],
    *,
    nth: int = 1,
    when: When = lambda *_args: True,
) -> Any:
    """Wrap an adapter: the nth call of a method is handed to `strike` with its arguments."""
    return _Wrapped(real, method, strike, nth, when)


def falling_silent(
    real: Any, method: str, *, sent: bool = True, when: When = lambda *_args: True
) -> Any:
    """Wrap a file system: a call is done (or not even `sent`), and from then on nothing answers."""
    return _Silent(real, method, sent=sent, when=when)


class _Silent:
    def __init__(self, real: Any, method: str, *, sent: bool, when: When) -> None:
        self._real, self._method, self._is_sent, self._when = real, method, sent, when
        self.is_struck = False

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._real, name)

        def ask(*args: Any, **options: Any) -> Any:
            if self.is_struck:
                raise no_name_node()
            if name != self._method or not self._when(*args):
                return call(*args, **options)
            self.is_struck = True
            if self._is_sent:
                call(*args, **options)
            raise no_name_node()

        return ask


class _Wrapped:
    def __init__(
        self, real: Any, method: str, strike: Callable[..., Any], nth: int, when: When
    ) -> None:
        self._real, self._method, self._strike = real, method, strike
        self._left, self._when = nth, when
        self.is_struck = False

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._real, name)
        if name != self._method:
            return call

        def counted(*args: Any, **options: Any) -> Any:
            self._left -= self._when(*args)
            if self._left == 0 and self._when(*args):
                self._left, self.is_struck = -1, True
                return self._strike(call, *args, **options)
            return call(*args, **options)

        return counted


def unanswered() -> ExternalFailure:
    """Return what the file system adapter raises for a rename that was never answered."""
    return lost_answer(_NOWHERE, _NOWHERE, "time-out")


def no_name_node() -> ExternalFailure:
    """Return what it raises for any call while no NameNode is active, a lost rename among them."""
    return ExternalFailure(
        "fs.failed", "No NameNode answers.", service="filesystem", retryable=True
    )


def repeated() -> PortalError:
    """Return what it raises when the client's own second try finds the first one done."""
    return stale_path("fs.missing", _NOWHERE)


def refused() -> ExternalFailure:
    """Return what it raises when the file system will not move one item."""
    return ExternalFailure(
        "fs.refused", "Permission denied.", service="filesystem", retryable=False
    )


def silent_metastore() -> ExternalFailure:
    """Return what the metastore adapter raises when a call was never answered."""
    return ExternalFailure(
        "metastore.unreachable", "No answer.", service="metastore", retryable=True
    )
