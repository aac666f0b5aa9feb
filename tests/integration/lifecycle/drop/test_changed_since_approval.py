"""What changed between the second approval and the drop is judged again by the metastore of now.

Real metastore, its own database read by JDBC, real files and Spark; only the days are played.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pymetastore.hive_metastore import ttypes
from pyspark.sql import SparkSession
from pytest_django import Settings

from lifecycle.models import DeletionConsent, DropPlanResult, TableFinding
from portal.access.lakes import get_lake
from portal.lake.names import TableName
from portal.lake.paths import LakePath
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

    def at(self, name: str, location: str, *, path: str = "", schema: str = "") -> None:
        """Register somebody else's table at a location; `path` is what Spark reads instead."""
        storage = self.lake._storage(location)
        storage.serdeInfo.parameters = {"path": path} if path else {}
        table = ttypes.Table(
            dbName=self.lake.db_name("other"),
            tableName=name,
            owner="bob",
            sd=storage,
            partitionKeys=[],
            parameters={"EXTERNAL": "TRUE"} | ({"avro.schema.url": schema} if schema else {}),
            tableType="EXTERNAL_TABLE",
        )
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
        """Return why each item was left, by its table or partition."""
        rows = DropPlanResult.objects.filter(plan=plan).exclude(outcome="DROPPED")
        return {row.partition or row.table: row.reason for row in rows}


@pytest.fixture
def world(embedded_stack: Stack, tmp_path: Path, settings: Settings) -> Iterator[World]:
    use_stack(settings, embedded_stack, var=tmp_path)
    world = World(Story(get_lake(LAKE), f"{embedded_stack.lake_root}/story"))
    world.lake.database("other", owner="bob")
    yield world
    world.lake.metastore.close()


def read_now(path: LakePath) -> None:
    """Move a file's access time on, as a reader does."""
    os.utime(path.path, (time.time(), Path(path.path).stat().st_mtime))


def test_what_is_shared_strange_or_anothers_by_now_is_left_with_its_reason(
    world: World, spark: SparkSession
) -> None:
    names = ("goes", "foreign", "spelled", "holder", "sold", "read", "agreed", "schema")
    world.add(*names)
    story = world.story
    story.scanned(spark, NOW - timedelta(days=8))
    story.scanned(spark, NOW)
    plan = story.plan(NOW, *names)
    assert plan.n_items == 11, plan.left_out
    story.approve(plan, NOW)
    world.at("thief", world.place("holder"))
    # Partitions added elsewhere, one of them by a path that cannot be read.
    parts = world.lake.table("other", "parts", owner="bob", location=world.place("nowhere"))
    world.lake.partition(parts, "x", location=f"{story.places['dt=old']}/deep")
    world.lake.partition(parts, "y", location=f"{world.place('x')}/../visits/dt=older")
    world.foreign(world.place("foreign"))
    spelled = story.config.path(world.place("spelled")).path
    world.at("alias", world.place("placeholder"), path=f"hdfs://nn1:8020{spelled}")
    world.at("avro", world.place("elsewhere"), schema=f"{world.place('schema')}/row.avsc")
    world.alter("sold", owner="carl")
    for name in ("read", "agreed"):
        read_now(story.config.path(world.place(name)).child("part-0"))
    agreed = TableFinding.objects.current(LAKE).get(db=story.db, table="agreed")
    DeletionConsent.objects.create(
        lake=LAKE,
        db=story.db,
        table="agreed",
        tbl_id=agreed.tbl_id,
        given_by="alice",
        reason="Copied elsewhere.",
        given_at=timezone.now(),
        until=timezone.now().date() + timedelta(days=9),
    )
    run = story.executed_now(plan, spark)
    assert run.state == "DONE", run.error
    said = world.reasons(plan)
    other = world.lake.db_name("other")
    expected = {
        "dt=old": f"{other}.parts/dt=x has its data there",
        "dt=older": f"{other}.parts/dt=y has its data there",
        "foreign": ".far.t has its data there",
        "spelled": f"{other}.alias has its data there",
        "schema": f"{other}.avro has its data there, too, at {world.place('schema')}/row.avsc",
        "holder": f"HAS_OTHER_DB_TBL: {other}.thief",
        "read": "it was read after the scan",
        "sold": "its owner was alice, now carl",
    }
    for item, words in expected.items():
        assert words in said.get(item, ""), (item, said)
    assert said.keys() == expected.keys()
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
    for words in ("(DB_PATH_FAIL", "its database's owner was alice, now carl"):
        assert all(words in reason for reason in said.values()), said
    assert len(story.partitions()) == 4
