"""Tests requests of people: they get the service, and the rules that keep writers safe hold."""

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.hudi.inspect.domain.facts import (
    Action,
    BlockKind,
    BlockState,
    HudiInspection,
    InstantState,
)
from optimizer.hudi.inspect.domain.timeline import PLANNED, pending, stuck, unfit
from optimizer.hudi.maintenance.domain.requests import wish_of
from optimizer.hudi.maintenance.domain.tasks import ACTIONS, DESTRUCTIVE, HudiTask, Service, Step
from optimizer.hudi.planner.domain.needs import RecentActivity
from optimizer.policies.domain.hudi_policy import HudiPolicy, Profile
from portal.lake.errors import PortalError, RuleViolation, StaleState
from tests.unit.optimizer.hudi.hudi_world import (
    CLUSTERING,
    COMPACTION,
    NOW,
    POLICIES,
    asked,
    at,
    begun,
    block,
    done,
    locked,
    logs,
    look,
    looks,
    name,
    plan,
    policy,
)

EXECUTE, SCHEDULE = Step.EXECUTE, Step.SCHEDULE


def wished(
    found: HudiInspection,
    service: Service,
    step: Step = EXECUTE,
    *instants: str,
    by: HudiPolicy | None = None,
    lately: RecentActivity | None = None,
) -> HudiTask:
    wish = HudiTask(service, step, "I want it", instants)
    return wish_of(found, by or locked(), wish, lately=lately or RecentActivity(), now=NOW)


def refusal(
    found: HudiInspection,
    service: Service,
    step: Step,
    *instants: str,
    by: HudiPolicy | None = None,
    lately: RecentActivity | None = None,
) -> str:
    with pytest.raises(PortalError) as caught:
        wished(found, service, step, *instants, by=by, lately=lately)
    return caught.value.code


TWO_PLANS = look(
    asked(10), asked(20), done(30), plans=(plan(10, "a"), plan(20, "b")), slices=(logs("a", 5),)
)


def test_all_pending_plans_or_some_of_them_and_never_the_newest_alone() -> None:
    assert wished(TWO_PLANS, Service.COMPACTION).instants == (name(10), name(20))
    assert wished(TWO_PLANS, Service.COMPACTION, EXECUTE, name(10)).instants == (name(10),)
    assert refusal(TWO_PLANS, Service.COMPACTION, EXECUTE, name(20)) == "hudi.newest-alone"
    assert refusal(TWO_PLANS, Service.COMPACTION, EXECUTE, name(99)) == "hudi.not-pending"
    assert refusal(look(done(1)), Service.COMPACTION, EXECUTE) == "hudi.nothing"
    assert refusal(TWO_PLANS, Service.CLUSTERING, EXECUTE) == "hudi.nothing"


def test_what_a_run_has_or_a_writer_began_is_left_alone() -> None:
    running = RecentActivity(running=frozenset({name(10)}))
    assert wished(TWO_PLANS, Service.COMPACTION, lately=running).instants == (name(20),)
    is_ours = refusal(TWO_PLANS, Service.COMPACTION, EXECUTE, name(10), lately=running)
    assert is_ours == "hudi.running"
    fresh = look(begun(990, COMPACTION, heartbeat_at=NOW), plans=(plan(990, "a", begun=True),))
    assert refusal(fresh, Service.COMPACTION, EXECUTE) == "hudi.begun"
    assert refusal(fresh, Service.ROLLBACK, EXECUTE, name(990)) == "hudi.at-work"


def test_what_failed_a_moment_ago_is_tried_again_for_people() -> None:
    lately = RecentActivity(failed={name(10): NOW})
    assert wished(TWO_PLANS, Service.COMPACTION, lately=lately).instants == (name(10), name(20))


def test_a_stuck_compaction_is_rolled_back_at_once_and_a_writers_commit_by_approval() -> None:
    ours = look(begun(10, COMPACTION), plans=(plan(10, "a", begun=True),))
    assert wished(ours, Service.ROLLBACK) == HudiTask(
        Service.ROLLBACK, EXECUTE, "I want it", (name(10),)
    )
    theirs = look(begun(10, heartbeat_at=at(11)))
    assert wished(theirs, Service.ROLLBACK).needs_approval
    assert refusal(theirs, Service.ROLLBACK, EXECUTE, by=policy()) == "hudi.no-lock"
    assert refusal(look(begun(10)), Service.ROLLBACK, EXECUTE) == "hudi.no-heartbeat"
    assert refusal(look(done(10)), Service.ROLLBACK, EXECUTE) == "hudi.nothing"
    assert refusal(theirs, Service.ROLLBACK, EXECUTE, name(55)) == "hudi.not-pending"


def test_damage_is_not_made_to_last_for_anybody() -> None:
    hurt = block(5, BlockState.CORRUPT, BlockKind.CORRUPT)
    ill = replace(TWO_PLANS, instants=(done(5), asked(10)), plans=(plan(10, "f"),), blocks=(hurt,),
                  slices=(logs("f", 5),), uncompacted=())  # fmt: skip
    assert refusal(ill, Service.COMPACTION, EXECUTE) == "hudi.damaged"
    assert refusal(ill, Service.CLEAN, SCHEDULE) == "hudi.damaged"
    assert refusal(ill, Service.CLUSTERING, SCHEDULE) == "hudi.damaged"


def test_partitions_by_age_need_an_age() -> None:
    assert wished(look(), Service.TTL).needs_approval
    kept = locked(ttl_days=0, kinds=frozenset())
    assert refusal(look(), Service.TTL, SCHEDULE, by=kept) == "hudi.ttl-days"


@given(
    looks(),
    POLICIES,
    st.sampled_from(Service),
    st.sampled_from(Step),
    st.lists(st.integers(1, 999).map(name), max_size=2),
    st.booleans(),
)
def test_no_wish_takes_away_what_people_have_to_approve_or_what_is_not_stuck(
    found: HudiInspection,
    by: HudiPolicy,
    service: Service,
    step: Step,
    named: list[str],
    all_of: bool,
) -> None:
    instants = () if all_of else tuple(named)
    task = None
    with suppress(RuleViolation, StaleState):
        task = wished(found, service, step, *instants, by=by)
    if task is None:
        return
    assert unfit(found) is None
    assert (task.service, task.step) == (service, step)
    if step is EXECUTE and service in DESTRUCTIVE:
        assert task.needs_approval
    open_ones = {one.instant: one for one in found.instants if one.is_pending}
    assert set(task.instants) <= set(open_ones)
    if service is Service.ROLLBACK:
        silent = {one.instant.instant for one in stuck(found, patience=by.patience, now=NOW)}
        assert task.instants
        assert set(task.instants) <= silent
        if any(open_ones[one].action not in PLANNED for one in task.instants):
            assert task.needs_approval == (step is EXECUTE)
    elif step is EXECUTE and service in ACTIONS:
        ours = [one.instant for one in pending(found, ACTIONS[service])]
        assert list(task.instants) == [one for one in ours if one in task.instants]
        for one in task.instants:
            assert open_ones[one].state is InstantState.REQUESTED or service is Service.CLEAN


def test_a_clean_that_was_broken_off_goes_on_by_approval() -> None:
    stopped = look(begun(10, Action.CLEAN), asked(20, CLUSTERING))
    assert wished(stopped, Service.CLEAN).needs_approval
    assert wished(stopped, Service.CLUSTERING, by=policy(Profile.NEAR_LINE)).instants == (name(20),)
