"""Cadences name each period once, and rules say ready only when all that they ask holds."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from portal.lake.errors import RuleViolation
from portal.lake.names import PartitionName
from quality.freshness.domain.cadence import Cadence, Period, TimeFormat
from quality.freshness.domain.inspection_schedule import LATER, SOON, next_inspection
from quality.freshness.domain.ready_rule import Outcome, Rule, Seen, Source, rule_on

ZONES = [
    ZoneInfo(name)
    for name in (
        *("UTC", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe"),
        *("Antarctica/Troll", "Asia/Kolkata", "America/New_York"),
    )
]
INSTANTS = st.integers(1_104_537_600, 1_893_456_000).map(
    lambda seconds: datetime.fromtimestamp(seconds, UTC)
)
CADENCES = st.builds(
    Cadence,
    time_key=st.just("dt"),
    time_format=st.sampled_from([TimeFormat.DAY, TimeFormat.PLAIN_DAY]),
    hour_key=st.sampled_from(["", "hour"]),
    zone=st.sampled_from(ZONES),
) | st.builds(
    Cadence,
    time_key=st.just("dt"),
    time_format=st.sampled_from([TimeFormat.HOUR, TimeFormat.PLAIN_HOUR]),
    hour_key=st.just(""),
    zone=st.sampled_from(ZONES),
)
COUNTS = st.none() | st.integers(0, 50)
RULES = st.builds(
    Rule,
    delay=st.none() | st.timedeltas(timedelta(), timedelta(days=2)),
    min_rows=COUNTS,
    min_files=COUNTS,
)
FLAGS = st.sampled_from([{}, {"commit": "true"}, {"commit": "false"}, {"commit": " FALSE"}])
PARTITIONS = st.lists(
    st.builds(
        lambda flag, rows, files: flag | rows | files,
        FLAGS,
        st.sampled_from([{}, {"numRows": "-1"}, {"numRows": "٣"}])
        | st.integers(0, 60).map(lambda n: {"numRows": str(n)}),
        st.just({}) | st.integers(0, 60).map(lambda n: {"numFiles": str(n)}),
    ),
    max_size=4,
)
DAY = Period(
    datetime(2026, 11, 21, tzinfo=UTC), datetime(2026, 11, 22, tzinfo=UTC), (("dt", "2026-11-21"),)
)


@given(cadence=CADENCES, first=INSTANTS, n_hours=st.integers(0, 80))
def test_periods_follow_each_other_each_with_a_name_of_its_own(
    cadence: Cadence, first: datetime, n_hours: int
) -> None:
    until = first + timedelta(hours=n_hours)
    found = list(cadence.periods(first, ended_by=until))
    assert len({period.spec for period in found}) == len(found)
    for before, after in pairwise(found):
        assert before.start < before.end
        # Where a zone leaps by two hours, the end of the one before the leap lies in the leap.
        assert after.start <= before.end or cadence.zone.key == "Antarctica/Troll"
        assert before.start < after.start
    for period in found:
        assert period.end <= until
        assert cadence.period_of(dict(period.values)) == period
        name = PartitionName.parse(period.spec)
        assert cadence.period_of(dict(zip(name.keys, name.values, strict=True))) == period


@given(cadence=CADENCES, instant=INSTANTS)
def test_an_instant_lies_in_its_period(cadence: Cadence, instant: datetime) -> None:
    period = cadence.period_at(instant)
    local = instant.astimezone(cadence.zone)
    assume(local.fold == 0)
    assert period.start <= instant < period.end


@pytest.mark.parametrize(
    ("day", "n_hours"), [("2026-03-29", 23), ("2026-10-25", 24), ("2026-06-01", 24)]
)
def test_a_day_has_the_hours_that_it_has_names_for(day: str, n_hours: int) -> None:
    cadence = Cadence("dt", TimeFormat.DAY, "hour", ZoneInfo("Europe/Berlin"))
    start = datetime.fromisoformat(day).replace(tzinfo=cadence.zone)
    midnight = (start + timedelta(days=1)).astimezone(UTC)
    found = list(cadence.periods(start.astimezone(UTC), ended_by=midnight))
    assert len(found) == n_hours
    assert {dict(period.values)["dt"] for period in found} == {day}
    assert found[-1].end == midnight


@pytest.mark.parametrize(
    "values",
    [
        {"dt": "2026-11-2"},
        {"dt": "20261121"},
        {"dt": None},
        {"dt": "2026-11-21 "},
        {"dt": "2026-02-30"},
        {"dt": "٢026-11-21"},
        {"day": "2026-11-21"},
        {"dt": "it's ü"},
    ],
)
def test_what_is_no_time_is_no_period(values: dict[str, str | None]) -> None:
    assert Cadence("dt", TimeFormat.DAY, "", ZoneInfo("UTC")).period_of(values) is None


@pytest.mark.parametrize(
    ("keys", "hour_key", "time_format", "code"),
    [
        ((), "", TimeFormat.DAY, "cadence.unpartitioned"),
        (("day",), "", TimeFormat.DAY, "cadence.key"),
        (("dt",), "hour", TimeFormat.DAY, "cadence.key"),
        (("dt", "hour"), "hour", TimeFormat.HOUR, "cadence.hours"),
        (("dt",), "dt", TimeFormat.DAY, "cadence.hours"),
    ],
)
def test_a_cadence_that_a_table_cannot_have_is_refused(
    keys: tuple[str, ...], hour_key: str, time_format: TimeFormat, code: str
) -> None:
    with pytest.raises(RuleViolation) as refused:
        Cadence("dt", time_format, hour_key, ZoneInfo("UTC")).check(keys)
    assert refused.value.code == code


@given(rule=RULES, partitions=PARTITIONS, minutes=st.integers(-3000, 6000))
def test_a_rule_says_ready_when_all_that_it_asks_holds_and_never_takes_it_back(
    rule: Rule, partitions: list[dict[str, str]], minutes: int
) -> None:
    now = DAY.end + timedelta(minutes=minutes)
    seen = Seen.of(partitions)
    found = rule_on(rule, DAY, seen, now=now)
    assert found.reason.endswith(".")
    unready = [one for one in partitions if one.get("commit", "").strip().lower() == "false"]
    if not partitions:
        assert found.outcome is Outcome.MISSING
    elif not unready:
        assert found.outcome is Outcome.READY
    else:
        over = rule.delay is None or now - DAY.end >= rule.delay
        enough = all(
            least is None
            or (
                all(
                    one.get(name, "-1").isascii() and one.get(name, "-1").isdigit()
                    for one in partitions
                )
                and sum(int(one[name]) for one in partitions) >= least
            )
            for least, name in ((rule.min_rows, "numRows"), (rule.min_files, "numFiles"))
        )
        asks = rule != Rule()
        assert found.outcome is (Outcome.SET if asks and over and enough else Outcome.WAITS)
    later = rule_on(rule, DAY, seen, now=now + timedelta(days=9))
    if found.outcome in (Outcome.SET, Outcome.READY):
        assert later.outcome is found.outcome, "time alone takes nothing back"


@given(ages=st.lists(st.integers(0, 60 * 24 * 40), max_size=5), ahead=st.integers(0, 60 * 24))
def test_a_table_is_looked_at_again_in_time_and_never_at_once(ages: list[int], ahead: int) -> None:
    now = DAY.end
    ends = [now - timedelta(minutes=age) for age in ages]
    next_end = now + timedelta(minutes=ahead)
    found = next_inspection(ends, next_end=next_end, now=now)
    assert found >= now + SOON
    assert found <= max(next_end, now + SOON)
    if ages:
        assert found <= now + LATER


@given(
    RULES,
    PARTITIONS,
    INSTANTS,
    st.lists(st.builds(Source, st.just("s.t"), st.none() | INSTANTS, st.just("it waits"))),
)
def test_a_rule_with_a_delay_waits_for_every_source(
    rule: Rule, partitions: list[dict[str, str]], now: datetime, sources: list[Source]
) -> None:
    seen = Seen.of(partitions)
    without = rule_on(rule, DAY, seen, now=now)
    decision = rule_on(rule, DAY, seen, sources=sources, now=now)
    is_behind = rule.delay is not None and any(
        one.applied_until is None or one.applied_until < DAY.end + rule.delay for one in sources
    )
    if without.outcome is not Outcome.SET or not is_behind:
        assert decision.outcome is without.outcome
    else:
        assert decision.outcome is Outcome.WAITS
        assert "s.t" in decision.reason
