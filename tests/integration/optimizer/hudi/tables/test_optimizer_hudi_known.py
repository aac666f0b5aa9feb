"""From a table of Hudi's own writer in a real metastore to what the portal shows of it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pymetastore.hive_metastore import ttypes
from pyspark.sql import SparkSession

from optimizer.discovery.services.poll import poll_request
from optimizer.hudi.inspect.services.inspection import hudi_inspection_ask, hudi_inspections_due
from optimizer.models import HudiPoint, HudiTable, StoredInspection
from portal.connectors.metastore import Metastore
from stack.stack import LAKE, Stack
from tests.integration.portal.events.test_events_follower import storage
from tests.support import hudi_lake
from tests.support.refreshed import follow
from tests.support.run_here import run_here

pytestmark = [pytest.mark.django_db, pytest.mark.spark]
DB = "hudi_known"
READER = "org.apache.hudi.hadoop.HoodieParquetInputFormat"
SAYS = {"hoodie.clean.automatic": "false"}


def registered(metastore: Metastore, name: str, location: str, *, by_spark: bool) -> None:
    """Register a table as Spark's catalog does, or as a writer that keeps Hive in step."""
    place = storage(f"{location}-__PLACEHOLDER__" if by_spark else location)
    parameters = (
        {"spark.sql.sources.provider": "hudi", **SAYS} if by_spark else {"EXTERNAL": "TRUE"}
    )
    if by_spark:
        place.serdeInfo.parameters = {"path": location, "serialization.format": "1"}
    else:
        place.inputFormat = READER
    metastore.create_table(
        ttypes.Table(
            tableName=name,
            dbName=DB,
            owner="alice",
            sd=place,
            partitionKeys=[],
            parameters=parameters,
            tableType="EXTERNAL_TABLE",
        )
    )


def test_a_real_table_is_heard_of_polled_and_looked_at(
    embedded_stack: Stack, spark: SparkSession, settings: Any, tmp_path: Path
) -> None:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    table = hudi_lake.HudiTable(spark, tmp_path / "carts")
    hudi_lake.written(table, 2)
    follow()
    with Metastore.connect(embedded_stack.config()) as metastore:
        metastore.create_database(
            ttypes.Database(DB, "", f"{embedded_stack.lake_root}/{DB}.db", {})
        )
        registered(metastore, "carts_ro", table.location, by_spark=False)
        registered(metastore, "carts", table.location, by_spark=True)
        registered(metastore, "gone", f"file:{tmp_path}/gone", by_spark=False)
    follow()

    carts, gone = HudiTable.objects.filter(db=DB, is_deleted=False).order_by("table")
    assert (carts.table, carts.location, carts.owner) == ("carts", table.location, "alice")
    assert carts.properties == SAYS
    assert gone.table == "gone"
    carts.delete()
    known = HudiTable.objects.filter(pk=gone.pk).values().get()
    run_here(poll_request(LAKE, by="test", now=timezone.now()), spark)
    assert HudiTable.objects.filter(pk=gone.pk).values().get() == known
    carts = HudiTable.objects.get(db=DB, table="carts")
    assert (carts.location, carts.owner, carts.properties) == (table.location, "alice", SAYS)

    HudiTable.objects.exclude(db=DB).delete()
    run = hudi_inspection_ask(LAKE, carts.pk, by="test", read_keys=True, now=timezone.now())
    run.params = hudi_inspections_due(LAKE, now=timezone.now())
    run.save()
    run_here(run, spark)
    carts.refresh_from_db()
    gone.refresh_from_db()
    assert (carts.inspection_error, carts.table_type, carts.n_file_groups) == (
        "",
        "MERGE_ON_READ",
        2,
    )
    assert (carts.n_pending, carts.n_stuck, carts.unseen) == (0, 0, [])
    assert carts.log_bytes == sum(path.stat().st_size for path in table.logs())
    assert carts.inspect_due_at is not None
    assert carts.written_at is not None
    assert carts.stale_since is not None
    assert abs(carts.stale_since - carts.written_at) < timedelta(seconds=1)
    kept = StoredInspection.objects.get(table=carts).look()
    assert len(kept.uncompacted) == 1
    assert kept.table.properties["hoodie.clean.automatic"] == "false"
    assert HudiPoint.objects.get(table=carts).n_uncompacted == 1
    assert "gone" in gone.inspection_error
    assert gone.inspected_at is None
