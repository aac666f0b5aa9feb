"""By changes or in full, with the reason."""

import msgspec
import pytest

from pipelines.commits.domain.positions import NOTHING, Kind, Meaning, full
from pipelines.materialized.domain.costs import Past, estimate
from pipelines.materialized.domain.planner import Known, Way, plan, plan_groups

CHANGED = Known(
    fact=Meaning(Kind.CHANGES, n_commits=2),
    dimensions={"d.u": NOTHING},
    changed_bytes=10 << 20,
    all_bytes=1000 << 20,
)
CHEAP_CHANGES = (Past(is_full=True, seconds=99), Past(is_full=False, seconds=1))


@pytest.mark.parametrize(
    ("changed", "way", "reason"),
    [
        ({}, Way.INCREMENTAL, "2 commits"),
        ({"fact": NOTHING}, Way.NOTHING, "No row"),
        ({"is_new": True}, Way.FULL, "not been computed"),
        ({"is_asked_full": True}, Way.FULL, "asked"),
        ({"is_redefined": True}, Way.FULL, "definition"),
        ({"is_uncounted": True}, Way.FULL, "counts of its distinct values"),
        ({"fact": full("It expired.")}, Way.FULL, "It expired."),
        ({"dimensions": {"d.u": Meaning(Kind.CHANGES)}}, Way.FULL, "joined table d.u changed"),
        ({"changed_bytes": 1990 << 20}, Way.FULL, "changes have 1,990.0 MiB to read, of 1,000.0"),
        ({"changed_bytes": 1, "all_bytes": 1 << 20}, Way.FULL, "By changes takes about"),
        ({"past": CHEAP_CHANGES, "all_bytes": 1}, Way.INCREMENTAL, "as 2 earlier refreshes did"),
        ({"n_since_full": 50}, Way.INCREMENTAL, ""),
        ({"n_since_full": 50, "has_floats": True}, Way.FULL, "floating"),
    ],
)
def test_a_plan_says_why(changed: dict[str, object], way: Way, reason: str) -> None:
    found = plan(msgspec.structs.replace(CHANGED, **changed))
    assert found.way is way
    assert reason in found.reason


def test_groups_may_need_everything() -> None:
    assert plan_groups(n_dirty=20, n_groups=100, n_impossible=0) is None
    many = plan_groups(n_dirty=21, n_groups=100, n_impossible=0)
    assert many is not None
    assert "21 of 100" in many.reason
    odd = plan_groups(n_dirty=0, n_groups=100, n_impossible=1)
    assert odd is not None
    assert odd.way is Way.FULL


def test_a_way_costs_more_the_more_it_reads() -> None:
    little, much = (estimate(n << 20, 1000 << 20, ()) for n in (1, 2000))
    assert little.by_changes < little.in_full == much.in_full < much.by_changes
    small, large = (estimate(1 << 20, n << 20, ()) for n in (1, 10_000))
    assert small.is_full_cheaper
    assert not large.is_full_cheaper


def test_what_each_way_took_is_learnt() -> None:
    usual = estimate(10 << 20, 300 << 20, ())
    slow = [Past(is_full=True, seconds=usual.in_full * 3, all_bytes=300 << 20)]
    found = estimate(10 << 20, 300 << 20, slow)
    assert found.in_full == pytest.approx(usual.in_full * 3)
    assert found.by_changes == pytest.approx(usual.by_changes * 3), "of a slow machine both are"
    slow += [Past(is_full=False, seconds=usual.by_changes, changed_bytes=10 << 20)]
    found = estimate(10 << 20, 300 << 20, slow)
    assert found.by_changes == pytest.approx(usual.by_changes)
    assert found.n_known == 2


def test_one_odd_refresh_and_those_of_another_size_weigh_little() -> None:
    usual = estimate(10 << 20, 300 << 20, ()).by_changes
    same = [Past(is_full=False, seconds=usual, changed_bytes=10 << 20)] * 4
    odd = Past(is_full=False, seconds=usual * 100, changed_bytes=10 << 20)
    other = [Past(is_full=False, seconds=9e9, changed_bytes=10 << 40)] * 15
    found = estimate(10 << 20, 300 << 20, [odd, *other, *same])
    assert found.by_changes == pytest.approx(usual)


def test_refreshes_without_seconds_teach_nothing() -> None:
    assert estimate(1, 1, [Past(is_full=True, seconds=0)]) == estimate(1, 1, [])
