"""Records of row events and of chunks: versions that only grow, and key changes in two halves."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.capture.domain.events import Rows
from pipelines.cdc.capture.domain.loads import Chunk
from pipelines.cdc.capture.domain.row_changes import changes_of, reads_of
from pipelines.cdc.changes.domain.positions import Position, version_of_row
from pipelines.cdc.changes.domain.records import Row
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from portal.lake.errors import RuleViolation

SCHEMA = TableSchema("shop", "t", 3, 1, (Column("id", "int(11)"), Column("a", "text")), ("id",))
START = Position(1, "mysql-bin.000007", 1000)
rows = st.fixed_dictionaries({"id": st.sampled_from("123"), "a": st.none() | st.text(max_size=3)})
images = st.tuples(st.none() | rows, st.none() | rows).filter(lambda pair: pair != (None, None))
Image = tuple[Row | None, Row | None]


def event(found: list[Image], *, size: int = 1000) -> Rows:
    end = Position(1, START.file, START.offset + size)
    given: Iterator[Image] = iter(found)
    return Rows(START, end, size, 5, SCHEMA, given)


@given(st.lists(images, max_size=20))
def test_versions_grow_and_halves_belong_together(found: list[Image]) -> None:
    changes = list(changes_of(event(found)))
    versions = [one.version for one in changes]
    assert versions == sorted(set(versions))
    assert {one.schema for one in changes} <= {3}
    place = iter(changes)
    for n, (before, after) in enumerate(found):
        version = version_of_row(START, size=1000, row=n)
        first = next(place)
        assert first.version == version
        if before and after and before["id"] != after["id"]:
            second = next(place)
            assert (first.op, first.key, first.after) == ("d", {"id": before["id"]}, None)
            assert (second.op, second.version) == ("c", version + 1)
            assert (second.before, second.after) == (None, after)
        else:
            assert (first.before, first.after) == (before, after)
    assert next(place, None) is None


def test_more_rows_than_bytes_are_refused() -> None:
    one: Image = (None, {"id": "1", "a": None})
    with pytest.raises(RuleViolation, match="log_bin_compress"):
        list(changes_of(event([one] * 30, size=30)))


def test_a_row_of_a_chunk_is_older_than_what_follows_its_position() -> None:
    chunk = Chunk(START, 9, [{"id": "1", "a": "x"}], ("1",), is_last=True)
    (read,) = reads_of(chunk, SCHEMA)
    (change,) = changes_of(event([({"id": "1", "a": "x"}, None)]))
    assert (read.op, read.key, read.before) == ("r", {"id": "1"}, None)
    assert read.version < change.version
    earlier = Position(1, START.file, START.offset - 50)
    assert version_of_row(earlier, size=50, row=48) < read.version
