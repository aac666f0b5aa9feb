"""Calls what must stop when data is in danger.

`portal.safety` registers its emergency stop here.
"""

from datetime import datetime
from typing import Protocol


class SafetyHook(Protocol):
    """Stops all acting on a lake."""

    def __call__(self, lake: str, *, run_id: str, reason: str, now: datetime) -> None:
        """Stop; called again for the same run it changes nothing."""


_hooks: list[SafetyHook] = []


def register_safety_hook(hook: SafetyHook) -> SafetyHook:
    """Call `hook` for every DataSafetyError of a run."""
    if hook not in _hooks:
        _hooks.append(hook)
    return hook


def engage_emergency_stop(lake: str, *, run_id: str, reason: str, now: datetime) -> None:
    """Call every hook; one that raises does not keep the others from being called."""
    failed: Exception | None = None
    for hook in _hooks:
        try:
            hook(lake, run_id=run_id, reason=reason, now=now)
        except Exception as error:  # every brake is pulled before any error is shown
            failed = error
    if failed is not None:
        raise failed
