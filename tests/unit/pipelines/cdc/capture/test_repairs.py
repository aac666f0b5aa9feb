"""A repair's records are newer than what was read at their position, and older than what comes."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.capture.domain.loads import Chunk
from pipelines.cdc.capture.domain.row_changes import reads_of, repairs_of
from pipelines.cdc.changes.domain.positions import Position, version_of_row
from pipelines.cdc.changes.domain.records import Row
from pipelines.cdc.changes.domain.schemas import Column, TableSchema

SCHEMA = TableSchema("shop", "t", 3, 9, (Column("id", "int"), Column("v", "int")), ("id",))


def row(number: int) -> Row:
    return {"id": str(number), "v": "1"}


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9), min_size=1))
def test_each_key_is_a_row_or_a_delete(there: set[int], asked: set[int]) -> None:
    at = Position(0, "bin.000002", 700)
    chunk = Chunk(at, 5, [row(one) for one in sorted(there & asked)], (), is_last=True)
    keys: list[Row] = [{"id": str(one)} for one in sorted(asked)]
    found = repairs_of(chunk, SCHEMA, keys)
    assert [one.key for one in found] == keys
    assert {one.key["id"] for one in found if one.op == "r"} == {str(n) for n in there & asked}
    for one in found:
        assert (one.op == "d") == (one.after is None)
        assert (one.schema, one.position) == (3, str(at))


@given(st.integers(4, 1 << 31), st.integers(20, 9_000), st.integers(0, 18))
def test_its_version_lies_between_the_read_and_the_next_change(
    offset: int, size: int, number: int
) -> None:
    at = Position(1, "bin.000002", offset)
    chunk = Chunk(at, 5, [row(1)], (), is_last=True)
    (read,), (repair,) = reads_of(chunk, SCHEMA), repairs_of(chunk, SCHEMA, [{"id": "1"}])
    before = Position(1, "bin.000002", max(offset - size, 0))
    last = version_of_row(
        before, size=offset - before.offset, row=max(offset - before.offset - 2, 0)
    )
    assert last < read.version < repair.version
    assert repair.version < version_of_row(at, size=size, row=number)
