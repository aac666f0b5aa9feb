"""Which notices allow a purge."""

from datetime import UTC, datetime, timedelta

import pytest

from lifecycle.restore.domain import MOVED, Recipients, may_be_purged, names_the_date

DATE = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("announced", "purge_after", "named"),
    [
        (DATE, DATE, True),
        (DATE, DATE + MOVED, True),
        (DATE, DATE - MOVED, True),
        (DATE, DATE + MOVED + SECOND, False),
        (DATE, DATE - MOVED - SECOND, False),
        (None, DATE, False),
        (DATE, None, False),
    ],
)
def test_a_notice_counts_for_the_date_it_named(
    announced: datetime | None, purge_after: datetime | None, named: bool
) -> None:
    assert names_the_date(announced, purge_after) is named


@pytest.mark.parametrize(
    ("owners", "others", "notified", "allowed"),
    [
        (("alice",), ("dora",), {"alice"}, True),
        (("alice",), ("dora",), {"dora"}, False),
        (("alice", "eve"), (), {"eve"}, True),
        ((), ("dora", "carl"), {"dora"}, False),
        ((), ("dora", "carl"), {"dora", "carl"}, True),
        ((), (), set(), False),
    ],
)
def test_the_owner_or_all_others_must_have_been_told(
    owners: tuple[str, ...], others: tuple[str, ...], notified: set[str], allowed: bool
) -> None:
    assert may_be_purged(Recipients(owners, others), notified) is allowed
