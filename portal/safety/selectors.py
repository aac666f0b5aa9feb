"""Reads whether a lake's emergency stop is pressed, and for how long it was."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from portal.access.models import User
from portal.safety.models import EmergencyStop

# What an acting run is refused with before it begins.
EMERGENCY_STOP_CODE = "red_button.pressed"


def emergency_stop_state(lake: str) -> EmergencyStop | None:
    """Return the press that stands on `lake`, if any."""
    return EmergencyStop.objects.filter(lake=lake, released_at__isnull=True).first()


def release_is_pending(press: EmergencyStop, *, now: datetime) -> bool:
    """Say whether a proposal to end the stop waits for a second admin."""
    expires = press.release_expires_at
    return expires is not None and now < expires


def emergency_stop_steps(press: EmergencyStop | None, user: User, *, now: datetime) -> list[str]:
    """Return what a person may do with the emergency stop now; the services check it again."""
    if press is None:
        return ["press"]
    steps = []
    if release_is_pending(press, now=now):
        steps.append("press")  # which keeps the stop, and cancels the proposal
        if user.is_lake_admin_of(press.lake):
            own = press.release_proposed_by.casefold() == user.username.casefold()
            steps += ["withdraw"] if own else ["confirm", "withdraw"]
    elif user.is_lake_admin_of(press.lake):
        steps.append("release")
    if press.needs_reason and may_explain(press, user):
        steps.append("explain")
    return steps


def may_explain(press: EmergencyStop, user: User) -> bool:
    """Say whether a person may give the reason of a press: who pressed, admins and operators."""
    return (
        user.is_lake_staff_of(press.lake) or press.pressed_by.casefold() == user.username.casefold()
    )


def emergency_stop_wait(lake: str) -> str:
    """Say that what acts on a lake waits, by whose press and why; empty while it may start."""
    button = emergency_stop_state(lake)
    if button is None:
        return ""
    return (
        f"{button.pressed_by} started the emergency stop: {button.reason} It resumes by itself "
        "when two admins have ended the stop."
    )


@dataclass(frozen=True, slots=True)
class Pause:
    """A press that ended, and for how long it lasted after the instant that was asked of."""

    press: EmergencyStop
    at: datetime
    length: timedelta

    @property
    def seconds(self) -> float:
        """Its length, as pages show spans."""
        return self.length.total_seconds()


def pauses_since(lake: str, since: datetime) -> list[Pause]:
    """Return the presses that ended since an instant, the oldest first."""
    presses = EmergencyStop.objects.filter(lake=lake, released_at__gt=since).order_by("pressed_at")
    return [
        Pause(press, press.released_at, press.released_at - max(press.pressed_at, since))
        for press in presses
        if press.released_at
    ]


def paused_since(lake: str, since: datetime) -> timedelta:
    """Return for how long the emergency stop was on since an instant.

    A backup's clock stood still.
    """
    return sum((one.length for one in pauses_since(lake, since)), timedelta(0))
