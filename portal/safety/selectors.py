"""Reads whether a lake's red button is pressed, and for how long it was."""

from datetime import datetime, timedelta

from portal.safety.models import RedButton

# What an acting run is refused with before it begins.
RED_BUTTON_CODE = "red_button.pressed"


def red_button_state(lake: str) -> RedButton | None:
    """Return the press that stands on `lake`, if any."""
    return RedButton.objects.filter(lake=lake, released_at__isnull=True).first()


def red_button_wait(lake: str) -> str:
    """Say that what acts on a lake waits, by whose press and why; empty while it may start."""
    button = red_button_state(lake)
    if button is None:
        return ""
    return (
        f"{button.pressed_by} pressed the red button: {button.reason} It goes on by itself when an "
        "admin has released it."
    )


def paused_since(lake: str, since: datetime) -> timedelta:
    """Return for how long the red button was on since an instant: a backup's clock stood still."""
    presses = RedButton.objects.filter(lake=lake, released_at__gt=since)
    spans = presses.values_list("pressed_at", "released_at")
    return sum((end - max(start, since) for start, end in spans if end), timedelta(0))
