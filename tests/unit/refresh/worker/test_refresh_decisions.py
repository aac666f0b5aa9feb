"""What is sent for what changed: nothing twice, nothing missing, and every cache ends up right."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refresh.changes.domain.changes import EVENT_TYPES, Cause, PartitionChange, Pending, heard
from refresh.core.domain.versions import Dialect
from refresh.worker.domain.lanes import (
    Lane,
    Pace,
    Past,
    expected_seconds,
    lane_of,
    metastore_calls,
    statement_size,
)
from refresh.worker.domain.steps import InMetastore, Step, StepKind, StepLimits, steps_for
from tests.unit.refresh.refresh_model import ModelFe, ModelMetastore
from tests.unit.refresh.refresh_names import IN_CATALOG, ON_RESOURCE, noted

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
NAMES = [f"dt={n}" for n in range(8)]
some_names = st.sampled_from(NAMES)
changes = st.builds(
    Pending,
    st.sampled_from([IN_CATALOG, ON_RESOURCE]),
    st.just(NOW),
    st.integers(0, 5).map(lambda n: NOW + timedelta(seconds=n)),
    st.frozensets(st.sampled_from(Cause), min_size=1),
    st.booleans(),
    st.dictionaries(some_names, st.sampled_from(PartitionChange), max_size=4),
)
limits = st.builds(StepLimits, st.integers(0, 6), st.integers(1, 3))


@pytest.mark.parametrize("kind", sorted(EVENT_TYPES))
def test_an_event_means_its_partitions_or_the_table(kind: str) -> None:
    whole, touched = heard(kind, ["dt=1"])
    assert whole == kind.endswith("TABLE")
    assert set(touched) == (set() if whole else {"dt=1"})
    assert heard(kind, []) == (True, {})


def test_an_event_of_another_kind_means_nothing() -> None:
    assert heard("CREATE_FUNCTION", ["dt=1"]) == (False, {})


actions = st.lists(
    st.tuples(st.sampled_from(["write", "drop", "query", "other refresh"]), some_names),
    min_size=10,
    max_size=30,
)


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=60)
@given(actions=actions, step_limits=limits, cold=st.booleans())
def test_after_the_steps_a_front_end_answers_as_the_metastore(
    dialect: Dialect, actions: list[tuple[str, str]], step_limits: StepLimits, cold: bool
) -> None:
    """Whatever was cached before, and however the events came in."""
    metastore, fe = ModelMetastore(), ModelFe(old=dialect is Dialect.RESOURCES)
    for name in NAMES[:4]:
        metastore.write(name)
    if not cold:
        fe.query(metastore)
    events: list[tuple[str, str]] = []
    for action, name in actions:
        if action == "query":
            fe.query(metastore)
        elif action == "other refresh":
            fe.refresh_table(metastore)
        else:
            before = set(metastore.versions)
            (metastore.write if action == "write" else metastore.drop)(name)
            kind = "ALTER_PARTITION" if name in before else "ADD_PARTITION"
            kind = kind if action == "write" else "DROP_PARTITION"
            events.append((kind, name))
    if events:
        causes, touched = frozenset({Cause.EVENT}), noted(reversed(events))
        pending = Pending(IN_CATALOG, NOW, NOW, causes, partitions=touched)
        for step in steps_of(pending, metastore, dialect=dialect, step_limits=step_limits):
            send(step, fe, metastore)
    assert fe.query(metastore) == metastore.versions


def steps_of(
    pending: Pending, metastore: ModelMetastore, *, dialect: Dialect, step_limits: StepLimits
) -> tuple[Step, ...]:
    found = InMetastore(
        exists=True,
        is_partitioned=True,
        partitions=metastore.versions.keys() & pending.partitions.keys(),
    )
    return steps_for(pending, found=found, dialect=dialect, limits=step_limits)


def send(step: Step, fe: ModelFe, metastore: ModelMetastore) -> None:
    if step.kind is StepKind.TABLE:
        fe.refresh_table(metastore)
    else:
        fe.refresh_partitions(metastore, step.partitions)


@given(
    pending=changes,
    existing=st.sets(some_names),
    dialect=st.sampled_from(Dialect),
    step_limits=limits,
)
def test_statements_are_bounded_in_order_and_name_only_what_is_there(
    pending: Pending, existing: set[str], dialect: Dialect, step_limits: StepLimits
) -> None:
    found = InMetastore(exists=True, is_partitioned=True, partitions=existing)
    steps = steps_for(pending, found=found, dialect=dialect, limits=step_limits)
    kinds = [step.kind for step in steps]
    assert StepKind.TABLE not in kinds[1:]
    named = [name for step in steps for name in step.partitions]
    assert len(named) == len(set(named))
    assert set(named) <= existing & pending.partitions.keys()
    assert all(len(step.partitions) <= step_limits.per_statement for step in steps)
    if dialect is Dialect.CATALOGS:
        n = len(pending.partitions.keys() & existing)
        dropped = pending.partitions.keys() - existing
        is_table = pending.whole or dropped or n > step_limits.most_by_name
        assert steps == (Step(StepKind.TABLE),) if is_table else StepKind.TABLE not in kinds
        assert len(steps) <= max(1, -(-n // step_limits.per_statement))


def test_a_table_that_is_gone_is_told_to_every_front_end() -> None:
    pending = Pending(IN_CATALOG, NOW, NOW, frozenset({Cause.EVENT}), partitions={})
    gone = InMetastore(exists=False, is_partitioned=False)
    (step,) = steps_for(pending, found=gone, dialect=Dialect.CATALOGS, limits=StepLimits())
    assert step == Step(StepKind.TABLE, everywhere=True)
    plain = InMetastore(exists=True, is_partitioned=False)
    assert steps_for(pending, found=plain, dialect=Dialect.CATALOGS, limits=StepLimits()) == ()
    whole = replace(pending, whole=True)
    for dialect in Dialect:
        steps = steps_for(whole, found=plain, dialect=dialect, limits=StepLimits())
        assert steps == (Step(StepKind.TABLE),)


@given(n=st.integers(0, 10**6), more=st.integers(0, 10**6), seconds=st.floats(0, 1e4))
def test_more_partitions_are_never_expected_to_be_faster(n: int, more: int, seconds: float) -> None:
    pace = Pace()
    for past in ([], [Past(seconds, 100)]):
        fewer = expected_seconds(n, past=past, pace=pace)
        rest = expected_seconds(n + more, past=past, pace=pace)
        assert fewer <= rest
        assert lane_of(fewer, pace=pace) <= lane_of(rest, pace=pace)
    assert expected_seconds(n, past=[Past(seconds, max(1, n))], pace=pace) >= seconds


def test_a_giant_is_known_by_its_partitions_and_by_its_past() -> None:
    pace = Pace()
    assert lane_of(expected_seconds(100_000, past=[], pace=pace), pace=pace) is Lane.GIANT
    assert lane_of(expected_seconds(10, past=[], pace=pace), pace=pace) is Lane.FAST
    slow = [Past(200.0, 10)]
    assert lane_of(expected_seconds(10, past=slow, pace=pace), pace=pace) is Lane.GIANT
    # What was slow long ago is forgotten.
    since = [*slow, *[Past(0.1, 10)] * 5]
    assert lane_of(expected_seconds(10, past=since, pace=pace), pace=pace) is Lane.FAST


def test_calls_to_the_metastore_are_those_that_its_audit_log_showed() -> None:
    table, some = Step(StepKind.TABLE), Step(StepKind.PARTITIONS, ("dt=1", "dt=2"))
    new, old = Dialect.CATALOGS, Dialect.RESOURCES
    assert metastore_calls(table, n_in_table=10, n_fes=3, dialect=new) == 12
    assert metastore_calls(table, n_in_table=100_000, n_fes=3, dialect=new) == 69
    assert metastore_calls(some, n_in_table=10, n_fes=3, dialect=new) == 12
    assert metastore_calls(some, n_in_table=10, n_fes=3, dialect=old) == 12


@given(each=st.floats(0, 100, allow_nan=False), hold=st.floats(0, 100), most=st.integers(0, 1_000))
def test_a_statement_holds_its_lock_no_longer_than_asked(
    each: float, hold: float, most: int
) -> None:
    size = statement_size(seconds_a_partition=each, hold_seconds=hold, most=most)
    assert 1 <= size <= max(1, most)
    assert size == 1 or size * each <= hold * 1.0001
