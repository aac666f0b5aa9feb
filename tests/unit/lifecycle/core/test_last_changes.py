"""Who changed something last, and which notes repeat the portal's own changes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lifecycle.core.domain.last_changes import (
    ECHO_WITHIN,
    Change,
    Report,
    changed_fields,
    echoes,
    last_changers,
)
from lifecycle.policies.domain.policy import Values

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
LONG, SHORT = Values(1, 365), Values(1, 30)
OWN = Report("sales.orders", LONG, SHORT, NOW, is_own=True)
ECHO = replace(OWN, at=NOW + timedelta(seconds=1), is_own=False)


def change(actor: str, hours: int, subject: str = "ttl", order: int = 0) -> Change:
    return Change((subject,), actor, NOW + timedelta(hours=hours), order)


def test_the_newest_change_of_each_subject_counts_whenever_it_was_told() -> None:
    said = [change("late", 3), change("early", 1), change("other", 0, "level")]
    assert last_changers(said) == {"late", "other"}
    assert last_changers([change("first", 1), change("second", 1, order=1)]) == {"second"}


def test_an_unknown_author_hides_nobody() -> None:
    said = [change("bert", 1), change("unknown", 2), change("system", 3), change("", 4)]
    assert last_changers(said) == {"bert"}


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        (LONG, SHORT, ("ttl",)),
        (LONG, Values(2, 365), ("level",)),
        (LONG, LONG, ("level", "ttl")),
        (None, LONG, ("level", "ttl")),
    ],
)
def test_which_fields_a_change_set(
    before: Values | None, after: Values | None, fields: tuple[str, ...]
) -> None:
    assert changed_fields(before, after) == fields


def test_one_note_repeats_one_change_of_the_portal_within_minutes() -> None:
    assert echoes([OWN, ECHO]) == {1}
    assert echoes([ECHO, OWN]) == {0}
    assert echoes([OWN, ECHO, replace(ECHO, at=NOW + timedelta(minutes=5))]) == {1}
    assert echoes([OWN, replace(ECHO, at=NOW + ECHO_WITHIN + timedelta(seconds=1))]) == set()
    assert echoes([OWN, replace(ECHO, after=Values(1, 29))]) == set()
    assert echoes([OWN, replace(ECHO, subject="sales.items")]) == set()


def test_a_change_made_shortly_before_is_not_taken_for_the_echo_of_the_next() -> None:
    theirs = replace(ECHO, at=NOW - timedelta(minutes=2))
    assert echoes([theirs, OWN, ECHO]) == {2}
