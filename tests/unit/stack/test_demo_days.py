"""Tests which days a demo plays."""

import json
from pathlib import Path

import pytest

from stack.demo_days import DAYS_VARIABLE, N_PLAYED_DAYS, Made, Progress, played_days


def test_every_day_is_played_unless_some_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DAYS_VARIABLE, raising=False)
    assert played_days() == list(range(N_PLAYED_DAYS))[::-1]
    monkeypatch.setenv(DAYS_VARIABLE, "0,8,1")
    assert played_days() == [8, 1, 0]


def test_the_progress_says_which_day_is_played_and_what_is_left(tmp_path: Path) -> None:
    told = tmp_path / "played.json"
    progress = Progress(told, n_days=9)
    assert progress.begin(1, days_ago=8) == "", "nothing is known of how long a day takes"
    assert json.loads(told.read_text()) == {
        "day": 1,
        "n_days": 9,
        "seconds_left": None,
        "days_ago": 8,
    }
    progress.done()
    assert progress.begin(2, days_ago=7).startswith("; about ")
    assert json.loads(told.read_text())["seconds_left"] >= 0
    progress.end()
    assert not told.exists()
    progress.end()


def test_a_step_is_kept_and_done_once(tmp_path: Path) -> None:
    made = Made(tmp_path / "made.json")
    with made.once("lake", "A lake") as todo:
        assert todo
        made.keep("people")
    assert made.has("lake")
    assert made.has("people")
    with made.once("lake", "A lake") as todo:
        assert not todo
