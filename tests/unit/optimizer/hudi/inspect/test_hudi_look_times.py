"""When a Hudi table is looked at, what of an earlier look holds, and which alarms a look ends."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from optimizer.hudi.inspect.domain.alarms import BROKEN, CODES, TITLES, over, raised
from optimizer.hudi.inspect.domain.facts import BlockState, DuplicateKey, HudiInspection
from optimizer.hudi.inspect.domain.findings import Code
from optimizer.hudi.inspect.domain.quality import failures
from optimizer.hudi.inspect.domain.schedule import (
    EVERY,
    KEYS_EVERY,
    LOGS_EVERY,
    RESIDENT_EVERY,
    LastRead,
    carried,
    next_inspection_at,
)
from optimizer.hudi.inspect.domain.timeline import unfit
from optimizer.policies.domain.hudi_policy import HudiPolicy, Profile
from tests.unit.optimizer.hudi.hudi_world import (
    NOW,
    POLICIES,
    done,
    logs,
    look,
    looks,
    policy,
    table,
)

MINUTES = st.integers(0, 3000).map(lambda n: timedelta(minutes=n))
_CODES = st.sets(st.sampled_from(CODES))


def test_the_clock() -> None:
    assert next_inspection_at(NOW, policy()) == NOW + EVERY
    assert next_inspection_at(NOW, policy(Profile.NEAR_LINE)) == NOW + RESIDENT_EVERY


@given(logs_ago=MINUTES, keys_ago=MINUTES, bad=st.booleans(), asks=st.booleans())
def test_logs_are_read_each_hour_keys_each_day_and_both_when_asked(
    logs_ago: timedelta, keys_ago: timedelta, bad: bool, asks: bool
) -> None:
    last = LastRead(NOW - logs_ago, NOW - keys_ago, bad, asks, asks)
    assert last.reads_logs(NOW) == (logs_ago >= LOGS_EVERY or bad or asks)
    assert last.reads_keys(NOW) == (keys_ago >= KEYS_EVERY or asks)
    never = LastRead()
    assert never.reads_logs(NOW)
    assert never.reads_keys(NOW)


@given(look=looks(), before=st.none() | looks(), read_logs=st.booleans(), read_keys=st.booleans())
def test_what_was_read_again_is_believed_and_the_rest_comes_from_before(
    look: HudiInspection, before: HudiInspection | None, read_logs: bool, read_keys: bool
) -> None:
    found = carried(look, before, read_logs=read_logs, read_keys=read_keys)
    if before is None or (read_logs and read_keys):
        assert found == look
        return
    source = look if read_logs else before
    assert found.has_read_logs == source.has_read_logs
    assert set(found.blocks) <= set(source.blocks)
    assert found.instants == look.instants
    assert found.slices == look.slices
    with_logs = {one.group for one in look.slices if one.n_logs}
    if not read_logs:
        assert all(one.group in with_logs for one in found.blocks)
        bad = {one for one in before.blocks if one.state is BlockState.CORRUPT}
        assert {one for one in bad if one.group in with_logs} <= set(found.blocks)


def test_keys_that_stand_twice_do_so_while_two_of_their_file_groups_are_there() -> None:
    twice = DuplicateKey(key="1", partition="p", file_ids=("a", "b", "c"))
    before = look(done(1), duplicates=(twice,), has_read_keys=True)
    now = look(done(1), slices=(logs("a", 1), logs("c", 1)))
    found = carried(now, before, read_logs=True, read_keys=False)
    assert [one.file_ids for one in found.duplicates] == [("a", "c")]
    assert found.has_read_keys
    now = look(done(1), slices=(logs("a", 1),))
    assert carried(now, before, read_logs=True, read_keys=False).duplicates == ()


@given(look=looks(), policy=POLICIES, is_open=_CODES)
def test_an_alarm_holds_for_what_is_found_and_ends_only_by_a_look_that_could_tell(
    look: HudiInspection, policy: HudiPolicy, is_open: set[str]
) -> None:
    findings = failures(look, policy, NOW)
    holds = raised(look, findings)
    ended = over(look, holds, is_open)
    assert ended <= is_open
    assert not ended & holds.keys()
    assert {one.code.value for one in findings} <= holds.keys()
    assert set(holds) <= set(CODES)
    for code, one in holds.items():
        worst = [found.severity for found in findings if found.code == code]
        assert one.code == code
        assert one.words
        assert not worst or one.severity == worst[0]
    if not look.has_read_logs:
        assert not ended & {Code.CORRUPT_BLOCKS, Code.UNKNOWN_BLOCKS, Code.DUPLICATE_KEYS}
    if unfit(look) is not None:
        assert ended <= {BROKEN}
    elif look.has_read_logs and look.has_read_keys:
        assert ended == is_open - holds.keys()


def test_a_broken_timeline_is_an_alarm_and_ends_no_other() -> None:
    ill = look(done(1), table=table(faults=("deltacommit 1 is empty.",)))
    holds = raised(ill, ())
    assert list(holds) == [BROKEN]
    assert over(ill, holds, {BROKEN, "stuck"}) == frozenset()
    well = replace(ill, table=table())
    assert over(well, raised(well, ()), {BROKEN, "stuck"}) == {BROKEN, "stuck"}
    assert set(TITLES) == set(CODES)
