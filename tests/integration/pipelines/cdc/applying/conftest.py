"""One pipeline on the embedded stack's lake."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from stack.stack import LAKE, Stack
from tests.support.changelogs import Pipeline


@pytest.fixture
def pipeline(spark: SparkSession, embedded_stack: Stack, tmp_path: Path) -> Pipeline:
    return Pipeline(spark, embedded_stack.config(LAKE), tmp_path)
