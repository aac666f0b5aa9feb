"""A poll that fails is tried again within minutes, then ever less often, at least each hour."""

from datetime import UTC, datetime, timedelta

from optimizer.discovery.domain import EVERY, FIRST_RETRY, Polled, next_poll_at, retry_after

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def polled(minutes_ago: float, *, is_failed: bool = False) -> Polled:
    asked = NOW - timedelta(minutes=minutes_ago)
    return Polled(asked, asked + timedelta(minutes=1), is_failed)


def test_without_a_poll_one_is_due_at_once() -> None:
    assert next_poll_at([]) is None


def test_a_poll_that_was_done_is_followed_by_one_an_hour_later() -> None:
    assert next_poll_at([polled(20), polled(80, is_failed=True)]) == NOW + timedelta(minutes=40)


def test_a_failure_is_tried_again_within_minutes_counted_from_its_end() -> None:
    assert next_poll_at([polled(1, is_failed=True), polled(61)]) == NOW + FIRST_RETRY
    assert next_poll_at([polled(1, is_failed=True)]) == NOW + FIRST_RETRY


def test_failures_in_a_row_wait_longer_and_never_longer_than_the_hour() -> None:
    waits = [retry_after(n) for n in range(1, 40)]
    assert [wait.total_seconds() / 60 for wait in waits[:6]] == [2, 4, 8, 16, 32, 60]
    assert waits == sorted(waits)
    assert max(waits) == EVERY
    failures = [polled(1, is_failed=True), polled(4, is_failed=True), polled(9, is_failed=True)]
    assert next_poll_at(failures) == NOW + retry_after(3)


def test_one_success_forgets_the_failures_before_it() -> None:
    ended = [polled(1, is_failed=True), polled(5), polled(9, is_failed=True)]
    assert next_poll_at(ended) == NOW + FIRST_RETRY
