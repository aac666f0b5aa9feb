"""Errors of the command line, each with the exit code that a scheduler decides by.

The codes are those of `refresh/client.py` and of sysexits.h.
"""

from typing import Any

import click


class CliError(click.ClickException):
    """An error for people: what happened, then what to do."""

    exit_code = 1

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(message)
        self.next_step = next_step

    def format_message(self) -> str:
        """Return the message and the next step."""
        return f"{self.message} {self.next_step}".strip()


class SignInError(CliError):
    """Nobody is signed in, or a password, session or token is not good."""

    exit_code = 77


class NotYetError(CliError):
    """What was waited for did not come in time."""

    exit_code = 3


class UnreachableError(CliError):
    """The portal does not answer, or is too busy: the same again helps later."""

    exit_code = 75


class FreshLoginError(SignInError):
    """The step needs a log-in of the last 15 minutes."""


def refusal(status: int, body: dict[str, Any]) -> CliError:
    """Return the error for an answer that refuses a request."""
    code = str(body.get("code", ""))
    message = str(body.get("message") or f"The portal answered {status}.")
    fields = body.get("fields")
    if status == 400 and isinstance(fields, dict) and fields:
        named = "; ".join(f"{name}: {_text(value)}" for name, value in fields.items())
        message = f"{message} ({named})"
    sign_in = "Run `lakewarden login`, or give an API token where one is taken."
    if code == "person.fresh_login":
        return FreshLoginError(message, next_step=sign_in)
    if status == 401 or code == "api.not_signed_in":
        return SignInError(message, next_step=sign_in)
    next_step = str(body.get("next_step", ""))
    if status in (429, 502, 503, 504):
        return UnreachableError(message, next_step=next_step)
    return CliError(message, next_step=next_step)


def _text(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
