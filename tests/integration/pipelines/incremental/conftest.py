"""Layers on the embedded stack's lake."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from stack.stack import LAKE, Stack
from tests.support.layered_tables import LayeredLake


@pytest.fixture
def layered(spark: SparkSession, embedded_stack: Stack, tmp_path: Path) -> LayeredLake:
    return LayeredLake(spark, embedded_stack.config(LAKE), tmp_path)
