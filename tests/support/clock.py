"""A clock that starts at a fixed instant and ticks, for tests whose pages read the real one.

What is approved on a fixed day has expired 72 hours later, whatever the test is about.
"""

import time
from datetime import datetime, timedelta

import pytest
from django.utils import timezone


def start_clock(monkeypatch: pytest.MonkeyPatch, at: datetime) -> None:
    """Have the portal's clock show `at` now and tick from there, until the test ends."""
    began = time.monotonic()

    def now() -> datetime:
        return at + timedelta(seconds=time.monotonic() - began)

    monkeypatch.setattr(timezone, "now", now)
