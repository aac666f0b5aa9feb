"""Aggregate queries answered from cubes in Spark: the rows of the table itself."""

import pytest

from tests.support.cube_star import FILES, Questions, Star
from tests.support.cube_tables import SqlCube


@pytest.fixture(scope="module")
def whole(star: Star) -> SqlCube:
    """A cube of seven units, of which some have several files."""
    files = star.live()
    assert len(files) == FILES
    units = {1: files[:3], 2: files[3:5], **{i: [files[i + 2]] for i in range(3, 8)}}
    return star.cube().build(units).publish()


def test_random_queries_are_equal_from_a_whole_cube(star: Star, whole: SqlCube) -> None:
    questions = Questions(1)
    used = sum(star.same(questions.ask()) for _ in range(60))
    assert used > 15, used
