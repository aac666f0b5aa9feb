"""Which snapshots may go: never the current one, never a referenced one, never a young one."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.iceberg.maintenance.domain.expiry import (
    RefFact,
    Retention,
    SnapshotFact,
    Stay,
    judge,
    still_going,
)
from portal.lake.errors import RuleViolation

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
WEEK = Retention(expire_days=7, keep_snapshots=2)


def line(*ages: int, first: int = 1, parent: int | None = None) -> list[SnapshotFact]:
    """Snapshots one after the other, so many days old each."""
    found = []
    for n, age in enumerate(ages, start=first):
        found.append(SnapshotFact(n, parent, NOW - timedelta(days=age)))
        parent = n
    return found


def main(snapshot_id: int, **values: Any) -> RefFact:
    return RefFact("main", snapshot_id, is_branch=True, **values)


def test_what_is_old_and_not_among_the_newest_goes() -> None:
    found = judge(line(30, 20, 10, 9, 8, 1), [main(6)], retention=WEEK, now=NOW)
    assert found.goes == (1, 2, 3, 4)
    assert found.stays == {5: Stay.NEWEST, 6: Stay.CURRENT}
    assert found.n_stays == {"NEWEST": 1, "CURRENT": 1}


def test_exactly_as_old_as_the_policy_says_is_old_enough_and_a_second_less_is_not() -> None:
    exactly = line(30, 7, 1, 0)
    assert judge(exactly, [main(4)], retention=WEEK, now=NOW).goes == (1, 2)
    younger = [*exactly[:1], replace(exactly[1], at=exactly[1].at + timedelta(seconds=1))]
    found = judge([*younger, *exactly[2:]], [main(4)], retention=WEEK, now=NOW)
    assert (found.goes, found.stays[2]) == ((1,), Stay.YOUNG)


def test_tags_branches_and_what_is_written_aside_stay() -> None:
    snapshots = [
        *line(60, 50, 40, 30, 20, 1),
        # A branch that left main at 3, another writer's snapshot aside, and one rolled back.
        *line(35, 34, first=11, parent=3),
        replace(line(33, first=21, parent=4)[0], is_staged=True),
        *line(32, first=31, parent=4),
    ]
    refs = [
        main(6),
        RefFact("audit", 12, is_branch=True),
        RefFact("year end", 2, is_branch=False),
    ]
    found = judge(snapshots, refs, retention=WEEK, now=NOW)
    assert found.goes == (1, 3, 31, 4)
    assert (found.stays[2], found.stays[11]) == (Stay.REFERENCED, Stay.BRANCH)
    assert (found.stays[12], found.stays[21]) == (Stay.REFERENCED, Stay.STAGED)


def test_what_a_trial_of_a_layout_holds_is_no_users() -> None:
    snapshots = [*line(60, 50, 1), *line(49, first=11, parent=2)]
    refs = [main(3), RefFact("lakewarden_trial_7_abc", 11, is_branch=True)]
    found = judge(snapshots, refs, retention=WEEK, now=NOW)
    assert (found.goes, found.stays[11]) == ((1,), Stay.TRIAL)
    tagged = RefFact("keep", 11, is_branch=False)
    assert judge(snapshots, [*refs, tagged], retention=WEEK, now=NOW).stays[11] == Stay.REFERENCED


def test_the_retention_of_a_branch_and_of_the_table_keeps_more_never_less() -> None:
    snapshots = line(60, 50, 40, 30, 20, 1)
    branch = RefFact("audit", 4, is_branch=True, min_snapshots=2)
    assert judge(snapshots, [main(6), branch], retention=WEEK, now=NOW).goes == (1, 2)
    aged = RefFact("audit", 4, is_branch=True, max_age=timedelta(days=45))
    assert judge(snapshots, [main(6), aged], retention=WEEK, now=NOW).goes == (1, 2)
    own = replace(WEEK, min_snapshots=5)
    assert judge(snapshots, [main(6)], retention=own, now=NOW).goes == (1,)
    own = replace(WEEK, max_age=timedelta(days=45))
    assert judge(snapshots, [main(6)], retention=own, now=NOW).goes == (1, 2)
    assert judge(snapshots, [main(6, min_snapshots=4)], retention=WEEK, now=NOW).goes == (1, 2)


def test_without_main_nothing_goes_and_broken_metadata_is_refused() -> None:
    snapshots = line(60, 50, 40)
    tag = RefFact("old", 1, is_branch=False)
    assert judge(snapshots, [tag], retention=WEEK, now=NOW).goes == ()
    assert judge([], [], retention=WEEK, now=NOW).goes == ()
    for rows, refs in (
        (snapshots, [main(3), replace(tag, snapshot_id=9)]),
        ([*snapshots, snapshots[0]], [main(3)]),
    ):
        with pytest.raises(RuleViolation) as refused:
            judge(rows, refs, retention=WEEK, now=NOW)
        assert refused.value.code == "removal.metadata"


def test_of_what_was_approved_only_what_still_may_goes() -> None:
    judged = judge(line(30, 20, 10, 9, 8, 1), [main(6)], retention=WEEK, now=NOW)
    assert still_going([4, 2, 99, 6], judged) == (2, 4)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[SnapshotFact], list[RefFact], Retention]:
    """Any history: parents that went or go in a circle, times in any order, any refs."""
    n = draw(st.integers(1, 12))
    snapshots = [
        SnapshotFact(
            key,
            draw(st.none() | st.integers(1, n + 2)),
            NOW - timedelta(hours=draw(st.integers(-48, 24 * 40))),
            draw(st.booleans()),
        )
        for key in range(1, n + 1)
    ]
    heads = st.integers(1, n)
    refs = [main(draw(heads))] if draw(st.booleans()) else []
    refs += [
        RefFact(
            f"r{k}",
            draw(heads),
            is_branch=draw(st.booleans()),
            min_snapshots=draw(st.none() | st.integers(0, 5)),
            max_age=draw(st.none() | st.builds(timedelta, days=st.integers(0, 60))),
        )
        for k in range(draw(st.integers(0, 3)))
    ]
    kept = Retention(
        draw(st.integers(0, 40)),
        draw(st.integers(0, 14)),
        draw(st.integers(0, 14)),
        timedelta(days=draw(st.integers(0, 40))),
    )
    return snapshots, refs, kept


@given(tables())
def test_never_what_is_current_referenced_or_young_whatever_the_history(
    table: tuple[list[SnapshotFact], list[RefFact], Retention],
) -> None:
    snapshots, refs, retention = table
    found = judge(snapshots, refs, retention=retention, now=NOW)
    assert not {one.snapshot_id for one in refs} & set(found.goes)
    least = NOW - timedelta(days=max(1, retention.expire_days))
    by_id = {one.snapshot_id: one for one in snapshots}
    assert all(by_id[key].at <= least for key in found.goes)
    assert set(found.goes) | found.stays.keys() == by_id.keys()
    assert not set(found.goes) & found.stays.keys()
    later = judge(snapshots, refs, retention=retention, now=NOW + timedelta(days=1))
    if not any(one.max_age for one in refs):
        assert set(found.goes) <= set(later.goes)
    else:
        assert len(later.goes) >= len(found.goes)
    if not any(one.name == "main" for one in refs):
        assert found.goes == ()
