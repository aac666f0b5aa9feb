"""Leaving completed refreshes out never proves more, and keeps what is needed."""

import json
from collections import Counter
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from refresh.core.domain.versions import Dialect
from refresh.freshness.domain.coverage import (
    KEPT_FOR,
    MOST_ENTRIES,
    MOST_NAMES,
    CompletedRefresh,
    Wish,
    missing,
    pruned,
    read_done,
    write_done,
)
from tests.unit.refresh.refresh_world import NAMES, START, at

minutes = st.integers(0, 180).map(lambda count: at(count * 60))
names = st.frozensets(st.sampled_from(NAMES), max_size=3)
dones = st.lists(
    st.builds(CompletedRefresh, minutes, st.just(at(181 * 60)), names), max_size=12
).map(tuple)
NOW = at(181 * 60)


@given(done=dones, dialect=st.sampled_from(Dialect), data=st.data())
def test_pruning_proves_never_more_and_nothing_less_of_what_is_needed(
    done: tuple[CompletedRefresh, ...], dialect: Dialect, data: st.DataObject
) -> None:
    since = data.draw(st.none() | minutes)
    kept = pruned(done, now=NOW, unsettled_since=since)
    assert pruned(kept, now=NOW, unsettled_since=since) == kept
    wish = Wish(data.draw(minutes), data.draw(st.booleans()), data.draw(names))
    before = missing(wish, done, dialect=dialect)
    after = missing(wish, kept, dialect=dialect)
    assert set(before) <= set(after)
    if wish.written_at >= NOW - KEPT_FOR or (since is not None and wish.written_at >= since):
        assert after == before


@given(done=dones)
def test_what_is_written_is_read_again(done: tuple[CompletedRefresh, ...]) -> None:
    stored = json.loads(json.dumps(write_done(done)))
    assert Counter(read_done(stored)) == Counter(done)


def test_the_table_and_the_newest_stay_however_old_and_big() -> None:
    table = CompletedRefresh(START - timedelta(days=9), START - timedelta(days=9))
    giant = CompletedRefresh(at(0), at(1), frozenset(f"dt={n}" for n in range(MOST_NAMES + 1)))
    assert pruned((table,), now=NOW, unsettled_since=None) == (table,)
    assert pruned((giant, table), now=NOW, unsettled_since=None) == (table, giant)


def test_the_oldest_go_first_when_there_are_too_many() -> None:
    table = CompletedRefresh(at(0), at(1))
    many = tuple(CompletedRefresh(at(n), at(n + 1), frozenset({f"dt={n}"})) for n in range(1, 400))
    kept = pruned((table, *many), now=at(400), unsettled_since=None)
    assert len(kept) == MOST_ENTRIES
    assert kept == (table, *many[-MOST_ENTRIES + 1 :])
    big = tuple(
        CompletedRefresh(at(n), at(n + 1), frozenset(f"dt={n}/h={h}" for h in range(1_000)))
        for n in range(9)
    )
    assert pruned(big, now=at(10), unsettled_since=None) == big[-MOST_NAMES // 1_000 :]


def test_the_same_names_again_are_kept_once() -> None:
    old, new = (
        CompletedRefresh(at(1), at(2), frozenset(NAMES)),
        CompletedRefresh(at(3), at(4), frozenset(NAMES[:2])),
    )
    kept = pruned((new, old), now=at(5), unsettled_since=None)
    assert kept == (CompletedRefresh(at(1), at(2), frozenset(NAMES[2:])), new)
