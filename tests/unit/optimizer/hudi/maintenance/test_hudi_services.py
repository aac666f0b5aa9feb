"""Tests Hudi services: no scheduling beside a writer without a shared lock, reasons given."""

from datetime import timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.hudi.inspect.domain.facts import Action, HudiInspection, Instant, TableType
from optimizer.hudi.inspect.domain.timeline import silence_of
from optimizer.hudi.maintenance.domain.services import lock_problem, may, may_roll_back
from optimizer.hudi.maintenance.domain.tasks import BY_APPROVAL, Service, Step, oldest_first
from optimizer.policies.domain.hudi_policy import HudiPolicy
from portal.lake.errors import RuleViolation, StaleState
from tests.unit.optimizer.hudi.hudi_world import (
    CLUSTERING,
    COMPACTION,
    LOCK,
    NOW,
    STANDALONE,
    begun,
    done,
    locked,
    logs,
    look,
    name,
    policy,
    table,
)

SCHEDULE, EXECUTE = Step.SCHEDULE, Step.EXECUTE
EVERY = list(product(Service, Step))
TABLES = st.builds(
    table,
    table_type=st.sampled_from(TableType),
    version=st.integers(5, 10),
    partition_fields=st.sampled_from([(), ("p",)]),
    is_metadata_on=st.booleans(),
    properties=st.dictionaries(
        st.sampled_from(
            [
                "hoodie.compact.inline",
                "hoodie.clean.automatic",
                "hoodie.clustering.inline",
                "hoodie.partition.ttl.inline",
            ]
        ),
        st.sampled_from(["true", "false", ""]),
    ),
)


def with_properties(**said: str) -> HudiInspection:
    named = {f"hoodie.{key.replace('__', '.')}": value for key, value in said.items()}
    return look(done(1), table=table(properties={**STANDALONE, **named}))


def ruled_back(
    one: HudiInspection, instant: Instant, settings: HudiPolicy
) -> tuple[bool, str, bool]:
    silence = silence_of(one, instant, patience=timedelta(hours=1), now=NOW)
    ruling = may_roll_back(one, settings, silence)
    return ruling.is_allowed, ruling.code, ruling.needs_approval


def test_without_a_lock_we_execute_what_the_writer_scheduled_and_schedule_nothing() -> None:
    one, settings = look(done(1)), policy()
    for service in (Service.COMPACTION, Service.CLUSTERING):
        assert may(one, settings, service, EXECUTE).is_allowed
        refused = may(one, settings, service, SCHEDULE)
        assert refused.code == "no-lock"
        assert "hoodie.write.lock.provider" in refused.reason
    assert not may(one, settings, Service.TTL, EXECUTE).is_allowed


def test_with_a_shared_lock_everything_is_ours() -> None:
    for service, step in EVERY:
        ruling = may(look(done(1)), locked(), service, step)
        assert ruling.is_allowed
        assert LOCK in ruling.reason


def test_we_clean_only_where_the_writer_does_not_also_under_a_lock() -> None:
    for settings, step in product((policy(), locked()), (SCHEDULE, EXECUTE)):
        assert may(look(), settings, Service.CLEAN, step).is_allowed
        for said in ({"clean__automatic": "true"}, {"clean__automatic": ""}):
            refused = may(with_properties(**said), settings, Service.CLEAN, step)
            assert refused.code == "writer-does"
            assert "hoodie.clean.automatic=false" in refused.reason


def test_what_destroys_is_approved_before_it_is_executed_and_not_before_it_is_listed() -> None:
    for service, step in EVERY:
        ruling = may(look(done(1)), locked(), service, step)
        assert ruling.needs_approval == (service in BY_APPROVAL and step is EXECUTE)


@pytest.mark.parametrize(
    ("settings", "properties", "says"),
    [
        (policy(), {}, "declares no lock provider"),
        (locked(lock="x.InProcessLockProvider"), {}, "another process"),
        (locked(), {"hoodie.write.lock.provider": "x.Other"}, "the table says x.Other"),
        (locked(), {"hoodie.write.concurrency.mode": "SINGLE_WRITER"}, "runs as single_writer"),
    ],
)
def test_a_lock_counts_only_if_the_writer_takes_it_too(
    settings: HudiPolicy, properties: dict[str, str], says: str
) -> None:
    one = look(table=table(properties={**STANDALONE, **properties}))
    assert says in str(lock_problem(one.table, settings))
    refused = may(one, settings, Service.COMPACTION, SCHEDULE)
    assert refused.code == "no-lock"
    assert says in refused.reason


def test_a_lock_that_the_table_confirms_counts() -> None:
    said = {
        "hoodie.write.lock.provider": LOCK,
        "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    }
    assert lock_problem(table(properties=said), locked()) is None


@pytest.mark.parametrize(
    ("service", "said"),
    [
        (Service.COMPACTION, {"compact__inline": "true"}),
        (Service.COMPACTION, {"datasource__compaction__async__enable": "true"}),
        (Service.CLUSTERING, {"clustering__inline": "true"}),
        (Service.CLUSTERING, {"clustering__async__enabled": "true"}),
        (Service.TTL, {"partition__ttl__inline": "true"}),
    ],
)
def test_what_the_writer_executes_itself_is_left_to_it_even_under_a_lock(
    service: Service, said: dict[str, str]
) -> None:
    refused = may(with_properties(**said), locked(), service, EXECUTE)
    assert refused.code == "writer-does"


def test_a_table_that_does_not_forbid_inline_compaction_may_have_it() -> None:
    one = look(table=table(properties={}))
    refused = may(one, locked(), Service.COMPACTION, EXECUTE)
    assert refused.code == "writer-may"
    assert "hoodie.compact.inline=false" in refused.reason


def test_the_metadata_table_knows_one_writer_so_without_a_lock_the_two_take_turns() -> None:
    on = table(is_metadata_on=True)
    idle, writing = look(done(1), table=on), look(done(1), begun(2), table=on)
    refused = may(idle, policy(), Service.COMPACTION, EXECUTE)
    assert refused.code == "metadata-table"
    turns = policy(writer_serialized=True)
    assert may(idle, turns, Service.COMPACTION, EXECUTE).is_allowed
    waits = may(writing, turns, Service.COMPACTION, EXECUTE)
    assert waits.code == "writer-at-work"
    assert name(2) in waits.reason
    assert may(writing, locked(), Service.COMPACTION, EXECUTE).is_allowed


def test_a_service_that_a_table_has_no_use_for_says_so() -> None:
    flat = look(table=table(table_type=TableType.COPY_ON_WRITE, partition_fields=()))
    assert may(flat, locked(), Service.COMPACTION, EXECUTE).code == "no-logs"
    assert may(flat, locked(), Service.TTL, EXECUTE).code == "no-partitions"
    assert may(flat, locked(), Service.CLUSTERING, EXECUTE).is_allowed


def test_file_groups_that_are_hash_buckets_are_clustered_by_their_writer_s_plans_alone() -> None:
    bucket, other = logs("00000001-21a8-4b", 1), logs("8f00a1c2-21a8-4b", 1)
    hashed, mixed = look(slices=(bucket,)), look(slices=(bucket, other))
    assert may(hashed, locked(), Service.CLUSTERING, SCHEDULE).code == "hash-buckets"
    assert may(hashed, locked(), Service.CLUSTERING, EXECUTE).is_allowed
    assert may(hashed, locked(), Service.COMPACTION, SCHEDULE).is_allowed
    assert may(mixed, locked(), Service.CLUSTERING, SCHEDULE).is_allowed


def test_what_a_service_left_is_rolled_back_without_approval_for_its_plan_stays() -> None:
    for action in (COMPACTION, Action.LOG_COMPACTION, CLUSTERING):
        one = begun(1, action)
        assert ruled_back(look(one), one, policy()) == (True, "allowed", False)


def test_what_a_writer_left_is_rolled_back_only_under_a_lock_dead_and_approved() -> None:
    silent, dead = begun(1), begun(1, heartbeat_at=NOW - timedelta(hours=2))
    assert ruled_back(look(dead), dead, policy())[1] == "no-lock"
    assert ruled_back(look(silent), silent, locked())[1] == "no-heartbeat"
    assert ruled_back(look(dead), dead, locked()) == (True, "allowed", True)


@pytest.mark.parametrize("action", [Action.CLEAN, Action.RESTORE, Action.INDEXING, Action.OTHER])
def test_what_is_no_write_and_no_plan_is_for_a_person(action: Action) -> None:
    one = begun(1, action)
    assert ruled_back(look(one), one, locked())[1] == "by-hand"


@given(TABLES, st.booleans(), st.booleans(), st.sampled_from(EVERY))
def test_every_ruling_has_words_and_no_lock_never_schedules_beside_a_writer(
    one: object, has_lock: bool, turns: bool, asked: tuple[Service, Step]
) -> None:
    service, step = asked
    settings = locked(writer_serialized=turns) if has_lock else policy(writer_serialized=turns)
    seen = look(done(1), table=one)
    ruling = may(seen, settings, service, step)
    assert ruling.reason.endswith((".", "look."))
    if not ruling.is_allowed:
        assert not ruling.needs_approval
    elif not has_lock:
        assert step is EXECUTE or service is Service.CLEAN
        assert service is not Service.TTL
        assert not seen.table.is_metadata_on or turns or step is SCHEDULE
    if ruling.is_allowed:
        assert seen.table.version in (8, 9)


PENDING = st.lists(st.integers(1, 900).map(name), unique=True, min_size=1, max_size=8)


@given(PENDING, st.integers(1, 8))
def test_all_pending_go_oldest_first_and_a_few_are_the_oldest(pending: list[str], n: int) -> None:
    assert oldest_first(pending) == tuple(sorted(pending))
    assert oldest_first(pending, most=n) == tuple(sorted(pending))[:n]


@given(PENDING, st.data())
def test_some_go_oldest_first_and_never_the_newest_alone(
    pending: list[str], data: st.DataObject
) -> None:
    only = data.draw(st.sets(st.sampled_from(pending), min_size=1))
    if len(pending) > 1 and only == {max(pending)}:
        with pytest.raises(RuleViolation, match="older ones wait") as refused:
            oldest_first(pending, only=only)
        assert refused.value.code == "hudi.newest-alone"
    else:
        assert oldest_first(pending, only=only) == tuple(sorted(only))


def test_one_that_failed_holds_nobody_up() -> None:
    pending = [name(3), name(1), name(2)]
    assert oldest_first(pending, failed={name(1)}) == (name(2), name(3), name(1))
    assert oldest_first(pending, only={name(3)}, failed={name(1), name(2)}) == (name(3),)


def test_what_is_pending_no_more_is_named() -> None:
    with pytest.raises(StaleState, match="somebody executed it") as refused:
        oldest_first([name(1)], only={name(1), name(9)})
    assert refused.value.code == "hudi.not-pending"
    assert oldest_first([]) == ()
