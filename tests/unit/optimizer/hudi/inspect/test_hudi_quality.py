"""Tests findings on a Hudi table: problems have evidence and a remedy, normal is no finding."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given

from optimizer.hudi.inspect.domain.damage import damaged_groups, lost_bases
from optimizer.hudi.inspect.domain.facts import (
    Action,
    BlockKind,
    BlockState,
    DuplicateKey,
    FileGroupId,
    HudiInspection,
    TableType,
)
from optimizer.hudi.inspect.domain.findings import MOST_ROWS, Code, Finding, Severity, span_words
from optimizer.hudi.inspect.domain.quality import failures, not_looked_at
from optimizer.hudi.inspect.domain.staleness import staleness_of, unplanned_commits
from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.policies.domain.hudi_policy import HudiPolicy, Profile
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
    table,
    waiting,
)

NEAR = Profile.NEAR_LINE


def only(seen: HudiInspection, settings: HudiPolicy, now: datetime = NOW) -> Finding:
    (found,) = failures(seen, settings, now)
    return found


def codes(seen: HudiInspection, settings: HudiPolicy) -> set[Code]:
    return {one.code for one in failures(seen, settings, NOW)}


def test_a_table_that_is_well_has_nothing_wrong() -> None:
    young = look(
        done(990),
        asked(995),
        plans=(plan(995, "a"),),
        slices=(logs("a", 990),),
        uncompacted=waiting(990),
    )
    assert failures(young, policy(NEAR), NOW) == ()


# Pending plans


def test_plans_pile_up_above_what_is_allowed_and_all_are_executed_oldest_first() -> None:
    seen = look(asked(993), asked(991), asked(992))
    assert failures(look(asked(993), asked(991)), policy(NEAR), NOW) == ()
    found = only(seen, policy(NEAR))
    assert found.code is Code.PLANS_PILE_UP
    assert [row["instant"] for row in found.evidence] == [name(991), name(992), name(993)]
    assert found.remedy is not None
    assert found.remedy.instants == (name(991), name(992), name(993))
    assert (found.remedy.service, found.remedy.step) == (Service.COMPACTION, Step.EXECUTE)
    assert found.remedy.can_be_clicked


def test_a_plan_never_executed_says_how_long_it_waits_and_gets_worse() -> None:
    seen = look(asked(800, CLUSTERING), asked(990, CLUSTERING), plans=(plan(800, "a", "b"),))
    found = only(replace(seen, plans=()), policy(NEAR))
    assert found.code is Code.NEVER_EXECUTED
    assert "waits for 3 h 20 min" in found.words
    assert [row["instant"] for row in found.evidence] == [name(800)]
    later = failures(seen, policy(NEAR), NOW + timedelta(days=5))
    assert {one.severity for one in later if one.code is Code.NEVER_EXECUTED} == {Severity.CRITICAL}


def test_a_remedy_that_a_rule_forbids_says_which() -> None:
    seen = look(asked(800), table=table(properties={}))
    remedy = only(seen, policy(NEAR)).remedy
    assert remedy is not None
    assert "hoodie.compact.inline=false" in str(remedy.refused)
    assert not remedy.can_be_clicked


def test_a_clean_that_waits_is_approved_before_it_is_executed() -> None:
    remedy = only(look(asked(800, Action.CLEAN)), policy(NEAR)).remedy
    assert remedy is not None
    assert remedy.needs_approval


# Staleness


def test_the_view_is_as_stale_as_the_oldest_commit_in_logs_and_counts_them() -> None:
    seen = look(
        done(100),
        done(900),
        slices=(logs("a", 100), logs("b", 900), logs("c", 1, n=0)),
        uncompacted=waiting(900, 100),
    )
    stale = staleness_of(seen)
    assert stale is not None
    assert stale.since == at(101)
    assert stale.behind(NOW) == timedelta(minutes=899)
    assert (len(stale.commits), stale.n_groups, stale.n_unplanned) == (2, 2, 2)
    found = only(seen, policy(NEAR))
    assert found.code is Code.STALE_VIEW
    assert "is 14 h 59 min behind: 2 delta commits since" in found.words
    assert [row["instant"] for row in found.evidence] == [name(100), name(900)]


def test_the_last_commits_of_a_silent_writer_are_nobodys_unless_we_may_schedule() -> None:
    seen = look(done(100), slices=(logs("a", 100),), uncompacted=waiting(100))
    unlocked = only(seen, policy(NEAR))
    assert unlocked.severity is Severity.CRITICAL
    assert "Nothing was written for 14 h 59 min" in unlocked.words
    assert unlocked.remedy is not None
    assert "declare it" in str(unlocked.remedy.refused)
    ours = only(seen, locked(stale_minutes=120, minutes=60, quiet=None)).remedy
    assert ours is not None
    assert ours.step is Step.SCHEDULE
    assert ours.can_be_clicked


def test_what_waits_in_a_plan_is_executed_not_scheduled_again() -> None:
    seen = look(
        done(100),
        asked(995),
        plans=(plan(995, "a"),),
        slices=(logs("a", 100),),
        uncompacted=waiting(100),
    )
    found = only(seen, policy(NEAR))
    assert found.severity is Severity.WARNING
    assert found.remedy is not None
    assert (found.remedy.step, found.remedy.instants) == (Step.EXECUTE, (name(995),))


def test_a_copy_on_write_table_has_one_view_only() -> None:
    cow = table(table_type=TableType.COPY_ON_WRITE)
    assert staleness_of(look(table=cow, uncompacted=waiting(1))) is None
    assert staleness_of(look()) is None


def test_commits_in_planned_groups_are_not_counted_as_unplanned() -> None:
    seen = look(
        asked(50),
        plans=(plan(50, "a"),),
        slices=(logs("a", 10), logs("b", 60)),
        uncompacted=waiting(10, 60),
    )
    assert [one.instant for one in unplanned_commits(seen)] == [name(60)]


# Damage


def test_a_block_of_an_unknown_instant_is_read_if_it_is_older_than_the_timeline() -> None:
    old = look(done(500), blocks=(block(100, BlockState.NOWHERE),), has_read_logs=True)
    found = only(old, locked())
    assert (found.code, found.severity) == (Code.UNKNOWN_BLOCKS, Severity.CRITICAL)
    assert "not checked" in found.words
    assert found.remedy is not None
    assert found.remedy.holds, "any service would make these rows last"
    young = look(done(500), blocks=(block(600, BlockState.NOWHERE),), has_read_logs=True)
    skipped = only(young, locked())
    assert skipped.severity is Severity.WARNING
    assert "once the timeline is archived past them" in skipped.words
    assert skipped.remedy is not None
    assert skipped.remedy.holds


def test_a_remedy_executes_only_the_plans_that_take_nothing_damaged() -> None:
    torn = block(None, BlockState.CORRUPT, BlockKind.CORRUPT)
    some = look(
        *(asked(minute) for minute in (10, 20, 30)),
        plans=(plan(10, "a"), plan(20, "f"), plan(30, "b")),
        blocks=(torn,),
        has_read_logs=True,
    )
    settings = replace(locked(), max_pending=1)
    pile = next(one for one in failures(some, settings, NOW) if one.code is Code.PLANS_PILE_UP)
    assert pile.remedy is not None
    assert pile.remedy.instants == (name(10), name(30))
    assert "damaged file group" in pile.remedy.words
    only_bad = replace(some, instants=(asked(20), asked(30)), plans=(plan(20, "f"), plan(30, "f")))
    pile = next(one for one in failures(only_bad, settings, NOW) if one.code is Code.PLANS_PILE_UP)
    assert pile.remedy is not None
    assert pile.remedy.holds


def test_blocks_of_known_instants_are_no_failure() -> None:
    for state in (BlockState.COMPLETED, BlockState.PENDING):
        assert failures(look(done(500), blocks=(block(100, state),)), policy(), NOW) == ()


def test_duplicate_keys_are_the_evidence_of_unknown_blocks_and_a_failure_of_their_own_without() -> (
    None
):
    twice = (DuplicateKey(key="7", partition="p", file_ids=("a", "b")),)
    explained = look(
        done(500),
        blocks=(block(100, BlockState.NOWHERE),),
        duplicates=twice,
        has_read_keys=True,
    )
    found = only(explained, locked())
    assert "1 record key are duplicated" in found.words
    assert found.evidence[0]["key"] == "7"
    assert only(look(done(500), duplicates=twice), locked()).code is Code.DUPLICATE_KEYS


@pytest.mark.parametrize(
    ("minute", "is_wrong"), [(None, True), (500, True), (100, True), (700, False), (600, False)]
)
def test_a_corrupt_block_is_a_loss_where_readers_read_its_file(
    minute: int | None, is_wrong: bool
) -> None:
    seen = look(
        done(500), begun(700), blocks=(block(minute, BlockState.CORRUPT, BlockKind.CORRUPT),)
    )
    found = [one for one in failures(seen, policy(), NOW) if one.code is Code.CORRUPT_BLOCKS]
    assert bool(found) is is_wrong
    if found:
        assert found[0].remedy is not None
        assert found[0].remedy.holds
        assert found[0].remedy.can_be_clicked
        assert damaged_groups(seen) == {FileGroupId("p", "f")}


def test_logs_without_a_base_are_normal_in_a_new_group_and_under_a_planned_compaction() -> None:
    new = logs("a", 10, base=None)
    lost = logs("b", 10, base=None, earlier=True)
    planned = replace(logs("c", 60, base=None, earlier=True), base_instant=name(50))
    seen = look(asked(50), plans=(plan(50, "c"),), slices=(new, lost, planned))
    assert lost_bases(seen) == (lost,)
    found = [one for one in failures(seen, policy(), NOW) if one.code is Code.LOST_BASE]
    assert found[0].evidence[0]["group"] == {"partition": "p", "file_id": "b"}
    assert "clean would delete it" in found[0].words


def test_a_plan_of_another_instant_does_not_excuse_a_lost_base() -> None:
    lost = logs("a", 60, base=None, earlier=True)
    other = look(asked(50), plans=(plan(50, "a"),), slices=(lost,))
    assert lost_bases(other) == (lost,)


# Stuck instants


def test_each_stuck_instant_has_its_own_remedy() -> None:
    dead = NOW - timedelta(hours=3)
    seen = look(begun(100, COMPACTION), begun(200, heartbeat_at=dead), begun(300, Action.CLEAN))
    found = {
        one.evidence[0]["instant"]: one.remedy
        for one in failures(seen, locked(), NOW)
        if one.code is Code.STUCK
    }
    compaction, write, clean = (found[name(minute)] for minute in (100, 200, 300))
    assert compaction is not None
    assert write is not None
    assert clean is not None
    assert (compaction.service, compaction.needs_approval) == (Service.ROLLBACK, False)
    assert (write.service, write.needs_approval) == (Service.ROLLBACK, True)
    assert (clean.service, clean.needs_approval) == (Service.CLEAN, True)


# All of it


def test_the_worst_comes_first_and_evidence_is_capped_and_counted() -> None:
    seen = look(
        *(asked(minute) for minute in range(1, 70)),
        begun(80),
        slices=(logs("b", 10, base=None, earlier=True),),
    )
    found = failures(seen, policy(), NOW)
    assert found[0].code is Code.LOST_BASE
    piled = next(one for one in found if one.code is Code.PLANS_PILE_UP)
    assert (len(piled.evidence), piled.n_evidence) == (MOST_ROWS, 69)


def test_what_was_not_looked_at_is_not_called_well() -> None:
    assert len(not_looked_at(look())) == 2
    assert not_looked_at(replace(look(), has_read_logs=True, has_read_keys=True)) == ()


def test_nothing_is_told_of_a_timeline_that_cannot_be_relied_on() -> None:
    assert failures(look(asked(1), table=table(faults=("It is empty.",))), policy(), NOW) == ()


@given(looks(), POLICIES)
def test_every_failure_has_words_evidence_and_a_remedy(
    seen: HudiInspection, settings: HudiPolicy
) -> None:
    for one in failures(seen, settings, NOW):
        assert one.words.endswith(".")
        assert one.n_evidence >= len(one.evidence) > 0
        assert one.remedy is not None
        assert one.remedy.words.endswith(".")
        assert json.loads(json.dumps(one.as_dict()))["code"] == one.code
    damaged = {one.code for one in failures(seen, settings, NOW)} & {
        Code.CORRUPT_BLOCKS,
        Code.LOST_BASE,
    }
    assert not damaged or damaged_groups(seen)


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (-5, "0 min"),
        (59, "59 min"),
        (60, "1 h"),
        (61, "1 h 1 min"),
        (1440, "1 d"),
        (1505, "1 d 1 h"),
    ],
)
def test_a_span_is_said_in_the_units_that_matter(minutes: int, words: str) -> None:
    assert span_words(timedelta(minutes=minutes)) == words
