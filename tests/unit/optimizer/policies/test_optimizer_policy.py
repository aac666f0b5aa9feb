"""Tests settings: inherited as stated, and refused with a way out where they are invalid."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.core.domain.tasks import DESTRUCTIVE, TaskKind
from optimizer.iceberg.rewrite.domain.layouts import parse_layout
from optimizer.policies.domain.policy import (
    BUILT_IN,
    DEFAULT,
    FIELDS,
    AdviceMode,
    BlackoutWindow,
    ConflictTolerance,
    Level,
    LevelKind,
    Policy,
    QueryConstants,
    check,
    contradiction,
    kind_of_scope,
    resolve,
)
from optimizer.policies.domain.values import read_values, write_policy, write_values
from portal.lake.errors import RuleViolation

MINUTES = st.times().map(lambda at: at.replace(second=0, microsecond=0, fold=0))
QUIET = st.none() | st.builds(BlackoutWindow, MINUTES, MINUTES)
POLICIES = st.builds(
    Policy,
    is_on=st.booleans(),
    target_bytes=st.integers(-1, 2**40),
    layout=st.sampled_from(["", "hilbert(a,b)", "sort(a)"]).map(parse_layout),
    min_interval_minutes=st.integers(-1, 10_000),
    full_days=st.integers(-1, 400),
    expire_days=st.integers(-1, 400),
    keep_snapshots=st.integers(-1, 400),
    orphan_days=st.integers(-1, 400),
    manifests=st.integers(-1, 400),
    quiet=QUIET,
    budget_gb_hours=st.none() | st.floats(0, 1e6),
    kinds=st.frozensets(st.sampled_from(TaskKind)),
    caution=st.sampled_from(ConflictTolerance),
    advice=st.sampled_from(AdviceMode),
    query_constants=st.sampled_from(QueryConstants),
)


def level(scope: str, **values: object) -> Level:
    return Level(scope, read_values(values))


def test_what_a_level_does_not_name_comes_from_the_one_above() -> None:
    levels = [
        level("etl.events_day", layout="sort(a)"),
        level("*", is_on=True, target_bytes=10**8, min_interval_minutes=5),
        level("etl*", target_bytes=2 * 10**8, quiet="08:00-20:00"),
        level("etl.events_*", min_interval_minutes=30),
        level("other*", target_bytes=1),
    ]
    found = resolve(levels, db="etl", table="events_day")
    assert found.policy.is_on
    assert found.policy.target_bytes == 2 * 10**8
    assert found.policy.min_interval == timedelta(minutes=30)
    assert str(found.policy.layout) == "sort(a)"
    assert {name: source for name, source in found.sources.items() if source != BUILT_IN} == {
        "is_on": "*",
        "target_bytes": "etl*",
        "quiet": "etl*",
        "min_interval_minutes": "etl.events_*",
        "layout": "etl.events_day",
    }
    assert resolve(levels, db="dwh", table="t").sources["target_bytes"] == "*"


def test_of_two_patterns_the_one_with_more_letters_wins_whatever_the_order() -> None:
    levels = [
        level("e*", target_bytes=1),
        level("etl_*", target_bytes=2),
        level("*l_x", manifests=5),
    ]
    for ordered in (levels, levels[::-1]):
        assert resolve(ordered, db="etl_x", table="t").policy.target_bytes == 2


def test_none_is_a_value_and_absence_is_not() -> None:
    levels = [level("*", quiet="22:00-06:00", budget_gb_hours=5), level("a", quiet=None)]
    found = resolve(levels, db="a", table="t").policy
    assert found.quiet is None
    assert found.budget_gb_hours == 5


def test_a_pattern_stays_within_its_part_of_the_name() -> None:
    assert not level("a.b*").fits("a", "c")
    assert not level("*.x").fits("a", "b.x")
    assert level("A.B?").fits("a", "bc")


@pytest.mark.parametrize(
    ("scope", "kind"),
    [
        ("*", LevelKind.LAKE),
        ("etl", LevelKind.DATABASES),
        ("etl*", LevelKind.DATABASES),
        ("etl.e*", LevelKind.TABLES),
        ("etl.e", LevelKind.TABLE),
    ],
)
def test_the_form_of_a_scope_says_its_level(scope: str, kind: LevelKind) -> None:
    assert kind_of_scope(scope) is kind


@pytest.mark.parametrize("scope", ["", "a.b.c", "a b", ".a", "a.", "a/b"])
def test_another_scope_is_refused(scope: str) -> None:
    with pytest.raises(RuleViolation, match="Write one of these") as refused:
        kind_of_scope(scope)
    assert refused.value.code == "policy.scope"


def test_nothing_is_done_and_nothing_destroyed_unless_it_is_asked_for() -> None:
    assert not DEFAULT.is_on
    assert not DEFAULT.kinds & DESTRUCTIVE
    check(DEFAULT)


@pytest.mark.parametrize(
    ("policy", "names", "way_out"),
    [
        (Policy(target_bytes=0), ["target_bytes"], "512 MiB"),
        (Policy(orphan_days=2), ["orphan_days"], "3 days or more"),
        (Policy(keep_snapshots=0), ["keep_snapshots"], "at least 1"),
        (Policy(expire_days=0), ["expire_days"], "1 day or more"),
        (Policy(manifests=1), ["manifests"], "2 or more"),
        (Policy(min_interval_minutes=0), ["min_interval_minutes"], "1 minute or more"),
        (
            Policy(is_on=True, quiet=BlackoutWindow(time(6), time(6))),
            ["is_on", "quiet"],
            "or switch it off",
        ),
        (
            Policy(is_on=True, quiet=BlackoutWindow(time(6), time(5, 40))),
            ["is_on", "quiet"],
            "leave 20 minutes",
        ),
        (Policy(is_on=True, kinds=frozenset()), ["is_on", "kinds"], "allow a kind"),
        (Policy(is_on=True, budget_gb_hours=0), ["is_on", "budget_gb_hours"], "give it a budget"),
        (
            Policy(layout=parse_layout("sort(a)"), kinds=frozenset({TaskKind.MINOR})),
            ["layout", "kinds"],
            "allow CLUSTER",
        ),
        (
            Policy(is_on=True, kinds=frozenset({TaskKind.CLUSTER})),
            ["layout", "kinds"],
            "write one",
        ),
        (Policy(full_days=7), ["full_days", "kinds"], "set full_days to 0"),
    ],
)
def test_a_contradiction_names_its_fields_and_a_way_out(
    policy: Policy, names: list[str], way_out: str
) -> None:
    with pytest.raises(RuleViolation, match=way_out) as refused:
        check(policy)
    assert refused.value.code == "policy.contradiction"
    assert refused.value.fields == {"policy_fields": names}


def test_the_whole_day_may_be_quiet_where_it_is_off() -> None:
    check(Policy(is_on=False, quiet=BlackoutWindow(time(6), time(6))))


@given(POLICIES)
def test_every_policy_is_read_back_as_it_was_written(policy: Policy) -> None:
    written = write_policy(policy)
    assert set(written) == set(FIELDS)
    if abs(policy.target_bytes) > 10**12:
        return
    assert Policy(**read_values(written)) == policy  # type: ignore[arg-type] # fields by name
    assert write_values(read_values(written)) == written


@given(POLICIES)
def test_a_policy_that_passes_leaves_something_to_do_and_time_for_it(policy: Policy) -> None:
    if contradiction(policy) is not None:
        return
    assert policy.orphan_days >= 3
    assert policy.keep_snapshots >= 1
    assert policy.target_bytes > 0
    if policy.is_on:
        assert policy.kinds
        assert policy.quiet is None or policy.quiet.minutes <= 24 * 60 - 30


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({"target": 1}, "no setting target"),
        ({"target_bytes": "1"}, "whole number"),
        ({"target_bytes": True}, "whole number"),
        ({"target_bytes": None}, "whole number"),
        ({"is_on": 1}, "true or false"),
        ({"quiet": "25:00-26:00"}, "22:00-06:00"),
        ({"quiet": "late"}, "22:00-06:00"),
        ({"budget_gb_hours": -1}, "not negative"),
        ({"budget_gb_hours": float("nan")}, "not negative"),
        ({"kinds": ["SHRED"]}, "a list of MINOR"),
        ({"kinds": "MINOR"}, "a list of MINOR"),
        ({"caution": "some"}, "one of low"),
        ({"layout": 5}, "hilbert"),
        ({"layout": "hilbert(a,b,c,d,e)"}, "5 columns"),
    ],
)
def test_a_value_that_is_none_is_refused(raw: dict[str, object], says: str) -> None:
    with pytest.raises(RuleViolation, match=says):
        read_values(raw)


@given(
    QUIET.filter(lambda one: one is not None),
    st.integers(0, 366 * 24 * 3600),
)
def test_quiet_hours_end_and_then_it_is_not_quiet(quiet: BlackoutWindow, seconds: int) -> None:
    zone = ZoneInfo("Asia/Shanghai")
    now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    if not quiet.covers(now, zone):
        return
    end = quiet.end_after(now, zone)
    assert now < end <= now + timedelta(days=1)
    if quiet.minutes < 24 * 60:
        assert not quiet.covers(end, zone)
        assert quiet.covers(end - timedelta(minutes=1), zone)


def test_quiet_hours_pass_midnight() -> None:
    quiet, zone = BlackoutWindow(time(22), time(6)), ZoneInfo("Asia/Shanghai")
    assert quiet.covers(datetime(2026, 1, 1, 15, 0, tzinfo=UTC), zone)
    assert quiet.covers(datetime(2026, 1, 1, 21, 59, tzinfo=UTC), zone)
    assert not quiet.covers(datetime(2026, 1, 1, 22, 0, tzinfo=UTC), zone)
    assert str(quiet) == "22:00-06:00"
