"""Tests forms of settings: what is shown of a setting is read back as the same setting."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.policies.domain.policy import FIELDS
from optimizer.policies.domain.words import SETTINGS, changes, say, typed
from portal.lake.errors import RuleViolation


def test_every_setting_has_words() -> None:
    assert set(SETTINGS) == set(FIELDS)


@given(st.integers(0, 2**40) | st.integers(0, 2**16).map(lambda n: n * 1024**2))
def test_sizes_come_back(size: int) -> None:
    assert typed("target_bytes", say("target_bytes", size)) == size


@given(st.integers(0, 10**12) | st.decimals(0, 10**6, places=3).map(float))
def test_budgets_come_back(budget: float) -> None:
    assert typed("budget_gb_hours", say("budget_gb_hours", float(budget))) == budget


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("budget_gb_hours", None),
        ("quiet", None),
        ("quiet", "22:00-06:00"),
        ("layout", ""),
        ("layout", "hilbert(a,b)"),
    ],
)
def test_words_come_back(name: str, value: object) -> None:
    assert typed(name, say(name, value)) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("target_bytes", text) for text in ("", "x", "1.5 MiB", "-1", "none", "1 TiB", "٣ MiB")),
        *(("budget_gb_hours", text) for text in ("", "x", "-1", "nan", "1e9", "inf", "٣")),
    ],
)
def test_what_is_none_says_how_it_is_written(name: str, text: str) -> None:
    with pytest.raises(RuleViolation, match="write") as refused:
        typed(name, text)
    assert refused.value.fields["policy_fields"] == [name]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({}, {"is_on": True}, ["Optimizer: on, inherited before"]),
        ({"is_on": True}, {"is_on": False}, ["Optimizer: on → off"]),
        ({"quiet": None}, {}, ["Blackout window: inherited again, none before"]),
        ({"manifests": 5}, {"manifests": 5}, []),
    ],
)
def test_changes_are_told(before: dict[str, Any], after: dict[str, Any], words: list[str]) -> None:
    assert changes(before, after) == words
