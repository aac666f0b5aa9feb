"""Tests a plan of all that is old at once: only what the rules permit is dropped.

Real metastore, real files, real Spark and SMTP; only the days are played.
"""

from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pyspark.sql import SparkSession
from pytest_django import Settings

from lifecycle.policies.services.holding import HoldParams, legal_hold_place
from portal.access.lakes import get_lake
from portal.lake.names import TableName
from stack.stack import Stack
from tests.support.plan_story import LAKE, Story, use_stack
from tests.support.scan_lake import NOW

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
POLICY = {"LEVEL": "1", "TTL": "60"}


class Tables:
    """The story's lake, and beside the visits tables that are as old."""

    def __init__(self, story: Story) -> None:
        self.story, self.lake = story, story.lake
        home = story.root.child("user", "alice", story.db)
        self.add("whole", POLICY, place=f"{home}/whole")
        self.add("stray", POLICY, place=f"{story.root}/user/bob/stray")
        self.add("forever", POLICY | {"LEVEL": "0"}, place=f"{home}/forever")
        self.add("bare", {}, place=f"{home}/bare")
        self.add("evidence", POLICY, place=f"{home}/evidence")
        self.names = ("whole", "stray", "forever", "bare", "evidence")

    def add(self, name: str, parameters: dict[str, str], *, place: str) -> None:
        """Make an unpartitioned table whose clocks both stand at a hundred days ago."""
        self.lake.table(
            "story", name, owner="alice", location=place, keys=(), parameters=parameters
        )
        self.lake.data(place, age=100)

    def registered(self) -> list[str]:
        names = [
            TableName(self.story.config.lake, self.story.db, name)
            for name in ("visits", *self.names)
        ]
        return sorted(one.table for one in names if self.lake.metastore.table_or_none(one))


@pytest.fixture
def tables(embedded_stack: Stack, tmp_path: Path, settings: Settings) -> Iterator[Tables]:
    use_stack(settings, embedded_stack, var=tmp_path)
    story = Story(get_lake(LAKE), f"{embedded_stack.lake_root}/story")
    yield Tables(story)
    story.lake.metastore.close()


@pytest.mark.rows("L1", "L2", "L3", "L10", "N2", "N8")
def test_a_table_goes_whole_a_partition_alone_and_the_rest_stays(
    tables: Tables, spark: SparkSession
) -> None:
    story = tables.story
    story.scanned(spark, NOW - timedelta(days=8))
    story.scanned(spark, NOW)
    wish = HoldParams(LAKE, story.db, "evidence", partition="", until=None, reason="A lawsuit")
    legal_hold_place(wish, user=story.people["ada"], now=timezone.now())
    the_page_says_why(tables)
    plan = story.plan(NOW, *tables.names)
    assert (plan.n_items, plan.left_out) == (
        4,
        {"NOT_DUE": 1, "NONCONFORMING": 1, "KEEP_FOREVER": 1, "NOT_ENROLLED": 1, "HELD": 1},
    )
    run = story.executed(plan, spark)
    assert run.state == "DONE", run.error
    assert tables.registered() == ["bare", "evidence", "forever", "stray", "visits"]
    assert story.partitions() == ["dt=young"]


def the_page_says_why(tables: Tables) -> None:
    """Both clocks, the one that counts, and where the TTL comes from."""
    db = tables.story.db
    client = Client()
    client.force_login(tables.story.people["alice"])
    page = client.get(f"/lifecycle/tables/{db}/whole/why/").content.decode()
    for words in ("Metadata changed", "Newest file", "(used)", "the table's own parameters"):
        assert words in unescape(page)
    answer = client.get(f"/api/v1/lifecycle/tables/{db}/whole/why/").json()["item"]
    assert (answer["cls"], answer["ttl"]) == ("CLEAN_NOW", 60)
