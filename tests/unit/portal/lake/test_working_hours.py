"""Working hours: by the lake's wall clock, also where daylight saving leaves out or repeats one."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.lake.errors import RuleViolation
from portal.lake.working_hours import DAYS, WorkingHours

BERLIN = ZoneInfo("Europe/Berlin")
# Summer time began there on Sunday 2026-03-29 at 01:00 UTC and ended 2026-10-25 at 01:00 UTC.
SPRING = datetime(2026, 3, 29, 1, tzinfo=UTC)
AUTUMN = datetime(2026, 10, 25, 1, tzinfo=UTC)
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")
BORDERS = (
    SPRING,
    AUTUMN,
    datetime(2026, 3, 8, 7, tzinfo=UTC),
    datetime(2026, 4, 4, 15, tzinfo=UTC),
)


def minutes(quarter: int) -> str:
    return f"{quarter // 4:02}:{quarter % 4 * 15:02}"


@st.composite
def hours(draw: st.DrawFn) -> tuple[str, int, int, int]:
    """Return one span as text, with its only day and its begin and end in minutes."""
    day, begin = draw(st.integers(0, 6)), draw(st.integers(0, 95))
    end = draw(st.integers(0, 96).filter(lambda quarter: quarter != begin))
    return f"{DAYS[day]} {minutes(begin)}-{minutes(end)}", day, begin * 15, end * 15


def is_open_by_hand(local: datetime, day: int, begin: int, end: int) -> bool:
    """Say it minute by minute of a week's wall clock, in another way than the product."""
    length = (end - begin) if end > begin else (end - begin + 24 * 60)
    minute = (local.weekday() - day) % 7 * 24 * 60 + local.hour * 60 + local.minute
    return begin <= minute < begin + length or begin <= minute + 7 * 24 * 60 < begin + length


@settings(max_examples=60, deadline=None)
@given(hours(), st.sampled_from(ZONES), st.sampled_from(BORDERS), st.integers(-3000, 3000))
def test_the_next_opening_is_the_first_minute_that_is_open(
    span: tuple[str, int, int, int], zone_name: str, border: datetime, offset: int
) -> None:
    text, day, begin, end = span
    zone, now = ZoneInfo(zone_name), border + timedelta(minutes=offset)
    rule = WorkingHours.read(text)
    opens = rule.opens_at(now, zone)
    minute, first = now, None
    while first is None and minute < now + timedelta(days=15):
        assert rule.is_open(minute, zone) is is_open_by_hand(
            minute.astimezone(zone), day, begin, end
        )
        first = minute if rule.is_open(minute, zone) else None
        minute += timedelta(minutes=1)
    assert opens == first


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "now", "opens"),
    [
        ("", "2026-11-22T10:00", "2026-11-22T10:00"),
        ("Mon-Fri 20:00-06:00", "2026-11-20T18:59:59", "2026-11-20T19:00"),
        ("Mon-Fri 20:00-06:00", "2026-11-21T04:59", "2026-11-21T04:59"),
        ("Mon-Fri 20:00-06:00", "2026-11-21T05:00", "2026-11-23T19:00"),
        ("Fri-Mon 00:00-24:00", "2026-11-24T10:00", "2026-11-26T23:00"),
        # 02:00-03:00 does not exist on that Sunday: what begins in it opens at 03:00 (01:00 UTC).
        ("Sun 02:30-04:00", "2026-03-29T00:30", "2026-03-29T01:00"),
        ("Sun 02:15-02:45", "2026-03-29T00:30", "2026-04-05T00:15"),
        # It comes twice in autumn: open, closed and open again.
        ("Sun 02:00-02:30", "2026-10-25T00:29", "2026-10-25T00:29"),
        ("Sun 02:00-02:30", "2026-10-25T00:30", "2026-10-25T01:00"),
        ("Sun 02:00-02:30", "2026-10-25T01:30", "2026-11-01T01:00"),
    ],
)
def test_hours_open_by_the_wall_clock_of_berlin(text: str, now: str, opens: str) -> None:
    assert WorkingHours.read(text).opens_at(at(now), BERLIN) == at(opens)


@pytest.mark.parametrize(
    "text", ["nights", "Mon 8-9", "Mon 08:10-09:00", "Xxx 08:00-09:00", "Mon 08:00-08:00"]
)
def test_anything_else_is_refused_with_its_form(text: str) -> None:
    with pytest.raises(RuleViolation, match="Mon-Fri 20:00-06:00"):
        WorkingHours.read(text)
