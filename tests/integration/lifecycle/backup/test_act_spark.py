"""Drop and restore as real Spark applications: `local[*]` on files, standalone on HDFS."""

import json
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lifecycle.drop.jobs import approved_items
from portal.lake.errors import DataSafetyError
from portal.spark.job import JobContext
from portal.spark.spool import Spool
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.integration.lifecycle.backup.act_spark_cases import drop_and_restore_by_spark
from tests.support.act_jobs import drop_params, start, wait_end


@pytest.mark.long
def test_spark_local_drops_and_restores(embedded_stack: Stack, tmp_path: Path) -> None:
    for lake in make_lake(embedded_stack):
        drop_and_restore_by_spark(lake, tmp_path)


def test_spark_standalone_drops_and_restores_on_hdfs(full_stack: Stack, tmp_path: Path) -> None:
    for lake in make_lake(full_stack):
        drop_and_restore_by_spark(lake, tmp_path)


def test_an_items_file_changed_after_approval_is_refused(
    embedded_stack: Stack, tmp_path: Path
) -> None:
    for lake in make_lake(embedded_stack):
        name = lake.make_table("tampered", keys=("dt",), values=[("a",), ("b",)])
        run = str(uuid.uuid4())
        params = drop_params(lake, name, run)
        items = lake.config.path(params["items"])
        lake.fs.replace(items, lake.fs.read(items).replace(b"dt=a", b"dt=b"))
        log = tmp_path / "drop.log"
        launched, spool = start(lake.config, "lifecycle.drop.jobs", params, run=run, log=log)
        wait_end(launched)
        manifest = spool.read_manifest()
        assert manifest is not None, log.read_text()[-2000:]
        assert manifest["error"]["code"] == "act.digest", json.dumps(manifest)
        assert lake.metastore.partition_names(name) == ["dt=a", "dt=b"]


@pytest.mark.parametrize(
    "changed", [{}, {"approved_keep_days": {"other": 15}}, {"root": "file:///elsewhere"}]
)
def test_days_and_a_root_that_nobody_approved_are_refused(
    embedded_stack: Stack, spark: SparkSession, changed: dict[str, Any]
) -> None:
    for lake in make_lake(embedded_stack):
        name = lake.make_table("terms", keys=("dt",), values=[("a",)])
        params = drop_params(lake, name, str(uuid.uuid4())) | changed
        spool = Spool.for_run(lake.config, "run", 1)
        job = JobContext("run", 1, lake.config, params, datetime.now(UTC), spool, spark)
        if not changed:
            assert len(approved_items(job)) == 1
            continue
        with pytest.raises(DataSafetyError, match="not the one that was approved"):
            approved_items(job)
