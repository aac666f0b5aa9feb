"""By changes or in full, with the reason."""

import msgspec
import pytest

from pipelines.commits.domain.positions import NOTHING, Kind, Meaning, full
from pipelines.materialized.domain.planner import Known, Way, plan, plan_groups

CHANGED = Known(
    fact=Meaning(Kind.CHANGES, n_commits=2),
    dimensions={"d.u": NOTHING},
    changed_bytes=10 << 20,
    all_bytes=100 << 20,
)


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
        ({"changed_bytes": 101 << 20}, Way.FULL, "costs more"),
        ({"changed_bytes": 9 << 20, "all_bytes": 8 << 20}, Way.INCREMENTAL, "9.0 MiB"),
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
