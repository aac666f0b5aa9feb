"""Days belong to the lake's zone, whatever the clocks do in spring and autumn."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lake.clock import add_days, day_of, from_epoch_seconds, start_of

ZONES = [ZoneInfo(name) for name in ["UTC", "Asia/Shanghai", "Europe/Berlin", "America/St_Johns"]]


@given(st.dates(date(1980, 1, 1), date(2100, 1, 1)), st.sampled_from(ZONES))
def test_a_day_starts_on_itself(day: date, zone: ZoneInfo) -> None:
    assert day_of(start_of(day, zone), zone) == day


@pytest.mark.parametrize(("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25)])
def test_days_of_a_clock_change_are_as_long_as_they_are(day: date, hours: int) -> None:
    zone = ZoneInfo("Europe/Berlin")
    following = date.fromordinal(day.toordinal() + 1)
    assert (start_of(following, zone) - start_of(day, zone)).total_seconds() == hours * 3600


def test_ttl_days_are_24_hours_long() -> None:
    assert add_days(from_epoch_seconds(0), 2) == datetime(1970, 1, 3, tzinfo=UTC)
