"""Which days the demo plays, which steps of its first run are done, and how far the days are."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from stack.say import step

N_PLAYED_DAYS = 9
DAYS_VARIABLE = "LAKEWARDEN_DEMO_DAYS"
"""Which days are played where not all are wanted: how many days ago, as in `8,7,1,0`."""


def played_days() -> list[int]:
    """Return how many days ago each day was that is played, the oldest first."""
    named = os.environ.get(DAYS_VARIABLE)
    wanted = map(int, named.split(",")) if named else range(N_PLAYED_DAYS)
    return sorted(wanted, reverse=True)


class Made:
    """Which steps of the first run are done, kept in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _steps(self) -> list[str]:
        try:
            steps: list[str] = json.loads(self.path.read_text(encoding="utf-8"))["steps"]
        except (OSError, ValueError, KeyError):
            return []
        return steps

    @property
    def since(self) -> str:
        """When the first step was done, in UTC; now where none is."""
        try:
            began = json.loads(self.path.read_text(encoding="utf-8"))["since"]
        except (OSError, ValueError, KeyError):
            return datetime.now(UTC).isoformat()
        return str(began)

    def has(self, name: str) -> bool:
        """Whether the step was done to its end."""
        return name in self._steps()

    @contextmanager
    def once(self, name: str, title: str) -> Iterator[bool]:
        """Show and keep a step; returns False, and shows nothing, where it was done before."""
        if self.has(name):
            yield False
            return
        with step(title):
            yield True
        self.keep(name)

    def keep(self, name: str) -> None:
        """Keep that a step was done."""
        done = {"since": self.since, "steps": [*self._steps(), name]}
        self.path.write_text(json.dumps(done), encoding="utf-8")


class Progress:
    """How far the played days are, in a file for Home and for `portal/played.py`."""

    def __init__(self, path: Path, *, n_days: int) -> None:
        self.path = path
        self.n_days = n_days
        self._seconds: list[float] = []
        self._began = time.monotonic()

    def begin(self, day: int, *, days_ago: int) -> str:
        """Say that a day, counted from 1, is played now; returns how much is left, in words."""
        self._began = time.monotonic()
        left = self.seconds_left(day)
        told = {"day": day, "n_days": self.n_days, "seconds_left": left, "days_ago": days_ago}
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text(json.dumps(told), encoding="utf-8")
        fresh.replace(self.path)
        return "" if left is None else f"; about {left:.0f} s left"

    def done(self) -> None:
        """Take the time of the day that was begun last."""
        self._seconds.append(time.monotonic() - self._began)

    def seconds_left(self, day: int) -> float | None:
        """Return what this and the later days will take, by the mean so far; None at first."""
        if not self._seconds:
            return None
        return sum(self._seconds) / len(self._seconds) * (self.n_days - day + 1)

    def end(self) -> None:
        """Say no more: every day is played."""
        self.path.unlink(missing_ok=True)
