"""Read your writes: what the portal calls visible is visible in a model of caches, every time."""

from collections.abc import Sequence
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refresh.changes.domain.changes import PartitionChange
from refresh.clusters.domain.frontends import FeState
from refresh.core.domain.versions import Dialect
from refresh.freshness.domain.coverage import CompletedRefresh, Wish, is_provable, missing
from refresh.freshness.domain.freshness import Danger, Freshness, standing
from refresh.freshness.domain.pending_refresh import TableChanges
from refresh.freshness.domain.visibility import Divergence, FeRecord, Visibility, judge, judge_wait
from tests.unit.refresh.refresh_world import N_FES, NAMES, START, World, at

ACTIONS = (
    *("write", "write", "drop", "begin_table", "begin_partition", "end", "end", "fail"),
    *("query", "query", "restart", "look", "probe", "freeze", "die", "revive"),
)
scripts = st.lists(
    st.tuples(st.sampled_from(ACTIONS), st.integers(0, N_FES - 1), st.sampled_from(NAMES)),
    min_size=20,
    max_size=50,
)


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=50)  # each looks at every moment of a long history
@given(script=scripts)
def test_what_is_called_visible_is_seen_on_every_live_front_end(
    dialect: Dialect, script: list[tuple[str, int, str]]
) -> None:
    world = World(dialect)
    for action in script:
        world.act(*action)
        records = world.records()
        for written in world.written:
            answer = judge_wait(
                written.wish, records, deadline=at(10**6), is_strict=True, now=world.now
            )
            assert answer.excluded == tuple(
                one.name for one in records if one.state is FeState.DEAD
            )
            for one, judged in zip(world.fes, answer.fes, strict=True):
                assert judged.visibility is not Visibility.VISIBLE or (
                    one.state is FeState.ALIVE and world.shows(one, written)
                )
            if answer.is_visible:
                assert all(one.state is not FeState.FROZEN for one in world.fes)
                assert any(one.state is FeState.ALIVE for one in world.fes)


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=50)  # each looks at every moment of a long history
@given(script=scripts)
def test_refreshing_what_was_asked_for_always_ends_the_wait(
    dialect: Dialect, script: list[tuple[str, int, str]]
) -> None:
    """No history can keep a write from being proven once everybody was refreshed after it."""
    world = World(dialect)
    for action in script:
        world.act(*action)
    world.act("write", 0, NAMES[0])
    for number, one in enumerate(world.fes):
        world.act("revive", number, "")
        one.running = None
        for what in ("begin_table", "end", "begin_partition", "end"):
            world.act(what, number, NAMES[0])
    wish = world.written[-2].wish
    answer = judge_wait(wish, world.records(), deadline=world.now, is_strict=True, now=world.now)
    assert answer.is_visible, answer
    assert answer.lacking == ()


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=50)  # each looks at every moment of a long history
@given(script=scripts)
def test_a_front_end_called_fresh_or_cold_answers_as_the_metastore(
    dialect: Dialect, script: list[tuple[str, int, str]]
) -> None:
    world = World(dialect)
    for action in script:
        world.act(*action)
        names = frozenset(world.metastore.versions)
        changes = TableChanges(START, is_partitioned=True, partitions=world.changes, names=names)
        for one, record in zip(world.fes, world.records(), strict=True):
            found = standing(changes, record)
            if found.freshness in (Freshness.FRESH, Freshness.COLD):
                assert one.fe.copy().query(world.metastore) == world.metastore.versions
            if found.danger is Danger.NONE:
                assert found.freshness not in (Freshness.STALE, Freshness.DIVERGED)


def record(
    *done: CompletedRefresh,
    state: FeState = FeState.ALIVE,
    dialect: Dialect = Dialect.CATALOGS,
    empty_after: datetime | None = None,
    divergence: Divergence | None = None,
) -> FeRecord:
    return FeRecord("fe", state, dialect, done, empty_after, divergence)


WISH = Wish(at(10), is_partitioned=True, partitions=frozenset({"dt=1"}))
TABLE_AFTER = CompletedRefresh(at(11), at(12))
TABLE_BEFORE = CompletedRefresh(at(9), at(20))
PART_AFTER = CompletedRefresh(at(11), at(12), frozenset({"dt=1", "dt=2"}))


@pytest.mark.parametrize(
    ("fe", "visibility"),
    [
        (record(), Visibility.NOT_YET),
        (record(TABLE_AFTER), Visibility.VISIBLE),
        (record(PART_AFTER), Visibility.VISIBLE),
        # It ended after the write but began before it, so it may have read the old state.
        (record(TABLE_BEFORE), Visibility.NOT_YET),
        (record(CompletedRefresh(at(10), at(12))), Visibility.NOT_YET),
        (record(TABLE_AFTER, dialect=Dialect.RESOURCES), Visibility.NOT_YET),
        (record(PART_AFTER, dialect=Dialect.RESOURCES), Visibility.NOT_YET),
        (record(TABLE_AFTER, PART_AFTER, dialect=Dialect.RESOURCES), Visibility.VISIBLE),
        (record(TABLE_AFTER, state=FeState.DEAD), Visibility.EXCLUDED),
        (record(TABLE_AFTER, state=FeState.FROZEN), Visibility.FROZEN),
        (record(empty_after=at(11)), Visibility.VISIBLE),
        (record(empty_after=at(10)), Visibility.NOT_YET),
        (record(TABLE_AFTER, divergence=Divergence(at(15), "x")), Visibility.DISPROVED),
        (record(TABLE_AFTER, divergence=Divergence(at(5), "x")), Visibility.VISIBLE),
        (record(empty_after=at(11), divergence=Divergence(at(15), "x")), Visibility.NOT_YET),
        (
            record(
                TABLE_AFTER, CompletedRefresh(at(16), at(17)), divergence=Divergence(at(15), "x")
            ),
            Visibility.VISIBLE,
        ),
    ],
)
def test_one_front_end_is_judged(fe: FeRecord, visibility: Visibility) -> None:
    judged = judge(WISH, fe)
    assert judged.visibility is visibility
    assert judged.reason


def judged_by_hand(wish: Wish, fe: FeRecord) -> bool:
    """Read the rule again, name by name, without sets and shortcuts."""
    after = max([wish.written_at, *([fe.divergence.at] if fe.divergence else [])])
    if fe.empty_after and fe.empty_after > after:
        return True
    is_new = fe.dialect is Dialect.CATALOGS
    table = [one for one in fe.done if one.began_at > after and not one.partitions]
    if is_new or not wish.is_partitioned:
        if table:
            return True
        return bool(wish.partitions) and all(
            any(name in one.partitions for one in fe.done if one.began_at > after)
            for name in wish.partitions
        )
    return (
        bool(table)
        and bool(wish.partitions)
        and all(
            any(name in one.partitions for one in fe.done if one.began_at > after)
            for name in wish.partitions
        )
    )


instants = st.integers(0, 6).map(at)
dones = st.builds(
    CompletedRefresh, instants, st.just(at(9)), st.frozensets(st.sampled_from(NAMES), max_size=2)
)
wishes = st.builds(Wish, instants, st.booleans(), st.frozensets(st.sampled_from(NAMES), max_size=2))


@given(
    wish=wishes,
    done=st.lists(dones, max_size=4).map(tuple),
    dialect=st.sampled_from(Dialect),
    empty_after=st.none() | instants,
    divergence=st.none() | instants.map(lambda when: Divergence(when, "x")),
)
def test_the_rule_equals_a_plain_reading_of_it(
    wish: Wish,
    done: tuple[CompletedRefresh, ...],
    dialect: Dialect,
    empty_after: datetime | None,
    divergence: Divergence | None,
) -> None:
    fe = FeRecord("fe", FeState.ALIVE, dialect, done, empty_after, divergence)
    judged = judge(wish, fe).visibility
    assert (judged is Visibility.VISIBLE) == judged_by_hand(wish, fe)
    if judged is Visibility.UNPROVABLE:
        assert not is_provable(wish, dialect=dialect)
    # One more refresh never makes anything less visible.
    more = FeRecord(
        "fe",
        FeState.ALIVE,
        dialect,
        (*done, CompletedRefresh(at(8), at(9))),
        empty_after,
        divergence,
    )
    assert judged is not Visibility.VISIBLE or judge(wish, more).visibility is judged
    assert set(missing(wish, more.done, dialect=dialect)) <= set(
        missing(wish, done, dialect=dialect)
    )


def test_an_answer_names_who_lacks_it_and_best_effort_never_calls_it_visible() -> None:
    fes = [
        FeRecord("a", FeState.ALIVE, Dialect.CATALOGS, (TABLE_AFTER,)),
        FeRecord("b", FeState.DEAD, Dialect.CATALOGS),
        FeRecord("c", FeState.FROZEN, Dialect.CATALOGS, (TABLE_AFTER,)),
    ]

    def asked(some: Sequence[FeRecord], *, is_strict: bool, seconds: int) -> tuple[bool, ...]:
        found = judge_wait(WISH, some, deadline=at(60), is_strict=is_strict, now=at(seconds))
        return found.is_visible, found.is_over, found.may_go_on

    assert asked(fes[:2], is_strict=True, seconds=20) == (True, True, True)
    assert asked(fes, is_strict=True, seconds=20) == (False, False, False)
    assert asked(fes, is_strict=True, seconds=60) == (False, True, False)
    assert asked(fes, is_strict=False, seconds=59) == (False, False, False)
    assert asked(fes, is_strict=False, seconds=60) == (False, True, True)
    assert asked(fes[1:2], is_strict=True, seconds=20) == (False, False, False)
    assert asked([], is_strict=True, seconds=20) == (False, False, False)
    answer = judge_wait(WISH, fes, deadline=at(60), is_strict=True, now=at(20))
    assert (answer.excluded, answer.lacking) == (("b",), ("c",))
    whole = Wish(at(10), is_partitioned=True)
    old = FeRecord("o", FeState.ALIVE, Dialect.RESOURCES, (TABLE_AFTER,))
    unprovable = judge_wait(whole, [old], deadline=at(60), is_strict=True, now=at(20))
    assert (unprovable.is_visible, unprovable.is_over) == (False, True)


@pytest.mark.parametrize(
    ("fe", "freshness", "danger"),
    [
        (record(CompletedRefresh(at(1), at(2))), Freshness.STALE, Danger.WRONG),
        (record(PART_AFTER), Freshness.STALE, Danger.INCOMPLETE),
        (record(TABLE_AFTER), Freshness.STALE, Danger.INCOMPLETE),
        (record(CompletedRefresh(at(21), at(22))), Freshness.FRESH, Danger.NONE),
        (
            record(CompletedRefresh(at(21), at(22)), divergence=Divergence(at(30), "x")),
            Freshness.DIVERGED,
            Danger.WRONG,
        ),
        (record(empty_after=at(21)), Freshness.COLD, Danger.NONE),
        (
            record(CompletedRefresh(at(22), at(23)), empty_after=at(21)),
            Freshness.FRESH,
            Danger.NONE,
        ),
        (record(state=FeState.DEAD), Freshness.UNKNOWN, Danger.NONE),
        (record(state=FeState.FROZEN), Freshness.UNKNOWN, Danger.UNKNOWN),
    ],
)
def test_a_table_on_a_front_end_has_its_state(
    fe: FeRecord, freshness: Freshness, danger: Danger
) -> None:
    """An update at 10, and a new partition at 20."""
    changes = TableChanges(
        START,
        is_partitioned=True,
        partitions={
            "dt=1": (at(10), PartitionChange.UPDATED),
            "dt=9": (at(20), PartitionChange.ADDED),
        },
    )
    found = standing(changes, fe)
    assert (found.freshness, found.danger) == (freshness, danger)
    assert (found.stale_since is None) == (freshness not in (Freshness.STALE, Freshness.DIVERGED))


def test_what_was_cached_before_we_watched_is_unknown_until_it_is_renewed() -> None:
    changes = TableChanges(at(5), is_partitioned=True, names=frozenset({"dt=1", "dt=2"}))
    assert standing(changes, record()).freshness is Freshness.UNKNOWN
    assert standing(changes, record(CompletedRefresh(at(4), at(9)))).freshness is Freshness.UNKNOWN
    assert standing(changes, record(TABLE_AFTER)).freshness is Freshness.FRESH
    old = Dialect.RESOURCES
    assert standing(changes, record(TABLE_AFTER, dialect=old)).freshness is Freshness.UNKNOWN
    every = record(TABLE_AFTER, PART_AFTER, dialect=old)
    assert standing(changes, every).freshness is Freshness.FRESH


def test_a_new_beginning_from_before_we_watched_proves_nothing() -> None:
    changes = TableChanges(at(5), is_partitioned=True)
    assert standing(changes, record(empty_after=at(4))).freshness is Freshness.UNKNOWN
    assert standing(changes, record(empty_after=at(5))).freshness is Freshness.COLD


@pytest.mark.parametrize("dialect", Dialect)
def test_a_dropped_partition_needs_the_list_renewed_and_no_refresh_by_its_name(
    dialect: Dialect,
) -> None:
    changes = TableChanges(
        START, is_partitioned=True, partitions={"dt=1": (at(10), PartitionChange.DROPPED)}
    )
    fe = record(CompletedRefresh(at(9), at(12)), PART_AFTER, dialect=dialect)
    assert standing(changes, fe).freshness is Freshness.STALE
    fe = record(TABLE_AFTER, dialect=dialect, empty_after=at(1))
    assert standing(changes, fe).freshness is Freshness.FRESH


def test_wrong_answers_come_first() -> None:
    changes = TableChanges(
        START, is_partitioned=True, partitions={"dt=1": (at(10), PartitionChange.UPDATED)}
    )
    wrong, cold = standing(changes, record()), standing(changes, record(empty_after=at(11)))
    down = standing(changes, record(state=FeState.DEAD))
    frozen = standing(changes, record(state=FeState.FROZEN))
    ranked = sorted([cold, frozen, down, wrong], key=lambda one: one.rank)
    assert ranked == [wrong, frozen, down, cold]


def test_dropped_partitions_need_the_list_of_names_renewed() -> None:
    gone = Wish(at(10), is_partitioned=True, has_dropped=True)
    both = Wish(at(10), is_partitioned=True, partitions=frozenset({"dt=1"}), has_dropped=True)
    for dialect in Dialect:
        assert is_provable(gone, dialect=dialect)
        assert missing(gone, (PART_AFTER,), dialect=dialect) == ("",)
        assert missing(gone, (TABLE_AFTER,), dialect=dialect) == ()
        assert missing(both, (PART_AFTER,), dialect=dialect) == ("",)
        assert missing(both, (PART_AFTER, TABLE_AFTER), dialect=dialect) == ()
    assert missing(both, (TABLE_AFTER,), dialect=Dialect.RESOURCES) == ("dt=1",)
