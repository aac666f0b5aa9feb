"""Tests which days a demo plays."""

import pytest

from stack.demo import DAYS_VARIABLE, N_PLAYED_DAYS, played_days


def test_every_day_is_played_unless_some_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DAYS_VARIABLE, raising=False)
    assert played_days() == list(range(N_PLAYED_DAYS))[::-1]
    monkeypatch.setenv(DAYS_VARIABLE, "0,8,1")
    assert played_days() == [8, 1, 0]
