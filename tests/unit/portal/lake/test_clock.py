"""Days belong to the lake's zone, whatever the clocks do in spring and autumn."""

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from portal.lake.clock import day_of, from_epoch_seconds

ZONES = [ZoneInfo(name) for name in ["UTC", "Asia/Shanghai", "Europe/Berlin", "America/St_Johns"]]


@given(st.dates(date(1980, 1, 1), date(2100, 1, 1)), st.sampled_from(ZONES))
def test_the_first_instant_of_a_day_falls_on_it(day: date, zone: ZoneInfo) -> None:
    starts_at = datetime.combine(day, time(0), tzinfo=zone).astimezone(UTC)
    assert day_of(starts_at, zone) == day


def test_metastore_times_are_utc() -> None:
    assert from_epoch_seconds(2 * 24 * 3600) == datetime(1970, 1, 3, tzinfo=UTC)
