"""What a statement has from cubes: each cube once, the rows and bytes that were not read."""

from optimizer.proxy.domain.uses import CubeUse, uses_of
from tests.support.cube_queries import PARTLY, QUERIES, answered, tables


def test_whole_and_partly_covered_tables() -> None:
    whole = uses_of(answered(QUERIES["total"]), tables())
    assert whole == (CubeUse("u", "sales", 1_000, 100_000, 0, 100, 0),)
    partly = uses_of(answered(QUERIES["total"], cube=PARTLY), tables(PARTLY))
    assert [(one.rows, one.bytes, one.fresh_rows) for one in partly] == [(1_000, 95_000, 50)]


def test_a_cube_that_answers_two_places_counts_once_and_none_where_none_is_used() -> None:
    assert len(uses_of(answered(QUERIES["two_blocks"]), tables())) == 1
    assert (
        uses_of(answered("SELECT count(*) AS n FROM ssb.lineorder WHERE note = 'x'"), tables())
        == ()
    )
