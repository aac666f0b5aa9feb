"""Tests decisions on a Hudi table: what it needs, only what is ours, the rest explained."""

import random
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.hudi.inspect.domain.damage import damaged_groups
from optimizer.hudi.inspect.domain.facts import (
    Action,
    BlockKind,
    BlockState,
    HudiInspection,
    InstantState,
)
from optimizer.hudi.inspect.domain.timeline import PLANNED, pending, unfit
from optimizer.hudi.maintenance.domain.services import lock_problem
from optimizer.hudi.maintenance.domain.tasks import ACTIONS, DESTRUCTIVE, Service, Step
from optimizer.hudi.planner.domain.deciding import HudiDecision, decide
from optimizer.hudi.planner.domain.needs import Reader, RecentActivity, commits_kept
from optimizer.policies.domain.hudi_policy import HudiPolicy, Profile, contradiction
from tests.unit.optimizer.hudi.hudi_world import (
    ALL,
    CLUSTERING,
    COMPACTION,
    NOW,
    POLICIES,
    STANDALONE,
    asked,
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
    table,
    waiting,
)

NEAR = policy(Profile.NEAR_LINE)
HOUR = timedelta(hours=1)
SCHEDULE, EXECUTE = Step.SCHEDULE, Step.EXECUTE
LATELY = st.builds(
    RecentActivity,
    running=st.frozensets(st.integers(1, 999).map(name), max_size=2),
    busy=st.frozensets(st.sampled_from(Service), max_size=1),
    failed=st.dictionaries(st.integers(1, 999).map(name), st.just(NOW - HOUR / 2), max_size=2),
)


def code_of(decision: HudiDecision, service: Service, step: Step) -> str:
    return next(
        one.code for one in decision.decisions if (one.service, one.step) == (service, step)
    )


def tasks(decision: HudiDecision) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.name, one.instants) for one in decision.proposals]


def test_what_the_writer_scheduled_is_executed_all_of_it_and_the_oldest_first() -> None:
    seen = look(
        asked(30), asked(10), asked(20), plans=(plan(10, "a"), plan(20, "b"), plan(30, "c"))
    )
    found = decide(seen, policy=NEAR, now=NOW)
    assert tasks(found) == [("HUDI_COMPACTION_EXECUTE", (name(10), name(20), name(30)))]
    assert "3 plans of compaction pending, the oldest for 16 h 30 min" in found.words


def test_one_task_takes_no_more_plans_than_the_policy_says_and_never_the_newest_first() -> None:
    seen = look(asked(30), asked(10), asked(20), plans=(plan(10), plan(20), plan(30)))
    found = decide(seen, policy=replace(NEAR, max_plans=2), now=NOW)
    assert found.proposals[0].instants == (name(10), name(20))
    assert "2 of them go now" in found.proposals[0].reason


def test_a_table_that_needs_nothing_says_so_in_a_sentence() -> None:
    found = decide(look(done(1)), policy=NEAR, now=NOW)
    assert found.words == "Nothing needs to be done: no plan is pending and no instant is stuck."
    young = look(done(959), slices=(logs("a", 959),), uncompacted=waiting(959))
    compacts = locked(kinds=frozenset({Service.COMPACTION}), ttl_days=0, cluster_files=0)
    assert "a compaction is due from 20 on" in decide(young, policy=compacts, now=NOW).words


def test_what_stands_in_the_way_of_a_plan_comes_before_what_is_not_needed() -> None:
    planned = look(asked(10), plans=(plan(10, "a"),), table=table(properties={}))
    assert "inline" in decide(planned, policy=NEAR, now=NOW).words


def test_nothing_is_scheduled_beside_a_writer_without_a_lock_and_the_reason_stands() -> None:
    seen = look(done(1), slices=(logs("a", 1),), uncompacted=waiting(1))
    found = decide(seen, policy=NEAR, now=NOW)
    assert found.proposals == ()
    assert code_of(found, Service.COMPACTION, SCHEDULE) == "no-lock"
    ours = decide(seen, policy=locked(minutes=30), now=NOW)
    assert tasks(ours)[0] == ("HUDI_COMPACTION_SCHEDULE", ())


@pytest.mark.parametrize(("commits", "code"), [(1, "task"), (3, "young")])
def test_a_compaction_is_scheduled_from_enough_commits_on(commits: int, code: str) -> None:
    seen = look(done(995), slices=(logs("a", 995),), uncompacted=waiting(995))
    found = decide(seen, policy=locked(commits=commits), now=NOW)
    assert code_of(found, Service.COMPACTION, SCHEDULE) == code


def test_no_more_is_scheduled_while_plans_pile_up() -> None:
    seen = look(
        asked(10),
        asked(20),
        plans=(plan(10, "a"), plan(20, "b")),
        slices=(logs("c", 5),),
        uncompacted=waiting(5),
    )
    found = decide(seen, policy=locked(max_pending=2, commits=1), now=NOW)
    assert code_of(found, Service.COMPACTION, SCHEDULE) == "pile"


def test_what_is_stuck_is_rolled_back_first_and_its_plan_executed_after() -> None:
    seen = look(begun(10, COMPACTION), asked(20), plans=(plan(10, "a"), plan(20, "b")))
    found = decide(seen, policy=NEAR, now=NOW)
    assert tasks(found) == [
        ("HUDI_ROLLBACK_EXECUTE", (name(10),)),
        ("HUDI_COMPACTION_EXECUTE", (name(20),)),
    ]
    assert not found.proposals[0].needs_approval


def test_what_somebody_executes_now_is_left_to_him() -> None:
    seen = look(begun(995, COMPACTION), plans=(plan(995, "a"),))
    assert code_of(decide(seen, policy=NEAR, now=NOW), Service.COMPACTION, EXECUTE) == "begun"
    old = look(begun(10, COMPACTION), plans=(plan(10, "a"),))
    running = decide(
        old, policy=NEAR, lately=RecentActivity(running=frozenset({name(10)})), now=NOW
    )
    assert running.proposals == ()
    assert code_of(running, Service.COMPACTION, EXECUTE) == "running"


def test_a_dead_writers_rows_are_listed_for_approval_and_never_rolled_back_at_once() -> None:
    seen = look(begun(10, heartbeat_at=NOW - 2 * HOUR), done(20))
    found = decide(seen, policy=locked(), now=NOW)
    assert ("HUDI_ROLLBACK_SCHEDULE", (name(10),)) in tasks(found)
    unlocked = decide(seen, policy=NEAR, now=NOW)
    assert code_of(unlocked, Service.ROLLBACK, EXECUTE) == "no-lock"


def test_a_plan_that_failed_waits_an_hour_and_then_comes_last() -> None:
    seen = look(asked(10), asked(20), plans=(plan(10, "a"), plan(20, "b")))
    just = decide(
        seen, policy=NEAR, lately=RecentActivity(failed={name(10): NOW - HOUR / 2}), now=NOW
    )
    assert just.proposals[0].instants == (name(20),)
    assert code_of(just, Service.COMPACTION, EXECUTE) == "failed"
    later = decide(
        seen, policy=NEAR, lately=RecentActivity(failed={name(10): NOW - 2 * HOUR}), now=NOW
    )
    assert later.proposals[0].instants == (name(20), name(10))


def test_what_is_damaged_is_neither_rewritten_nor_cleaned() -> None:
    damaged = look(
        done(5),
        asked(10),
        asked(20),
        asked(30, Action.CLEAN),
        plans=(plan(10, "f"), plan(20, "g")),
        blocks=(block(5, BlockState.CORRUPT, BlockKind.CORRUPT),),
    )
    found = decide(damaged, policy=locked(), now=NOW)
    assert tasks(found)[0] == ("HUDI_COMPACTION_EXECUTE", (name(20),))
    assert code_of(found, Service.COMPACTION, EXECUTE) == "damaged"
    assert code_of(found, Service.CLEAN, EXECUTE) == "damaged"


def test_a_clean_is_scheduled_after_enough_commits_and_approved_before_it_is_executed() -> None:
    writes = [done(minute) for minute in range(1, 5)]
    seen = look(*writes)
    settings = policy(kinds=ALL - {Service.TTL}, clean_commits=3)
    assert tasks(decide(seen, policy=settings, now=NOW)) == [("HUDI_CLEAN_SCHEDULE", ())]
    assert decide(look(*writes, done(9, Action.CLEAN)), policy=settings, now=NOW).proposals == ()
    (waits,) = decide(look(*writes, asked(9, Action.CLEAN)), policy=settings, now=NOW).proposals
    assert (waits.name, waits.needs_approval) == ("HUDI_CLEAN_EXECUTE", True)
    itself = table(properties={**STANDALONE, "hoodie.clean.automatic": "true"})
    cleaned = decide(look(*writes, table=itself), policy=settings, now=NOW)
    assert code_of(cleaned, Service.CLEAN, SCHEDULE) == "writer-does"


def test_a_clean_keeps_what_readers_of_changes_need_until_they_are_waited_for_no_more() -> None:
    writes = [done(minute) for minute in range(1, 9)]
    settings = policy(kinds=ALL - {Service.TTL}, clean_commits=3)
    reader = Reader("layer dwd.orders", writes[1].requested_at)
    for readers, kept in (
        ((), 3),
        ((reader,), 8),
        ((replace(reader, since=writes[7].requested_at),), 3),
        ((replace(reader, is_capped=True),), 3),
        ((reader, replace(reader, is_capped=True, since=NOW - 99 * HOUR)), 8),
    ):
        assert commits_kept(look(*writes), settings, readers) == kept, readers
    lately = RecentActivity(readers=(reader,))
    held = decide(look(*writes), policy=settings, lately=lately, now=NOW)
    assert code_of(held, Service.CLEAN, SCHEDULE) == "young"
    (reason,) = [one.reason for one in held.decisions if one.service is Service.CLEAN][-1:]
    assert "8 are kept. Layer dwd.orders has read commits until" in reason
    lately = RecentActivity(readers=(replace(reader, is_capped=True),))
    capped = decide(look(*writes), policy=settings, lately=lately, now=NOW)
    assert tasks(capped) == [("HUDI_CLEAN_SCHEDULE", ())]
    assert "is not waited for any more" in capped.words


def test_small_file_groups_are_clustered_where_the_policy_asks_and_nobody_else_has_them() -> None:
    small = tuple(logs(one, 1, n=0) for one in "abc")
    settings = locked(cluster_files=3, ttl_days=0, kinds=ALL - {Service.TTL})
    found = decide(look(done(1), slices=small), policy=settings, now=NOW)
    assert tasks(found) == [("HUDI_CLUSTERING_SCHEDULE", ())]
    assert "updates to these file groups are rejected" in found.words
    taken = look(done(1), asked(2), plans=(plan(2, "a"),), slices=small)
    assert code_of(decide(taken, policy=settings, now=NOW), Service.CLUSTERING, SCHEDULE) == "young"
    waits = look(done(1), asked(2, CLUSTERING), plans=(plan(2, action=CLUSTERING),), slices=small)
    found = decide(waits, policy=settings, now=NOW)
    assert code_of(found, Service.CLUSTERING, SCHEDULE) == "pile"
    assert code_of(found, Service.CLUSTERING, EXECUTE) == "task"


def test_old_partitions_are_listed_once_a_day_under_a_lock() -> None:
    seen = look(done(1))
    assert ("HUDI_TTL_SCHEDULE", ()) in tasks(decide(seen, policy=locked(), now=NOW))
    listed = RecentActivity(tried={(Service.TTL, SCHEDULE): NOW - 3 * HOUR})
    found = decide(seen, policy=locked(), lately=listed, now=NOW)
    assert code_of(found, Service.TTL, SCHEDULE) == "young"


@pytest.mark.parametrize(
    ("lately", "code"),
    [
        (RecentActivity(busy=frozenset({Service.COMPACTION})), "busy"),
        (RecentActivity(refused={Service.COMPACTION: NOW - 30 * HOUR}), "refused"),
        (RecentActivity(tried={(Service.COMPACTION, SCHEDULE): NOW - HOUR / 2}), "tried"),
        (RecentActivity(tried={(Service.COMPACTION, SCHEDULE): NOW - 2 * HOUR}), "task"),
    ],
)
def test_what_was_done_lately_is_not_done_again_at_once(lately: RecentActivity, code: str) -> None:
    seen = look(done(1), slices=(logs("a", 1),), uncompacted=waiting(1))
    found = decide(seen, policy=locked(commits=1), lately=lately, now=NOW)
    assert code_of(found, Service.COMPACTION, SCHEDULE) == code


@pytest.mark.parametrize(
    ("seen", "settings", "says"),
    [
        (look(asked(1)), policy(is_on=False), "switched off"),
        (look(asked(1)), policy(commits=0), "contradicts itself"),
        (look(asked(1), table=table(version=5, layout_version=1)), NEAR, "as Hudi 0.x writes"),
        (look(asked(1), table=table(faults=("It is empty.",))), NEAR, "timeline is broken"),
        (look(), NEAR, "Nothing needs to be done"),
    ],
)
def test_nothing_done_is_said_in_words(
    seen: HudiInspection, settings: HudiPolicy, says: str
) -> None:
    found = decide(seen, policy=settings, now=NOW)
    assert found.proposals == ()
    assert says in found.words


@given(looks(), POLICIES, LATELY)
def test_only_what_is_ours_safe_and_asked_for_is_ever_done(
    seen: HudiInspection, settings: HudiPolicy, lately: RecentActivity
) -> None:
    found = decide(seen, policy=settings, lately=lately, now=NOW)
    if not settings.is_on or contradiction(settings) or unfit(seen):
        assert found.proposals == ()
        assert len(found.decisions) == 1
    waiting_now = {one.instant for one in pending(seen, Action)}
    damaged = damaged_groups(seen)
    for one in found.proposals:
        assert one.service in settings.kinds
        assert one.service not in lately.busy
        assert set(one.instants) <= waiting_now - lately.running
        if one.step is SCHEDULE and lock_problem(seen.table, settings):
            assert one.service is Service.CLEAN
        if one.step is EXECUTE and one.service in DESTRUCTIVE:
            assert one.needs_approval
        if one.service in (Service.COMPACTION, Service.CLUSTERING):
            taken = [p for p in seen.plans if p.instant in one.instants]
            assert all(damaged.isdisjoint(p.file_groups) for p in taken)
            fresh = [instant for instant in one.instants if instant not in lately.failed]
            assert fresh == sorted(fresh)
    assert len({(one.service, one.step) for one in found.proposals}) == len(found.proposals)


@given(looks(), POLICIES, LATELY)
def test_everything_has_its_reason_and_no_pending_plan_is_passed_over(
    seen: HudiInspection, settings: HudiPolicy, lately: RecentActivity
) -> None:
    found = decide(seen, policy=settings, lately=lately, now=NOW)
    assert found.words
    assert all(one.reason.endswith(".") for one in found.decisions)
    if len(found.decisions) == 1:
        return
    assert {one.service for one in found.decisions} == set(Service) - {Service.RECOVERY}
    told = {instant for one in found.decisions for instant in one.instants}
    for service in (Service.COMPACTION, Service.CLUSTERING, Service.CLEAN):
        plans = [one.instant for one in pending(seen, ACTIONS[service])]
        untold = set(plans) - told
        assert not untold or len(set(plans) & told) >= settings.max_plans


@given(looks(), POLICIES, st.randoms())
def test_the_order_of_a_listing_decides_nothing(
    seen: HudiInspection, settings: HudiPolicy, chance: random.Random
) -> None:
    shuffled = replace(
        seen,
        instants=tuple(chance.sample(seen.instants, len(seen.instants))),
        plans=tuple(chance.sample(seen.plans, len(seen.plans))),
        slices=tuple(chance.sample(seen.slices, len(seen.slices))),
        uncompacted=tuple(chance.sample(seen.uncompacted, len(seen.uncompacted))),
    )
    assert decide(shuffled, policy=settings, now=NOW) == decide(seen, policy=settings, now=NOW)


@given(
    st.lists(st.integers(1, 900), unique=True, min_size=1, max_size=12),
    st.integers(1, 4),
    st.data(),
)
def test_round_after_round_every_plan_is_executed_and_a_poisoned_one_holds_nobody_up(
    minutes: list[int], most: int, data: st.DataObject
) -> None:
    poisoned = data.draw(st.none() | st.sampled_from(minutes).map(name))
    settings = replace(NEAR, max_plans=most)
    left = {minute: plan(minute, str(minute)) for minute in minutes}
    failed: dict[str, datetime] = {}
    executed: list[str] = []
    now = NOW
    for _ in range(len(minutes) + 1):
        seen = look(*map(asked, left), plans=tuple(left.values()))
        found = decide(seen, policy=settings, lately=RecentActivity(failed=dict(failed)), now=now)
        for one in (instant for task in found.proposals for instant in task.instants):
            if one == poisoned:
                failed[one] = now
            else:
                executed.append(one)
        left = {minute: p for minute, p in left.items() if name(minute) not in executed}
        now += HOUR / 2
    assert executed == sorted(name(one) for one in minutes if name(one) != poisoned)


def test_pending_plans_of_every_kind_belong_to_a_service() -> None:
    assert {action for actions in ACTIONS.values() for action in actions} == PLANNED | {
        Action.CLEAN
    }
    assert InstantState.COMPLETED not in {asked(1).state, begun(1).state}
