"""One captured database on the embedded stack's lake."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pipelines.cdc.reconciling.domain.messages import PASSWORD
from stack.servers.source_db import CAPTURE_PASSWORD
from stack.stack import LAKE, Stack
from tests.support.captured import Shop
from tests.support.reconciled import Reconciled


@pytest.fixture
def pipeline(
    spark: SparkSession,
    embedded_stack: Stack,
    shop: Shop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Reconciled:
    monkeypatch.setenv(PASSWORD, CAPTURE_PASSWORD)
    return Reconciled(spark, embedded_stack.config(LAKE), shop, tmp_path)
