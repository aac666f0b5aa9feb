"""Directories that HDFS never lets go, encryption zones and snapshots, are seen before and said."""

import dataclasses
import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pyspark.sql import SparkSession
from pytest_django import Settings

from lifecycle.backup.engine.files.backup_root import preflight
from lifecycle.models import PlanState
from lifecycle.planning.jobs.hdfs_barriers import barrier_check
from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError
from portal.lake.paths import LakePath
from portal.spark.job import JobContext
from portal.spark.spool import Spool
from stack.ledger import Ledger
from stack.servers.hdfs import Hdfs
from stack.stack import Stack
from tests.support.plan_story import LAKE, Story, use_stack
from tests.support.scan_lake import NOW, days_ago

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]


class NameNode:
    """A NameNode's superuser, by Hadoop's own client in the tests' session."""

    def __init__(self, spark: SparkSession, uri: str) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self.system: Any = self._path(uri).getFileSystem(
            spark.sparkContext._jsc.hadoopConfiguration()
        )

    def path(self, place: LakePath) -> Any:
        return self._path(str(place))

    @contextmanager
    def snapshot(self, place: LakePath) -> Iterator[None]:
        self.system.allowSnapshot(self.path(place))
        self.system.createSnapshot(self.path(place), "kept")
        yield
        self.system.deleteSnapshot(self.path(place), "kept")
        self.system.disallowSnapshot(self.path(place))


@pytest.fixture
def story(full_stack: Stack, tmp_path: Path, settings: Settings) -> Iterator[Story]:
    use_stack(settings, full_stack, var=tmp_path)
    made = Story(full_stack.config(LAKE), f"{full_stack.lake_root}/story")
    yield made
    made.lake.metastore.close()


@pytest.fixture
def encrypting(tmp_path: Path) -> Iterator[Hdfs]:
    """A name node of its own: one that encrypts asks every client for its keys."""
    hdfs = Hdfs(tmp_path, ledger=Ledger(tmp_path / "stack.json"), encrypts=True)
    hdfs.start()
    hdfs.wait_ready()
    yield hdfs
    hdfs.stop()


@pytest.mark.rows("L6")
def test_a_directory_with_snapshots_is_left_where_it_is(story: Story, spark: SparkSession) -> None:
    place = story.config.path(story.places["dt=old"])
    before = story.files("dt=old")
    with NameNode(spark, story.config.default_fs).snapshot(place):
        # To take a snapshot counts as a change of the directory.
        story.lake.set_times(place, changed=days_ago(100), read=days_ago(100))
        story.scanned(spark, NOW - timedelta(days=8))
        story.scanned(spark, NOW)
        plan = story.plan(NOW)
        run = story.executed(plan, spark)
        assert run.state == "DONE", run.error
    plan.refresh_from_db()
    assert plan.state == PlanState.DONE
    assert plan.outcome["counts"] == {"DROPPED": 2, "SKIPPED": 1}
    skipped = plan.results.get()
    assert (skipped.partition, story.files("dt=old")) == ("dt=old", before)
    assert "snapshottable" in skipped.reason
    assert story.partitions() == ["dt=old", "dt=young"]
    client = Client()
    client.force_login(story.people["ada"])
    assert "its directory is snapshottable" in client.get(f"/runs/{run.pk}/").content.decode()


def test_an_encryption_zone_is_named_with_what_to_do(
    encrypting: Hdfs, full_stack: Stack, spark: SparkSession
) -> None:
    config: LakeConfig = dataclasses.replace(full_stack.config(LAKE), default_fs=encrypting.uri)
    root, zone = config.path("/backup"), config.path("/zone")
    fs = HdfsFileSystem(root.authority, user=getpass.getuser())
    inside = zone.child("sales", "dt=a b %41")
    for path in (root, zone):
        fs.make_directories(path, mode=0o755)
    node = NameNode(spark, encrypting.uri)
    node.system.createEncryptionZone(node.path(zone), "lake")
    fs.make_directories(inside, mode=0o755)
    spool = Spool.for_run(full_stack.config(LAKE), "run", 1)
    job = JobContext("run", 1, config, {}, NOW, spool, spark)

    barrier = barrier_check(job, root)
    for path in (zone, inside):
        assert (barrier(path) or "").startswith("it is in the encryption zone /zone, ")
    assert barrier(root.child("not there")) is None
    assert list(preflight(fs, root, [inside.parent], tag="t")) == [inside.parent]
    with pytest.raises(PortalError, match="encryption zone"):
        fs.rename(inside, root.child("moved"))

    own = zone.child("backup")
    fs.make_directories(own, mode=0o755)
    assert barrier_check(job, own)(inside) is None
    assert preflight(fs, own, [inside.parent], tag="t") == {}
    assert (barrier_check(job, own)(root) or "").startswith("it is in no encryption zone, ")
