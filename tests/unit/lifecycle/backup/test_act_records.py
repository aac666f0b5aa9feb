"""Intents and dones are read back as they were written; damage is never read as something else."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.backup.engine.journal.records import (
    BatchDone,
    BatchIntent,
    FileFact,
    Generation,
    ItemDone,
    ItemIntent,
    ItemRefused,
    ItemTarget,
    Outcome,
    RestoreIntent,
    shortfall,
)
from portal.lake.errors import DataSafetyError

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_FACTS = st.builds(
    FileFact,
    path=_TEXT,
    is_dir=st.booleans(),
    size=st.integers(0, 1 << 50),
    mtime_ms=st.integers(0, 1 << 44),
    owner=_TEXT,
    group=_TEXT,
    mode=st.integers(0, 0o7777),
    acl=st.lists(_TEXT, max_size=3).map(tuple),
)
_ITEMS = st.builds(
    ItemIntent,
    item=_TEXT,
    partition=_TEXT,
    source=_TEXT,
    generation=st.builds(
        Generation,
        create_time=st.integers(0, 1 << 31),
        ddl_time=st.none() | st.integers(0, 1 << 31),
        location=_TEXT,
        data_path=st.none() | _TEXT,
    ),
    metadata=_TEXT,
    files=st.lists(_FACTS, max_size=4).map(tuple),
    parents=st.lists(_FACTS, max_size=2).map(tuple),
    facts=st.dictionaries(_TEXT, st.integers()),
)
_INTENTS = st.builds(
    BatchIntent,
    run=_TEXT,
    epoch=st.integers(1, 99),
    batch=st.integers(1, 10**7),
    lake=_TEXT,
    db=_TEXT,
    table=_TEXT,
    table_owner=_TEXT,
    plan=_TEXT,
    digest=_TEXT,
    at=_TEXT,
    keep_days=st.integers(15, 400),
    table_metadata=_TEXT,
    items=st.lists(_ITEMS, max_size=3).map(tuple),
    refused=st.lists(st.builds(ItemRefused, partition=_TEXT, reason=_TEXT), max_size=3).map(tuple),
)


@given(_INTENTS)
def test_an_intent_is_read_back_as_written(intent: BatchIntent) -> None:
    assert BatchIntent.from_bytes(intent.to_bytes()) == intent


@given(st.lists(st.sampled_from(list(Outcome)), max_size=5), st.none() | st.floats(0, 9))
def test_a_done_is_read_back_as_written(outcomes: list[Outcome], seconds: float | None) -> None:
    items = tuple(
        ItemDone(f"i{n}", "dt=ä%20", outcome, "reason") for n, outcome in enumerate(outcomes)
    )
    done = BatchDone("run", 1, 7, "2026-11-22T00:00:00+00:00", "driver", items, seconds)
    again = BatchDone.from_bytes(done.to_bytes())
    assert again == done
    assert all(again.outcome_of(item.item) is item.outcome for item in items)
    assert again.outcome_of("other") is None


def test_a_restore_intent_is_read_back_as_written() -> None:
    intent = RestoreIntent("r", 1, 7, "at", "db", "t", "", (ItemTarget("i", "p=1", "file:///x"),))
    assert RestoreIntent.from_bytes(intent.to_bytes()) == intent


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"version": 2}', b'{"version": 1}'])
def test_a_damaged_file_is_danger_never_an_empty_batch(data: bytes) -> None:
    for record in (BatchIntent, BatchDone, RestoreIntent):
        with pytest.raises(DataSafetyError, match="cannot be read"):
            record.from_bytes(data)


def test_shortfall_names_what_is_missing_or_shorter_but_not_what_is_more() -> None:
    whole = FileFact("a", False, 10, 5, "o", "g", 0o644)
    more = dataclasses.replace(whole, size=11, mtime_ms=6)
    less = dataclasses.replace(whole, size=9)
    folder = dataclasses.replace(whole, is_dir=True)
    extra = dataclasses.replace(whole, path="b")
    assert shortfall([whole], [whole, extra]) == []
    assert shortfall([whole], [more]) == []
    for found in ([], [less], [folder], [extra]):
        assert shortfall([whole], found) == ["a"]
