"""Tests as of when things are recorded while a day is played, and that a real portal plays none."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from portal.played import instant
from stack.demo_days import Progress

A_MOMENT = timedelta(seconds=30)


def ago() -> timedelta:
    found = instant()
    return timezone.now() - found


def test_things_are_recorded_as_of_the_played_day(settings: Any, tmp_path: Path) -> None:
    settings.LAKEWARDEN_DEMO_PROGRESS = str(tmp_path / "played.json")
    assert ago() < A_MOMENT, "nothing is played yet"
    progress = Progress(tmp_path / "played.json", n_days=9)
    progress.begin(3, days_ago=6)
    assert timedelta(days=6) <= ago() < timedelta(days=6) + A_MOMENT
    settings.LAKEWARDEN_ALLOW_PLAYED_TIME = False
    assert ago() < A_MOMENT, "production plays no day"
    settings.LAKEWARDEN_ALLOW_PLAYED_TIME = True
    progress.end()
    assert ago() < A_MOMENT


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"days_ago": null}', '{"days_ago": -3}'])
def test_a_file_that_says_no_day_changes_nothing(settings: Any, tmp_path: Path, text: str) -> None:
    path = tmp_path / "played.json"
    path.write_text(text)
    settings.LAKEWARDEN_DEMO_PROGRESS = str(path)
    assert ago() < A_MOMENT
