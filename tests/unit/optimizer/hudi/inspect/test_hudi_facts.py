"""Tests inspections of a Hudi table: read back from JSON unchanged, or refused with a reason."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.hudi.inspect.domain.facts import (
    Action,
    BlockKind,
    BlockState,
    DuplicateKey,
    FileGroupId,
    FileSlice,
    HudiInspection,
    HudiTable,
    Instant,
    InstantState,
    LogBlock,
    PendingPlan,
    TableType,
    Uncompacted,
)
from portal.lake.errors import RuleViolation

AT = st.datetimes(timezones=st.just(UTC))
WORD = st.text(max_size=5)
COUNT = st.integers(0, 2**60)
GROUP = st.builds(FileGroupId, WORD, WORD)
BADGES = st.builds(
    HudiInspection,
    inspected_at=AT,
    table=st.builds(
        HudiTable,
        location=WORD,
        table_type=st.sampled_from(TableType),
        version=COUNT,
        layout_version=COUNT,
        partition_fields=st.lists(WORD, max_size=2).map(tuple),
        properties=st.dictionaries(WORD, WORD, max_size=2),
        faults=st.lists(WORD, max_size=2).map(tuple),
    ),
    instants=st.lists(
        st.builds(
            Instant,
            instant=WORD,
            action=st.sampled_from(Action),
            state=st.sampled_from(InstantState),
            requested_at=AT,
            inflight_at=st.none() | AT,
            completed=st.none() | WORD,
            completed_at=st.none() | AT,
            heartbeat_at=st.none() | AT,
            is_archived=st.booleans(),
            by=WORD,
        ),
        max_size=2,
    ).map(tuple),
    plans=st.lists(
        st.builds(
            PendingPlan,
            instant=WORD,
            action=st.sampled_from(Action),
            requested_at=AT,
            file_groups=st.lists(GROUP, max_size=2).map(tuple),
            log_bytes=COUNT,
        ),
        max_size=2,
    ).map(tuple),
    slices=st.lists(
        st.builds(FileSlice, group=GROUP, base_instant=WORD, base_bytes=st.none() | COUNT),
        max_size=2,
    ).map(tuple),
    uncompacted=st.lists(st.builds(Uncompacted, instant=WORD, completed_at=AT), max_size=2).map(
        tuple
    ),
    blocks=st.lists(
        st.builds(
            LogBlock,
            group=GROUP,
            log_file=WORD,
            position=COUNT,
            kind=st.sampled_from(BlockKind),
            state=st.sampled_from(BlockState),
        ),
        max_size=2,
    ).map(tuple),
    duplicates=st.lists(
        st.builds(
            DuplicateKey, key=WORD, partition=WORD, file_ids=st.lists(WORD, max_size=2).map(tuple)
        ),
        max_size=2,
    ).map(tuple),
    has_read_logs=st.booleans(),
)


def empty() -> HudiInspection:
    table = HudiTable(
        location="/t", table_type=TableType.MERGE_ON_READ, version=9, layout_version=2
    )
    return HudiInspection(inspected_at=datetime(2026, 3, 1, tzinfo=UTC), table=table)


@given(BADGES)
def test_a_look_comes_back_from_its_json(look: HudiInspection) -> None:
    assert HudiInspection.from_dict(json.loads(json.dumps(look.as_dict()))) == look


@pytest.mark.parametrize(
    "change",
    [
        {"inspected_at": "yesterday"},
        {"table": {}},
        {"instants": [{"instant": "1"}]},
        {"slices": None},
        {"of_a_later_release": 1},
    ],
)
def test_another_form_is_refused_with_the_next_step(change: dict[str, object]) -> None:
    with pytest.raises(RuleViolation, match="inspect the table again") as refused:
        HudiInspection.from_dict({**empty().as_dict(), **change})
    assert refused.value.code == "hudi.look"


@pytest.mark.parametrize(
    ("said", "is_on"), [("true", True), (" TRUE ", True), ("false", False), ("maybe", True)]
)
def test_a_flag_that_says_nothing_is_its_default(said: str, is_on: bool) -> None:
    table = HudiTable(
        location="/t",
        table_type=TableType.COPY_ON_WRITE,
        version=9,
        layout_version=2,
        properties={"hoodie.clean.automatic": said},
    )
    assert table.flag("hoodie.clean.automatic", default=True) is is_on
    assert not table.flag("hoodie.compact.inline", default=False)


def test_only_logs_without_a_base_make_a_slice_log_only() -> None:
    group = FileGroupId("", "f")
    assert FileSlice(group=group, base_instant="1", n_logs=1).is_log_only
    assert not FileSlice(group=group, base_instant="1", base_bytes=0, n_logs=1).is_log_only
    assert not FileSlice(group=group, base_instant="1").is_log_only
