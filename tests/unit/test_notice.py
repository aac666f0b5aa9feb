"""Who is told, and how far ahead."""

from datetime import date

from lifecycle.domain.notice import Responsible, earliest_drop_on, horizon_on, responsible_for

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
