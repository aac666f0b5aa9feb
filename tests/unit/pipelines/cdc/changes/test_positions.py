"""Versions: each row has its own, and the later one is greater."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.changes.domain.positions import (
    MOST_BYTES,
    MOST_EPOCHS,
    MOST_FILES,
    Position,
    version_of_row,
)
from portal.lake.errors import RuleViolation

positions = st.builds(
    Position,
    epoch=st.integers(0, MOST_EPOCHS - 1),
    file=st.integers(0, MOST_FILES - 1).map(lambda number: f"mysql-bin.{number:06}"),
    offset=st.integers(0, MOST_BYTES - 1_000_000),
)
events = st.integers(30, 500_000)


def place(position: Position) -> tuple[int, int, int]:
    return position.epoch, position.number, position.offset


@given(positions)
def test_a_position_reads_as_it_was_written(position: Position) -> None:
    assert Position.parse(str(position)) == position


@given(positions, positions)
def test_positions_are_ordered_by_epoch_then_file_then_offset(a: Position, b: Position) -> None:
    assert (a < b) == (place(a) < place(b))
    assert (a.version == b.version) == (place(a) == place(b))


@given(positions, events, st.data())
def test_rows_of_an_event_are_newer_than_what_was_read_before_it_and_older_than_after_it(
    start: Position, size: int, data: st.DataObject
) -> None:
    first, second = sorted(
        data.draw(st.lists(st.integers(0, size - 20), min_size=2, max_size=2, unique=True))
    )
    end = replace(start, offset=start.offset + size)
    older = version_of_row(start, size=size, row=first, half=1)
    newer = version_of_row(start, size=size, row=second)
    assert start.version < older < newer < end.version < 1 << 63


def test_the_halves_of_a_change_of_key_follow_one_another() -> None:
    start = Position(0, "bin.000001", 4)
    halves = [version_of_row(start, size=60, row=0, half=half) for half in (0, 1)]
    assert halves[1] == halves[0] + 1
    assert halves[1] < version_of_row(start, size=60, row=1)


@pytest.mark.parametrize(
    "text",
    ["", "1", "0:bin.000001", "0:bin:4", "x:bin.000001:4", "0:bin.000001:-4", "0:a/b.000001:4"],
)
def test_what_is_no_position_is_refused_by_name(text: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        Position.parse(text)
    assert refused.value.code == "cdc.position"


@pytest.mark.parametrize(
    ("epoch", "file", "offset"),
    [(MOST_EPOCHS, "b.1", 0), (0, f"b.{MOST_FILES}", 0), (0, "b.1", MOST_BYTES)],
)
def test_what_does_not_fit_into_a_version_is_refused(epoch: int, file: str, offset: int) -> None:
    with pytest.raises(RuleViolation):
        Position(epoch, file, offset)


def test_an_event_with_more_rows_than_bytes_is_refused() -> None:
    with pytest.raises(RuleViolation, match="log_bin_compress"):
        version_of_row(Position(0, "b.1", 4), size=30, row=29)
