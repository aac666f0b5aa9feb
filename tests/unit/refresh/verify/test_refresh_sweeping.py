"""What is hot is looked at in turn, and a look says only what it can know."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refresh.changes.domain.changes import PartitionChange
from refresh.verify.domain.probing import Picture, disproofs
from refresh.verify.domain.sweeping import (
    Hot,
    Known,
    Stamp,
    SweepLimits,
    changed,
    chosen,
    due,
    interval,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LIMITS = SweepLimits(tables=3, newest=3, changed=2)
NAMES = [f"dt={number:02}" for number in range(10)]
ages = st.integers(0, 14 * 24 * 60).map(lambda minutes: timedelta(minutes=minutes))
hots = st.lists(
    st.tuples(ages, st.none() | ages).map(
        lambda pair: (NOW - pair[0], None if pair[1] is None else NOW - pair[1])
    ),
    max_size=12,
).map(lambda rows: [Hot(key, *row) for key, row in enumerate(rows)])
stamps = st.builds(Stamp, st.integers(0, 1), st.integers(0, 1), st.integers(0, 1))
lakes = st.dictionaries(st.sampled_from(NAMES), stamps)
lately = st.lists(st.sampled_from([*NAMES, "dt=gone"]))


@given(quiet=ages, more=ages)
def test_the_longer_it_is_quiet_the_longer_it_waits(quiet: timedelta, more: timedelta) -> None:
    short, long = interval(quiet, limits=LIMITS), interval(quiet + more, limits=LIMITS)
    assert LIMITS.shortest <= short <= long <= LIMITS.longest


@given(tables=hots)
def test_a_turn_takes_the_most_recent_of_what_is_due(tables: list[Hot]) -> None:
    chosen_keys = due(tables, now=NOW, limits=LIMITS)
    by_key = {one.key: one for one in tables}
    assert len(chosen_keys) <= LIMITS.tables
    taken = [by_key[key].active_at for key in chosen_keys]
    assert taken == sorted(taken, reverse=True)
    for one in tables:
        quiet = NOW - one.active_at
        rested = one.inspected_at is None or NOW - one.inspected_at >= interval(
            quiet, limits=LIMITS
        )
        is_due = quiet <= LIMITS.hot_for and rested
        if one.key in chosen_keys:
            assert is_due
        elif is_due:
            assert len(chosen_keys) == LIMITS.tables
            assert all(at >= one.active_at for at in taken)


@given(names=st.lists(st.sampled_from(NAMES), unique=True), before=lately)
def test_the_newest_and_those_changed_lately_are_looked_at(
    names: list[str], before: list[str]
) -> None:
    found, scanned_from = chosen(names, before, limits=LIMITS)
    assert found == sorted(set(found))
    assert set(found) <= set(names)
    assert len(found) <= LIMITS.newest + LIMITS.changed
    assert set(sorted(names)[-LIMITS.newest :]) <= set(found)
    assert {name for name in names if name >= scanned_from} <= set(found)
    old = [name for name in dict.fromkeys(before) if name in names and name < scanned_from]
    assert set(old[: LIMITS.changed]) <= set(found)


@given(before=lakes, now=lakes, first=lately, second=lately)
def test_a_look_says_what_differs_in_what_was_seen_twice_and_nothing_that_is_not_so(
    before: dict[str, Stamp], now: dict[str, Stamp], first: list[str], second: list[str]
) -> None:
    names, scanned_from = chosen(sorted(before), first, limits=LIMITS)
    known = Known({name: before[name] for name in names}, scanned_from)
    wanted, _ = chosen(sorted(now), second, limits=LIMITS)
    seen = {name: now[name] for name in wanted}
    found = changed(known, seen, existing=now)
    for name, touch in found.items():
        assert (name in before, name in now) == {
            PartitionChange.ADDED: (False, True),
            PartitionChange.DROPPED: (True, False),
            PartitionChange.UPDATED: (True, True),
        }[touch]
    for name in known.stamps.keys() & seen.keys():
        assert (found.get(name) is PartitionChange.UPDATED) == (before[name] != now[name])
    assert known.stamps.keys() - now.keys() <= found.keys()
    assert {name for name in seen if name >= scanned_from} - before.keys() <= found.keys()


def test_the_first_look_concludes_nothing() -> None:
    assert changed(Known({}), {"dt=1": Stamp(1, 1, 1)}, existing=["dt=1"]) == {}


def rows(*, n: int = 2, **cached: int) -> Picture:
    """A picture of `n` partitions, some of them cached."""
    return Picture(n_partitions=n, rows=cached)


@pytest.mark.parametrize(
    ("pictures", "wrong"),
    [
        ({"a": rows(dt=10), "b": rows(dt=10)}, set()),
        ({"a": rows(dt=10), "b": rows(dt=5, n=1)}, {"b"}),
        ({"a": rows(dt=10), "b": rows(dt=11), "c": rows(dt=11)}, {"a", "b", "c"}),
        ({"a": rows(dt=10), "b": rows(dt=11), "c": rows(dt=5, n=1)}, {"a", "b", "c"}),
        ({"a": rows(dt=10), "b": rows(hr=11), "c": rows()}, set()),
        ({"a": rows(dt=10, hr=3), "b": rows(hr=4), "c": rows(dt=10)}, {"a", "b"}),
        ({"a": rows(dt=10), "b": Picture()}, set()),
        ({"a": Picture(2, 7), "b": Picture(2, 6)}, {"b"}),
        ({"a": Picture(2, None, "hdfs://x/b")}, {"a"}),
        ({}, set()),
    ],
)
def test_who_contradicts_the_truth_is_wrong_and_nobody_is_believed_where_they_differ(
    pictures: dict[str, Picture], wrong: set[str]
) -> None:
    truth = Picture(n_partitions=2, ddl_time=7, location="hdfs://x/a")
    assert disproofs(pictures, truth).keys() == wrong
