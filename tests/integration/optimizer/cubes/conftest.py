"""A star of tables with cubes, one for all tests that only read it."""

import pytest
from pyspark.sql import SparkSession

from tests.support.cube_star import Star


@pytest.fixture(scope="module")
def star(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Star:
    return Star(spark, tmp_path_factory.mktemp("star")).fill()
