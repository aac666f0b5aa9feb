"""Tests rules of people: roles of groups, valid names, and the length of a log-in lock."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lake.errors import NotAllowed
from portal.people.domain import (
    FREE_TRIES,
    LONGEST_LOCK,
    Counted,
    LoginTally,
    roles_of,
    username_of,
)

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
ROLES = {"admin": ("lake-admins",), "operator": ("ops", "sre"), "owner": ("data",)}


@pytest.mark.parametrize(
    ("groups", "roles"),
    [
        ((), None),
        (None, None),
        (("others",), None),
        (("data",), frozenset()),
        (("LAKE-ADMINS",), frozenset({"admin"})),
        (("sre", "lake-admins", "data"), frozenset({"admin", "operator"})),
    ],
)
def test_groups_give_roles(groups: tuple[str, ...] | None, roles: frozenset[str] | None) -> None:
    assert roles_of(groups, ROLES) == roles


def test_everybody_may_be_let_in_without_a_role() -> None:
    assert roles_of(None, {"owner": ("*",)}) == frozenset()
    assert roles_of(("ops",), {"owner": ("*",), "operator": ("ops",)}) == frozenset({"operator"})
    assert roles_of(("ops",), {}) is None


def test_user_names_are_in_lower_case_and_of_the_right_domain() -> None:
    assert username_of(" Ada.Ames ") == "ada.ames"
    assert username_of("Ada@Example.COM", domain="example.com") == "ada"
    for odd in ("", "a b", "-x", "ada\r\nbcc", "a" * 151, "../x", "ä" * 3, "a/b"):
        with pytest.raises(NotAllowed):
            username_of(odd)
    for foreign in ("ada@evil.com", "ada", "@example.com", "ada@evil.com@xexample.com"):
        with pytest.raises(NotAllowed):
            username_of(foreign, domain="example.com")


def test_each_try_beyond_the_free_ones_waits_twice_as_long() -> None:
    tally, waits = LoginTally(), []
    for _ in range(12):
        tally = tally.after_a_try(Counted.NAME, NOW)
        waits.append(tally.locked_until - NOW if tally.locked_until else None)
    minute = timedelta(minutes=1)
    free = FREE_TRIES[Counted.NAME] - 1
    assert waits[:free] == [None] * free
    assert waits[free : free + 4] == [minute, 2 * minute, 4 * minute, 8 * minute]
    assert waits[-1] == LONGEST_LOCK


@given(st.lists(st.integers(min_value=0, max_value=7200), max_size=60))
def test_nobody_is_ever_locked_out_for_longer_than_said(gaps: list[int]) -> None:
    tally, now = LoginTally(), NOW
    for gap in gaps:
        now += timedelta(seconds=gap)
        tally = tally.after_a_try(Counted.NAME, now)
        assert tally.locked_until is None or tally.locked_until <= now + LONGEST_LOCK
    assert tally.after_a_try(Counted.NAME, now + timedelta(hours=2)).n_failed == 1
