"""The way of a ticket, and when one expires."""

from datetime import UTC, datetime, timedelta

from pipelines.cdc.tickets.domain.states import OPEN, TRANSITIONS, TicketState, is_expired, steps

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


def test_only_what_is_open_moves_on() -> None:
    assert set(TRANSITIONS) == OPEN
    assert {to for ends in TRANSITIONS.values() for to in ends} | {"PENDING"} == set(TicketState)


def test_the_steps_say_what_was_reached() -> None:
    shown = steps("APPROVED", {"PENDING": NOW, "APPROVED": NOW, "RELEASED": None})
    assert [(one.at is not None, one.is_current) for one in shown] == [
        (True, False), (True, True), (False, False), (False, False),
    ]  # fmt: skip


def test_a_ticket_expires_after_its_days() -> None:
    assert not is_expired(NOW - timedelta(days=14), days=14, now=NOW)
    assert is_expired(NOW - timedelta(days=14, seconds=1), days=14, now=NOW)
    assert not is_expired(None, days=0, now=NOW)
