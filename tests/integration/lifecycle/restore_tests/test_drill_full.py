"""N10 on HDFS with a metastore on MariaDB: a restore test proves, and clears what it made."""

import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.utils import timezone
from pyspark.sql import SparkSession
from pytest_django import Settings

from lifecycle.restore_tests.domain import RestoreTestState, read_scratch
from lifecycle.restore_tests.services.restore_tests import restore_test_request
from portal.access.services import person_create
from portal.runs.models import Run
from stack.stack import Stack
from tests.support.act_lake import ActLake
from tests.support.act_portal import ActPortal
from tests.support.column_lake import ColumnLake
from tests.support.plan_story import LAKE, use_stack
from tests.support.run_here import run_here

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]


@pytest.fixture
def lake(
    full_stack: Stack, tmp_path: Path, settings: Settings, spark: SparkSession
) -> Iterator[ActLake]:
    """One partitioned table of columns and a plain one of odd files, both in backups."""
    use_stack(settings, full_stack, var=tmp_path)
    config, name = full_stack.config(LAKE), uuid.uuid4().hex[:8]
    columns, lake = ColumnLake(config, name, spark=spark), ActLake(config, name)
    values = [("a b",), ("5%",)]
    columns.make_table("parts", keys=("dt",), values=values, file_format="parquet")
    lake.make_table("whole")
    portal = ActPortal(lake)
    for table in ("parts", "whole"):
        portal.drop(lake.table_name(table))
    yield lake
    for one in (lake, columns):
        one.metastore.close()


def seen(lake: ActLake) -> list[object]:
    """Return all that lies below the backup root, byte by byte, and scratch databases."""
    files = [
        (one, lake.fs.read(one.path))
        if not one.is_dir
        # A restore test comes and goes below the root: that is all that changes.
        else replace(one, mtime_ms=0)
        for one in lake.fs.walk(lake.root)
    ]
    return [*files, *(db for db in lake.metastore.databases() if read_scratch(db))]


@pytest.mark.rows("N10")
def test_a_drill_on_hdfs_proves_and_leaves_nothing(lake: ActLake, spark: SparkSession) -> None:
    admin = person_create("ada", password="correct horse", email="a@example.org", roles=["admin"])
    before = seen(lake)
    restore_test = restore_test_request(LAKE, user=admin, now=timezone.now())
    run = run_here(Run.objects.get(pk=restore_test.run_id), spark)
    assert run.state == "DONE", run.error
    restore_test.refresh_from_db()
    said = {item.name: item.reported for item in restore_test.items.all()}
    assert (restore_test.state, restore_test.n_verified, restore_test.n_differing) == (
        RestoreTestState.PROVEN,
        3,
        0,
    ), said
    assert restore_test.is_clean
    assert sum(one.n_rows or 0 for one in restore_test.items.filter(table="parts")) == 3 + 4
    assert seen(lake) == before
