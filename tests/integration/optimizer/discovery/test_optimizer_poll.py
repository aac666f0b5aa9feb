"""The poll reads the Iceberg tables out of a real metastore's database, on Derby and on MariaDB."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pymetastore.hive_metastore import ttypes
from pyspark.sql import SparkSession

from optimizer.discovery import jobs
from optimizer.discovery.services.poll import PollKind
from optimizer.models import IcebergTable
from portal.connectors.metastore import Metastore
from portal.runs.models import Run
from stack.stack import LAKE, Stack
from tests.component.optimizer.iceberg.iceberg_said import CLICKS, OTHER, parameters
from tests.integration.portal.events.test_events_follower import storage
from tests.support.scan_spark import job_for

pytestmark = pytest.mark.django_db
DB = "polled"
# Cut on Derby, whole on MariaDB: the plain parameters say the same.
LONG = {f"engine.{n}": "x" * 90 for n in range(80)}


def make_tables(stack: Stack) -> None:
    """Register Iceberg tables, and others that have one of their signs only."""
    root = f"{stack.lake_root}/{DB}.db"
    tables = {
        "clicks": parameters(3),
        "Ünnamed": parameters(0, uuid=OTHER) | {"table_type": "iceberg"},
        "too_long": parameters(2, uuid="", summary={**LONG, "total-records": 5})
        | {"numFiles": "2"},
        "plain": {"EXTERNAL": "TRUE"},
        "half": {"metadata_location": "file:/x.json", "table_type": "other"},
    }
    with Metastore.connect(stack.config()) as metastore:
        metastore.create_database(ttypes.Database(DB, "", root, {}))
        for name, said in tables.items():
            metastore.create_table(
                ttypes.Table(
                    tableName=name.replace("Ü", "u"),
                    dbName=DB,
                    owner="alice",
                    sd=storage(f"{root}/{name}"),
                    partitionKeys=[],
                    parameters=said,
                    tableType="EXTERNAL_TABLE",
                )
            )


@pytest.mark.parametrize(
    "form", [pytest.param("embedded_stack", marks=pytest.mark.long), "full_stack"]
)
def test_all_iceberg_tables_and_no_others_are_read(
    form: str, spark: SparkSession, settings: Any, request: pytest.FixtureRequest
) -> None:
    stack: Stack = request.getfixturevalue(form)
    settings.LAKEWARDEN_LAKES = stack.lakes_file
    make_tables(stack)
    before = datetime.now(tz=UTC)
    job = job_for(spark, stack.config(), {"read_at": before.isoformat()})
    manifest = {"outcome": "done", "result": json.loads(json.dumps(jobs.run(spark, job)))}
    run = Run.objects.create(lake=LAKE, kind=PollKind.name, requested_by="test", queued_at=before)
    PollKind().ingest(run, manifest)
    PollKind().ingest(run, manifest)

    rows = IcebergTable.objects.filter(lake=LAKE, db=DB).order_by("table")
    assert [(row.table, row.uuid, row.snapshot_id, row.n_files) for row in rows] == [
        ("clicks", CLICKS, 7003, 3),
        ("too_long", "", 7002, 2),
        ("unnamed", OTHER, None, None),
    ]
    clicks = rows[0]
    # The metastore writes a local place with one slash.
    root = str(stack.lake_root).replace("file:///", "file:/")
    assert (clicks.owner, clicks.location) == ("alice", f"{root}/{DB}.db/clicks")
    assert clicks.metadata_location.endswith("/00003.json")
    assert [commit.source for commit in clicks.commits.all()] == ["poll"]
    assert clicks.inspect_due_at is not None
