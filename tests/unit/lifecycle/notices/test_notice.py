"""Who is told, and how far ahead."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.notices.domain.notice import (
    Responsible,
    Sent,
    earliest_drop_on,
    first_drop_on,
    horizon_on,
    is_told_a_day_ahead,
    responsible_for,
)

KNOWN = {"alice", "dora", "erin", "adam"}


def told(table_owner: str, db_owner: str, *admins: str) -> Responsible:
    return responsible_for(
        table_owner=table_owner,
        db_owner=db_owner,
        db_administrators=admins,
        known=KNOWN,
        fallback=["adam", "adam"],
    )


def test_owner_database_owner_and_administrators_are_told_once_each() -> None:
    assert told("alice", "dora", "erin", "alice") == Responsible(("alice", "dora", "erin"), ())


def test_an_owner_who_is_no_user_is_named_and_somebody_else_is_told() -> None:
    assert told("ghost", "dora") == Responsible(("dora",), ("ghost",))
    assert told("ghost", "") == Responsible(("adam",), ("ghost",))


def test_a_late_notice_moves_the_day() -> None:
    today = date(2026, 11, 22)
    assert horizon_on(today) == date(2026, 11, 29)
    assert earliest_drop_on(date(2026, 11, 23), sent_on=today) == date(2026, 11, 29)
    assert earliest_drop_on(date(2026, 12, 23), sent_on=today) == date(2026, 12, 23)


NAMES = st.sampled_from(["", "alice", "dora", "erin", "adam", "ghost", "gone", "Alice"])
DAYS = st.dates(min_value=date(2026, 1, 1), max_value=date(2026, 3, 31))
NOTICES = st.lists(st.builds(Sent, horizon_on=DAYS, sent_on=DAYS), max_size=5)


@given(owner=NAMES, db_owner=NAMES, admins=st.lists(NAMES, max_size=4), fallback=st.lists(NAMES))
def test_somebody_known_is_told_whenever_anybody_is(
    owner: str, db_owner: str, admins: list[str], fallback: list[str]
) -> None:
    found = responsible_for(
        table_owner=owner,
        db_owner=db_owner,
        db_administrators=admins,
        known=KNOWN,
        fallback=[name for name in fallback if name in KNOWN],
    )
    named = {owner, db_owner, *admins} - {""}
    assert set(found.usernames) <= KNOWN
    assert len(set(found.usernames)) == len(found.usernames)
    assert set(found.unknown) == named - KNOWN
    if named & KNOWN:
        assert set(found.usernames) == named & KNOWN
        assert not {owner} & KNOWN or found.usernames[0] == owner
    else:
        assert set(found.usernames) == set(fallback) & KNOWN


@given(due_on=DAYS, sent=NOTICES, notice_days=st.integers(1, 30))
def test_nothing_may_go_before_its_day_or_before_the_days_of_a_notice_that_names_it(
    due_on: date, sent: list[Sent], notice_days: int
) -> None:
    first = first_drop_on(due_on, sent, notice_days=notice_days)
    covering = [one for one in sent if one.horizon_on >= due_on]
    assert (first is None) == (not covering)
    if first is not None:
        assert first >= due_on
        last_sent = first - timedelta(days=notice_days)
        assert any(one.sent_on <= last_sent for one in covering)
        is_by_due_day = first == due_on
        assert is_by_due_day or first == min(one.sent_on for one in covering) + timedelta(
            days=notice_days
        )


@given(first_on=DAYS, scanned=st.lists(DAYS, unique=True, min_size=1).map(sorted))
def test_each_item_is_told_once_a_day_ahead_however_many_scans_are_missed(
    first_on: date, scanned: list[date]
) -> None:
    told = [
        today
        for before, today in zip([None, *scanned], scanned, strict=False)
        if is_told_a_day_ahead(first_on, today=today, last_notified_on=before)
    ]
    in_time = [today for today in scanned if today >= first_on - timedelta(days=1)]
    assert told == in_time[:1]
