"""Lets areas account for the time of an emergency stop when it ends."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol


class ReleaseHook(Protocol):
    """Puts the time of a press onto what could not be used meanwhile."""

    def __call__(self, lake: str, *, pressed_at: datetime, now: datetime) -> Callable[[], None]:
        """Write rows inside the transaction of the release; return what is done after it."""


_hooks: list[ReleaseHook] = []


def register_release_hook(hook: ReleaseHook) -> ReleaseHook:
    """Call `hook` whenever an emergency stop is released."""
    if hook not in _hooks:
        _hooks.append(hook)
    return hook


def released(lake: str, *, pressed_at: datetime, now: datetime) -> list[Callable[[], None]]:
    """Call every hook; return what they want done after the transaction."""
    return [hook(lake, pressed_at=pressed_at, now=now) for hook in _hooks]
