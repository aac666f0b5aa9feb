"""Reads how far the demo's played days are, from the file in which the demo says so.

A real portal has no such file: LAKEWARDEN_DEMO_PROGRESS is empty there.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

_MINUTE = 60


@dataclass(frozen=True, slots=True)
class DemoProgress:
    """Which day is played now, of how many; `seconds_left` is None while nobody can say."""

    day: int
    n_days: int
    seconds_left: float | None

    @property
    def left(self) -> str:
        """How long it takes on, in words; empty while nobody can say."""
        if self.seconds_left is None:
            return ""
        minutes = round(self.seconds_left / _MINUTE)
        return f"about {minutes} minutes left" if minutes > 1 else "about a minute left"


def demo_progress() -> DemoProgress | None:
    """Return what is played now; None where no demo is, or all its days are played."""
    if not settings.LAKEWARDEN_DEMO_PROGRESS:
        return None
    try:
        told = json.loads(Path(settings.LAKEWARDEN_DEMO_PROGRESS).read_text(encoding="utf-8"))
        return DemoProgress(told["day"], told["n_days"], told["seconds_left"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
