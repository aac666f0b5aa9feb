"""Columns aside: who may move them where, and a replay that gives every row the source's value."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pipelines.cdc.schema.domain.aside import (
    AsideColumn,
    Replay,
    State,
    Treatment,
    replay_of,
)
from portal.lake.errors import RuleViolation

SEEN = AsideColumn("shop", "orders", "note", added_at=100, default="none")

MOVES: dict[str, Callable[[AsideColumn], AsideColumn]] = {
    "ask": AsideColumn.ask,
    "approve": lambda one: one.approve(Treatment.MASKED, version=200, by="ann"),
    "refuse": lambda one: one.refuse(by="ann"),
    "replay": AsideColumn.replay,
    "retry": AsideColumn.retry,
    "finish": AsideColumn.finish,
}
ALLOWED = {
    (State.SEEN, "ask"): State.PENDING,
    (State.PENDING, "approve"): State.APPROVED,
    (State.PENDING, "refuse"): State.REFUSED,
    (State.REFUSED, "ask"): State.PENDING,
    (State.APPROVED, "replay"): State.REPLAYING,
    (State.REPLAYING, "retry"): State.APPROVED,
    (State.REPLAYING, "finish"): State.LIVE,
}


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("move", MOVES)
def test_a_column_moves_only_where_it_may(state: State, move: str) -> None:
    column = replace(SEEN, state=state)
    allowed = ALLOWED.get((state, move))
    if allowed is not None:
        assert MOVES[move](column).state is allowed
        return
    with pytest.raises(RuleViolation) as refused:
        MOVES[move](column)
    assert refused.value.code == "cdc.aside_state"
    assert "shop.orders.note" in refused.value.message


def test_a_decision_says_how_from_when_and_by_whom() -> None:
    approved = SEEN.ask().approve(Treatment.ENCRYPTED, version=150, by="ann")
    assert (approved.treatment, approved.approved_at, approved.decided_by) == (
        Treatment.ENCRYPTED,
        150,
        "ann",
    )
    refused = SEEN.ask().refuse(by="bob")
    assert (refused.decided_by, refused.ask().decided_by) == ("bob", "")


def test_a_column_is_not_approved_from_before_it_came() -> None:
    with pytest.raises(RuleViolation) as refused:
        SEEN.ask().approve(Treatment.PLAIN, version=99, by="ann")
    assert refused.value.code == "cdc.aside_version"


def test_each_value_is_aside_or_written_and_never_both() -> None:
    approved = SEEN.ask().approve(Treatment.PLAIN, version=150, by="ann")
    for version in (100, 150, 151, 200):
        assert approved.is_kept(version) != approved.is_written(version)
        assert approved.is_written(version) == (version > 150)
    assert SEEN.is_kept(10**6)
    refused = SEEN.ask().refuse(by="ann")
    assert not refused.is_kept(120)
    assert not refused.is_written(120)


def test_a_row_without_its_value_aside_is_read_again() -> None:
    approved = SEEN.ask().approve(Treatment.PLAIN, version=150, by="ann")
    assert replay_of(approved, 120, {110: "old"}).action is Replay.MISSING
    assert replay_of(approved, 100, {}).action is Replay.MISSING
    assert replay_of(approved, 120, {120: None}).action is Replay.WRITE
    assert replay_of(approved, 99, {}).value == "none"
    assert replay_of(approved, None, {120: "x"}).action is Replay.SKIP
    assert replay_of(approved, 151, {}).action is Replay.KEEP


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[int, int, str | None, bool]]:
    """Changes by version: key, value of the column, whether it is a delete."""
    versions = sorted(draw(st.sets(st.integers(50, 250), max_size=20)))
    return [
        (
            version,
            draw(st.integers(0, 3)),
            draw(st.none() | st.sampled_from("abc")),
            draw(st.booleans()),
        )
        for version in versions
    ]


@given(histories(), st.integers(100, 260))
def test_a_replay_gives_every_row_the_value_of_the_source(
    history: list[tuple[int, int, str | None, bool]], approved_at: int
) -> None:
    column = SEEN.ask().approve(Treatment.PLAIN, version=approved_at, by="ann")
    source: dict[int, str | None] = {}
    rows: dict[int, int] = {}
    written: dict[int, str | None] = {}
    aside: dict[int, dict[int, str | None]] = {}
    for version, key, value, deletes in history:
        if deletes:
            source.pop(key, None)
            rows.pop(key, None)
            continue
        source[key] = value if version >= column.added_at else column.default
        rows[key] = version
        if version >= column.added_at:
            if column.is_written(version):
                written[key] = value
            if column.is_kept(version):
                aside.setdefault(key, {})[version] = value
    for key in range(4):
        found = replay_of(column, rows.get(key), aside.get(key, {}))
        assert (found.action is Replay.SKIP) == (key not in source)
        assert found.action is not Replay.MISSING
        if found.action is Replay.KEEP:
            assert written[key] == source[key]
        elif key in source:
            assert found.value == source[key]
