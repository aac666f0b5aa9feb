"""Whose turn it is.

Limits hold, nothing waits for ever, and no very large table delays a small table.
"""

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.lake.errors import RuleViolation
from refresh.core.domain.names import ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.worker.domain.lanes import Lane
from refresh.worker.domain.scheduling import (
    PATIENCE,
    Cluster,
    Limits,
    Running,
    Start,
    Waiting,
    choose,
    place_in_line,
)
from tests.unit.refresh.refresh_names import BI

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
FES = ("fe1", "fe2", "fe3")
NEW = Cluster(FES, Dialect.CATALOGS)
OLD = Cluster(FES, Dialect.RESOURCES)


def table(number: int, *, catalog: str = "hive") -> ExternalTable:
    return ExternalTable(BI, catalog, "db", f"t{number}")


moments = st.integers(-300, 60).map(lambda n: NOW + timedelta(seconds=n))
tables = st.builds(
    lambda n, catalog: table(n, catalog=catalog), st.integers(0, 12), st.sampled_from(["a", "b"])
)
lines = st.lists(
    st.builds(
        Waiting,
        key=st.uuids().map(str),
        table=tables,
        lane=st.sampled_from(Lane),
        since=moments,
        is_urgent=st.booleans(),
        not_before=st.none() | moments,
        only_on=st.sampled_from(["", "", "fe1", "fe2", "gone"]),
        turn_ended=st.none() | moments,
    ),
    max_size=15,
)
limits = st.builds(Limits, st.integers(3, 5), st.integers(3, 6))
clusters = st.builds(
    Cluster,
    st.sampled_from([FES, ("fe2",), ()]),
    st.sampled_from(Dialect),
    st.booleans(),
    st.just(value=False),
)


@settings(max_examples=60)  # a long line costs more to draw than to judge
@given(line=lines, cluster=clusters, limits=limits, rounds=st.integers(1, 3))
def test_no_limit_is_ever_crossed(
    line: list[Waiting], cluster: Cluster, limits: Limits, rounds: int
) -> None:
    running: list[Running] = []
    for _ in range(rounds):
        starts = choose(line, running=running, cluster=cluster, limits=limits, now=NOW)
        running += [Running(one.waiting.table, one.waiting.lane, one.fe) for one in starts]
        gone = {one.waiting.key for one in starts}
        line = [one for one in line if one.key not in gone]
        for one in starts:
            assert one.fe in cluster.fes
            assert one.waiting.only_on in ("", one.fe)
            assert one.waiting.not_before is None or one.waiting.not_before <= NOW
    assert len({one.table for one in running}) == len(running)
    if cluster.dialect is Dialect.RESOURCES:
        assert len(running) <= 1
        assert cluster.large_may_start or all(one.lane < Lane.GIANT for one in running)
    for lane in Lane:
        slow = [one for one in running if one.lane >= lane]
        by_fe, by_catalog = (
            Counter(one.fe for one in slow),
            Counter(one.table.catalog for one in slow),
        )
        assert all(n <= limits.per_fe - lane for n in by_fe.values())
        assert all(n <= limits.per_catalog - lane for n in by_catalog.values())


@settings(max_examples=60)  # a long line costs more to draw than to judge
@given(line=lines, cluster=clusters, limits=limits)
def test_a_free_cluster_never_idles_while_somebody_may_run(
    line: list[Waiting], cluster: Cluster, limits: Limits
) -> None:
    starts = choose(line, running=[], cluster=cluster, limits=limits, now=NOW)
    may_run = [
        one
        for one in line
        if (one.not_before is None or one.not_before <= NOW)
        and (one.only_on in cluster.fes if one.only_on else cluster.fes)
        and (
            cluster.dialect is Dialect.CATALOGS or one.lane < Lane.GIANT or cluster.large_may_start
        )
    ]
    assert bool(starts) == bool(may_run)
    if may_run:
        first = min(may_run, key=lambda one: place_in_line(one, dialect=cluster.dialect, now=NOW))
        assert starts[0].waiting == first


@settings(max_examples=60)  # a long line costs more to draw than to judge
@given(line=lines, cluster=clusters, limits=limits)
def test_the_same_line_gives_the_same_choice_in_any_order(
    line: list[Waiting], cluster: Cluster, limits: Limits
) -> None:
    one_way = choose(line, running=[], cluster=cluster, limits=limits, now=NOW)
    other = choose(line[::-1], running=[], cluster=cluster, limits=limits, now=NOW)
    assert one_way == other
    paused = replace(cluster, is_paused=True)
    assert choose(line, running=[], cluster=paused, limits=limits, now=NOW) == []


def test_any_number_of_giants_leaves_room_for_a_small_table() -> None:
    giants = [Waiting(f"g{n:02}", table(n), Lane.GIANT, NOW) for n in range(50)]
    small = Waiting("small", table(99), Lane.FAST, NOW + timedelta(hours=1))
    starts = choose([*giants, small], running=[], cluster=NEW, limits=Limits(3, 3), now=NOW)
    assert [one.waiting.key for one in starts] == ["g00", "small"]


def test_behind_the_one_lock_giants_wait_for_their_hour_and_nobody_else_does() -> None:
    giant = Waiting("giant", table(1, catalog=""), Lane.GIANT, NOW)
    small = Waiting("small", table(2, catalog=""), Lane.FAST, NOW + timedelta(seconds=1))
    closed = replace(OLD, large_may_start=False)

    def started(cluster: Cluster, *running: Running) -> list[str]:
        found = choose([giant, small], running=running, cluster=cluster, limits=Limits(), now=NOW)
        return [one.waiting.key for one in found]

    assert started(closed) == ["small"]
    assert started(OLD) == ["small"]
    assert started(OLD, Running(table(3, catalog=""), Lane.FAST, "fe1")) == []


def test_behind_the_one_lock_a_giant_goes_when_nobody_faster_waits_or_was_passed_over() -> None:
    def at(seconds: int) -> datetime:
        return NOW + timedelta(seconds=seconds)

    def first(*waiting: Waiting, now: datetime) -> str:
        starts = choose(waiting, running=[], cluster=OLD, limits=Limits(), now=now)
        return starts[0].waiting.key

    backfill = Waiting("backfill", table(1, catalog=""), Lane.GIANT, NOW, is_urgent=True)
    again = replace(backfill, turn_ended=at(20))
    before = Waiting("before", table(2, catalog=""), Lane.FAST, at(8))
    # The second statement of a small table came back in line after the very large table's first.
    second = Waiting("second", table(3, catalog=""), Lane.FAST, at(10), turn_ended=at(22))
    patience = round(PATIENCE[Lane.GIANT].total_seconds())

    assert first(backfill, before, now=at(20)) == "before"
    assert first(again, second, now=at(22)) == "second"
    assert first(again, now=at(22)) == "backfill"
    new = replace(before, since=at(18 + patience))
    assert first(again, new, now=at(19 + patience)) == "before"
    assert first(again, new, now=at(20 + patience)) == "backfill", "it comes to its end"


def test_behind_the_one_lock_a_table_of_many_statements_lets_others_in_between() -> None:
    def at(seconds: int) -> datetime:
        return NOW + timedelta(seconds=seconds)

    backfill = Waiting("backfill", table(1, catalog=""), Lane.FAST, NOW, is_urgent=True)
    again = replace(backfill, turn_ended=at(9))
    before = Waiting("before", table(2, catalog=""), Lane.FAST, at(8))
    after = Waiting("after", table(3, catalog=""), Lane.FAST, at(10))

    def first(*waiting: Waiting) -> str:
        now = at(20)
        starts = choose(waiting, running=[], cluster=OLD, limits=Limits(), now=now)
        return starts[0].waiting.key

    assert first(backfill, before) == "backfill"
    assert first(again, before, after) == "before"
    assert first(again, after) == "backfill", "and so it comes to its end, whoever comes"


def test_without_lanes_everything_is_one_line() -> None:
    giant = Waiting("giant", table(1), Lane.GIANT, NOW)
    small = Waiting("small", table(2, catalog="b"), Lane.FAST, NOW + timedelta(seconds=1))
    one_line = Limits(has_lanes=False)

    def started(*running: Running) -> list[str]:
        found = choose([small, giant], running=running, cluster=NEW, limits=one_line, now=NOW)
        return [one.waiting.key for one in found]

    assert started() == ["giant"]
    assert started(Running(giant.table, Lane.GIANT, "fe1")) == []


def test_the_last_place_is_kept_for_whoever_was_first_in_line() -> None:
    """A repair waits for its front end; nobody younger takes its catalog's last place meanwhile."""
    busy = [Running(table(n, catalog="b"), Lane.FAST, "fe2") for n in range(3)]
    busy += [Running(table(n, catalog="a"), Lane.FAST, "fe1") for n in (10, 11)]
    repair = Waiting("repair", table(20, catalog="a"), Lane.FAST, NOW, only_on="fe2")
    younger = Waiting("younger", table(21, catalog="a"), Lane.FAST, NOW + timedelta(seconds=1))

    def started(*waiting: Waiting) -> list[str]:
        found = choose(waiting, running=busy, cluster=NEW, limits=Limits(3, 3), now=NOW)
        return [one.waiting.key for one in found]

    assert started(younger) == ["younger"]
    assert started(younger, repair) == []


def test_a_cluster_without_a_place_for_each_lane_is_refused() -> None:
    with pytest.raises(RuleViolation, match="needs a place"):
        Limits(per_fe=2)


SECONDS = {Lane.FAST: 1, Lane.SLOW: 2, Lane.GIANT: 5}
# More than can go out: behind the one lock that is soon reached.
N_A_TURN = {Dialect.CATALOGS: 4, Dialect.RESOURCES: 2}


class Rush:
    """A cluster in a rush: something faster, newer and urgent comes in all the time."""

    def __init__(self, seed: int, cluster: Cluster) -> None:
        self.chance = random.Random(seed)
        self.cluster = cluster
        self.limits = Limits(3, 3)
        self.now = NOW
        self.waiting: list[Waiting] = []
        self.running: dict[str, tuple[Running, datetime]] = {}
        self.arrived = 0

    def arrive(self, *, lane: Lane | None = None, only_on: str = "") -> str:
        self.arrived += 1
        one = Waiting(
            f"w{self.arrived:05}",
            table(self.arrived, catalog=self.chance.choice("ab") if lane is None else "a"),
            self.chance.choice([Lane.FAST] * 8 + [Lane.SLOW, Lane.GIANT]) if lane is None else lane,
            self.now,
            is_urgent=lane is None and self.chance.random() < 0.5,
            only_on=only_on,
        )
        self.waiting.append(one)
        return one.key

    def turn(self) -> list[Start]:
        self.now += timedelta(seconds=1)
        over = [key for key, (_, end) in self.running.items() if end <= self.now]
        for key in over:
            del self.running[key]
        starts = choose(
            self.waiting,
            running=[one for one, _ in self.running.values()],
            cluster=self.cluster,
            limits=self.limits,
            now=self.now,
        )
        for one in starts:
            until = self.now + timedelta(seconds=SECONDS[one.waiting.lane])
            running = Running(one.waiting.table, one.waiting.lane, one.fe)
            self.running[one.waiting.key] = (running, until)
        gone = {one.waiting.key for one in starts}
        self.waiting = [one for one in self.waiting if one.key not in gone]
        return starts


@pytest.mark.parametrize("cluster", [NEW, OLD], ids=["catalogs", "resources"])
@pytest.mark.parametrize(
    ("lane", "only_on"), [(Lane.GIANT, ""), (Lane.SLOW, ""), (Lane.FAST, "fe2")]
)
@pytest.mark.parametrize("seed", range(2))
def test_nothing_waits_for_ever_however_many_overtake(
    cluster: Cluster, lane: Lane, only_on: str, seed: int
) -> None:
    """More comes in than can go out, so whoever could be overtaken for ever would be."""
    rush, n_a_turn = Rush(seed, cluster), N_A_TURN[cluster.dialect]
    for _ in range(10):
        rush.arrive()
    ours = rush.arrive(lane=lane, only_on=only_on)
    # Before it go those ten and the urgent ones of the next minute, one after another at worst.
    for _ in range((10 + n_a_turn * 61) * SECONDS[Lane.GIANT]):
        for _ in range(n_a_turn):
            rush.arrive()
        if ours in {one.waiting.key for one in rush.turn()}:
            break
    else:
        raise AssertionError(f"{ours} never had its turn")
    assert rush.waiting, "nobody was left waiting, so nothing was tried"
