"""Catalogs and tables of other kinds: the indexed catalog's rows are the plain one's everywhere."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.integration.optimizer.indexes.test_indexed_changes import ALL, KINDS, append, check, made
from tests.support.indexed_tables import IndexedTables


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> IndexedTables:
    return IndexedTables.under(spark, tmp_path_factory.mktemp("reach"))
