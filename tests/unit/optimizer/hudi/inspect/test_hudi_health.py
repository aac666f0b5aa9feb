"""Tests a Hudi table's score: within 0 to 100, exact sums, never raised by what is worse."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from optimizer.core.domain.health import WHOLE
from optimizer.hudi.inspect.domain.facts import BlockState, HudiInspection
from optimizer.hudi.inspect.domain.health import Part, health_of
from optimizer.policies.domain.hudi_policy import HudiPolicy, Profile
from tests.unit.optimizer.hudi.hudi_world import (
    NOW,
    POLICIES,
    asked,
    begun,
    block,
    done,
    logs,
    look,
    looks,
    plan,
    policy,
    table,
    waiting,
)

NEAR = policy(Profile.NEAR_LINE, small_bytes=2**20)
GIB = 2**30


def score(seen: HudiInspection, settings: HudiPolicy = NEAR, *, later: int = 0) -> float:
    health = health_of(seen, settings, NOW + timedelta(minutes=later))
    assert health is not None
    return health.score


def parts(seen: HudiInspection) -> set[str]:
    health = health_of(seen, NEAR, NOW)
    assert health is not None
    return {str(one.part) for one in health.deductions}


def test_a_table_that_is_well_has_all_points() -> None:
    assert score(look(done(990), slices=(logs("a", 1, base=GIB, n=0),))) == 100


def test_an_empty_table_has_nothing_to_judge_and_says_so() -> None:
    health = health_of(look(), NEAR, NOW)
    assert health is not None
    assert health.score == 100
    assert "no files" in health.note


def test_a_broken_timeline_has_no_points_and_an_unknown_version_no_score() -> None:
    assert score(look(table=table(faults=("It is empty.",)))) == 0
    assert health_of(look(table=table(version=6, layout_version=1)), NEAR, NOW) is None


def test_each_part_costs_points_by_itself_and_says_why() -> None:
    well = look(done(990), slices=(logs("a", 1, base=GIB, n=0),))
    for part, ill in {
        Part.DAMAGE: replace(well, blocks=(block(1, BlockState.NOWHERE),)),
        Part.STALE: replace(well, uncompacted=waiting(1)),
        Part.STUCK: replace(well, instants=(begun(1),)),
        Part.PLANS: replace(well, instants=tuple(asked(990 + n) for n in range(4))),
        Part.LOGS: replace(well, slices=(logs("a", 1, base=10),)),
        Part.SMALL: replace(well, slices=(logs("a", 1, n=0), logs("b", 1, n=0))),
    }.items():
        assert part in parts(ill)
        assert score(ill) < 100


@given(looks(), POLICIES)
def test_a_score_adds_up_and_every_deduction_has_words(
    seen: HudiInspection, settings: HudiPolicy
) -> None:
    health = health_of(seen, settings, NOW)
    if health is None:
        assert seen.table.version < 8
        return
    assert 0 <= health.score <= 100
    assert health.millionths + sum(one.millionths for one in health.deductions) == WHOLE
    assert all(one.reason.endswith(".") and one.points > 0 for one in health.deductions)


@given(looks(), POLICIES, st.integers(0, 10_000), st.integers(1, 999), st.integers(1, 10**9))
def test_time_another_plan_and_more_logs_never_raise_a_score(
    seen: HudiInspection, settings: HudiPolicy, later: int, minute: int, n_bytes: int
) -> None:
    if health_of(seen, settings, NOW) is None or not seen.slices:
        return
    before = score(seen, settings)
    assert score(seen, settings, later=later) <= before
    first = seen.slices[0]
    longer = replace(first, n_logs=first.n_logs + 1, log_bytes=first.log_bytes + n_bytes)
    if first.base_bytes is not None:
        assert score(replace(seen, slices=(longer, *seen.slices[1:])), settings) <= before
    # No plan is older than the timeline's first instant: what is before that counts as archived.
    others = [one.instant for one in seen.instants]
    if others and min(others) < asked(minute).instant and asked(minute).instant not in others:
        more = replace(
            seen,
            instants=(*seen.instants, replace(asked(minute), is_archived=False)),
            plans=(*seen.plans, plan(minute)),
        )
        assert score(more, settings) <= before
