"""What changed between the second approval and the drop is judged again by the metastore of now.

Real metastore, its own database read by JDBC, real files and Spark; only the days are played.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pymetastore.hive_metastore import ttypes
from pyspark.sql import SparkSession
from pytest_django import Settings

from lifecycle.models import DropPlanResult
from portal.access.lakes import get_lake
from portal.lake.names import TableName
from stack.stack import Stack
from tests.support.plan_story import LAKE, Story, use_stack
from tests.support.scan_lake import NOW, ScanLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
POLICY = {"LEVEL": "1", "TTL": "60"}


@dataclass
class World:
    """The story's lake with more old tables, each of which something happens to."""

    story: Story

    @property
    def lake(self) -> ScanLake:
        return self.story.lake

    def place(self, name: str) -> str:
        return str(self.story.root.child("user", "alice", self.story.db, name))

    def add(self, *names: str) -> None:
        """Make unpartitioned tables that are a hundred days old."""
        for name in names:
            self.lake.table(
                "story", name, owner="alice", location=self.place(name), keys=(), parameters=POLICY
            )
            self.lake.data(self.place(name), age=100)

    def at(self, name: str, location: str, **changes: Any) -> None:
        """Register somebody else's table at a location."""
        table = ttypes.Table(
            dbName=self.lake.db_name("other"),
            tableName=name,
            owner="bob",
            sd=self.lake._storage(location),
            partitionKeys=[],
            parameters={"EXTERNAL": "TRUE"},
            tableType="EXTERNAL_TABLE",
        )
        for field, value in changes.items():
            setattr(table, field, value)
        self.lake.metastore.create_table(table)

    def alter(self, name: str, **changes: Any) -> None:
        key = TableName(self.story.config.lake, self.story.db, name)
        table = self.lake.metastore.table(key)
        for field, value in changes.items():
            setattr(table, field, value)
        self.lake.metastore.alter_table_keeping_times(key, table)

    def foreign(self, location: str) -> None:
        """Register a table of another catalog at a location."""
        client: Any = self.lake.metastore._client
        catalog, root = f"spark_{self.lake.suffix}", self.story.root.child("catalog")
        client.create_catalog(
            ttypes.CreateCatalogRequest(ttypes.Catalog(name=catalog, locationUri=str(root)))
        )
        client.create_database(
            ttypes.Database(name="far", locationUri=str(root.child("far")), catalogName=catalog)
        )
        client.create_table(
            ttypes.Table(
                dbName="far",
                tableName="t",
                catName=catalog,
                sd=self.lake._storage(location),
                partitionKeys=[],
                parameters={"EXTERNAL": "TRUE"},
                tableType="EXTERNAL_TABLE",
            )
        )

    def reasons(self, plan: Any) -> dict[str, str]:
        """Give why each item was left, by its table or partition."""
        rows = DropPlanResult.objects.filter(plan=plan).exclude(outcome="DROPPED")
        return {row.partition or row.table: row.reason for row in rows}


@pytest.fixture
def world(embedded_stack: Stack, tmp_path: Path, settings: Settings) -> Iterator[World]:
    use_stack(settings, embedded_stack, var=tmp_path)
    world = World(Story(get_lake(LAKE), f"{embedded_stack.lake_root}/story"))
    world.lake.database("other", owner="bob")
    yield world
    world.lake.metastore.close()


def test_what_is_shared_strange_or_anothers_by_now_is_left_with_its_reason(
    world: World, spark: SparkSession
) -> None:
    names = ("goes", "foreign", "dotted", "spelled", "holder", "sold")
    world.add(*names)
    story = world.story
    story.scanned(spark, NOW - timedelta(days=8))
    story.scanned(spark, NOW)
    plan = story.plan(NOW, *names)
    assert plan.n_items == 9, plan.left_out
    story.approve(plan, NOW)
    # A table on a partition's directory, and a partition added elsewhere.
    world.at("thief", story.places["dt=old"])
    parts = world.lake.table("other", "parts", owner="bob", location=world.place("nowhere"))
    world.lake.partition(parts, "x", location=f"{story.places['dt=older']}/deep")
    world.foreign(world.place("foreign"))
    world.at("dots", f"{world.place('x')}/../dotted")
    world.at("alias", f"hdfs://nn1:8020{story.config.path(world.place('spelled')).path}")
    world.at("inside", f"{world.place('holder')}/below")
    world.alter("sold", owner="carl")
    run = story.executed_now(plan, spark)
    assert run.state == "DONE", run.error
    said = world.reasons(plan)
    other = world.lake.db_name("other")
    for item, words in {
        "dt=old": f"{other}.thief has its data there",
        "dt=older": f"{other}.parts/dt=x has its data there",
        "foreign": ".far.t has its data there",
        "dotted": f"{other}.dots has its data there",
        "spelled": f"{other}.alias has its data there",
        "holder": f"HAS_OTHER_DB_TBL: {other}.inside",
        "sold": "its owner was alice, now carl",
    }.items():
        assert words in said[item], (item, said)
    assert sorted(said) == sorted(
        ["dt=old", "dt=older", "foreign", "dotted", "spelled", "holder", "sold"]
    )
    assert story.partitions() == ["dt=old", "dt=older", "dt=young"]
    assert story.files("dt=old"), "the directory is where the other table reads it"


def test_a_database_that_has_another_owner_and_place_by_now_loses_nothing(
    world: World, spark: SparkSession
) -> None:
    story = world.story
    story.scanned(spark, NOW - timedelta(days=8))
    story.scanned(spark, NOW)
    plan = story.plan(NOW)
    story.approve(plan, NOW)
    database = world.lake.metastore.database(story.db)
    database.ownerName = "carl"
    world.lake.metastore.alter_database(story.db, database)
    run = story.executed_now(plan, spark)
    assert run.state == "DONE", run.error
    said = world.reasons(plan)
    assert len(said) == 3
    assert all("does not conform any more (DB_PATH_FAIL" in reason for reason in said.values()), (
        said
    )
    assert len(story.partitions()) == 4
