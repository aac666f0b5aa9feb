"""A file system that refuses by permission: while scanning, dropping and restoring, on real HDFS.

The portal acts as `bob` here (the stack's `lakewarden` is a superuser, whom nothing is refused);
the superuser of the tests takes rights away and gives them back. Nothing is lost, nothing half done
stays, and page, API and run's log say what was refused.
"""

import getpass
import json
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone
from pyspark.sql import SparkSession
from pytest_django import Settings

from lifecycle.backup.models import BackupBatch
from lifecycle.inventory.services.scan import scan_request
from lifecycle.models import PlanState
from lifecycle.planning.jobs.acting import spread_lister
from lifecycle.restore.selectors.backups import BackupChoice
from lifecycle.restore.services.backups import (
    RestoreParams,
    restore_preview_request,
    restore_request,
)
from portal.access.models import User
from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.connectors.lake_config import load_lakes
from portal.lake.errors import ExternalFailure
from portal.lake.paths import LakePath
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from portal.safety.models import EmergencyStop
from portal.spark.job import JobContext
from portal.spark.spool import Spool
from stack.stack import Stack
from tests.support.plan_story import LAKE, Story, use_stack
from tests.support.run_here import run_here
from tests.support.scan_lake import NOW

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
USER = "bob"
REFUSED = f"Permission denied: user={USER}"


@pytest.fixture
def story(full_stack: Stack, tmp_path: Path, settings: Settings) -> Iterator[Story]:
    """The plan story's lake on HDFS, of a portal without a superuser's rights."""
    lakes = lakes_of(full_stack, tmp_path)
    use_stack(settings, full_stack, var=tmp_path, lakes=lakes)
    config = load_lakes(lakes)[LAKE]
    made = Story(config, f"{config.path(config.spool).parent}/story")
    yield made
    made.lake.metastore.close()


def lakes_of(stack: Stack, folder: Path, **changes: Any) -> Path:
    """Write a lakes.json in which the portal is bob, with a backup root and a spool of his own."""
    own = LakePath.parse(f"{stack.lake_root}/user/{USER}/{uuid.uuid4().hex[:8]}")
    superuser = HdfsFileSystem(own.authority, user=getpass.getuser())
    superuser.make_directories(own, mode=0o755)
    superuser.set_owner(own, USER, "analysts")
    lakes = json.loads(stack.lakes_file.read_text())
    lakes[LAKE] |= {
        "hadoop_user": USER,
        "spool": f"{own}/spool",
        "backup_roots": [f"{own}/backup"],
    }
    lakes[LAKE]["metastore_db"] |= changes
    target = folder / f"lakes-{own.name}.json"
    target.write_text(json.dumps(lakes))
    return target


@pytest.fixture
def as_bob(spark: SparkSession) -> Iterator[SparkSession]:
    """The tests' Spark session, its file systems asked as the portal's user."""
    gateway: Any = spark.sparkContext._jvm
    users = gateway.org.apache.hadoop.security.UserGroupInformation
    before = users.getLoginUser()
    users.setLoginUser(users.createRemoteUser(USER))
    yield spark
    users.setLoginUser(before)


@contextmanager
def taken_away(path: LakePath, mode: int) -> Iterator[None]:
    """Let a directory be another's with a mode that shuts the portal out, for a while."""
    superuser = HdfsFileSystem(path.authority, user=getpass.getuser())
    before = superuser.status(path)
    assert before is not None
    superuser.set_owner(path, "carol", "analysts")
    superuser.set_mode(path, mode)
    try:
        yield
    finally:
        superuser.set_owner(path, before.owner, before.group)
        superuser.set_mode(path, before.mode)


class Reader:
    """One person before the pages and the API."""

    def __init__(self, user: User) -> None:
        self.client = Client()
        self.client.force_login(user)

    def page(self, address: str) -> str:
        answer = self.client.get(address)
        text = answer.content.decode()
        assert answer.status_code == 200, (address, answer.status_code)
        assert "Traceback" not in text
        return text

    def api(self, address: str) -> Any:
        return self.client.get(f"/api/v1/{address}").json()

    def reads_of_run(self, run: Run, words: str) -> None:
        """The words stand on the run's page, in the API and in the run's log."""
        assert words in self.page(f"/runs/{run.pk}/")
        shown = self.api(f"runs/{run.pk}/")
        assert words in json.dumps(shown["error"] or {}) + json.dumps(shown["lines"])
        assert any(words in line["text"] for line in shown["lines"])


def restored(story: Story, batch: BackupBatch, spark: SparkSession) -> Run:
    """Preview and restore a batch, as its owner asks."""
    alice = story.people["alice"]
    choice = BackupChoice(day=batch.day, db=story.db, table="visits")
    wish = RestoreParams(choice, "needed")
    preview = run_drive(restore_preview_request(LAKE, wish, user=alice, now=timezone.now()).pk)
    assert preview.state == "DONE", preview.error
    return run_here(restore_request(preview, user=alice, now=timezone.now()), spark)


def test_what_is_refused_is_said_and_nothing_is_lost(story: Story, as_bob: SparkSession) -> None:
    spark, ada = as_bob, Reader(story.people["ada"])
    before = {name: story.files(name) for name in story.places}
    secret = story.config.path(story.places["dt=older"])
    table = secret.parent
    with taken_away(secret, 0o700):
        story.scanned(spark, NOW - timedelta(days=8))
        scan = story.scanned(spark, NOW)
        plan = story.plan(NOW)
    where = f"{story.name.db}/{story.name.table}/why/?partition={quote('dt=older')}"
    assert REFUSED in ada.page(f"/lifecycle/tables/{where}")
    item = ada.api(f"lifecycle/tables/{where}")["item"]
    assert item["cls"] == "UNKNOWN"
    assert REFUSED in item["reason"]
    ada.reads_of_run(scan, "1 directories could not be read")
    ada.reads_of_run(scan, REFUSED)
    assert (plan.n_items, plan.left_out) == (2, {"UNKNOWN": 1, "NOT_DUE": 1})

    with taken_away(table, 0o555):
        run = story.executed(plan, spark)
    # Each refused item is left alone for itself; the run has done what it could.
    assert run.state == "DONE", run.error
    ada.reads_of_run(run, REFUSED)
    plan.refresh_from_db()
    assert plan.state == PlanState.DONE
    assert REFUSED in ada.page(f"/lifecycle/plans/{plan.pk}/")
    assert story.partitions() == sorted(story.places)
    assert {name: story.files(name) for name in story.places} == before
    assert not EmergencyStop.objects.exists()

    again = story.plan(NOW)
    assert again.n_items == 2, "what a run left alone may be planned at once"
    done = story.executed(again, spark)
    assert done.state == "DONE", done.error
    batch = BackupBatch.objects.get(plan_id=str(again.pk))
    assert (batch.n_items, story.partitions()) == (2, ["dt=older", "dt=young"])

    with taken_away(table, 0o555):
        refused = restored(story, batch, spark)
    # As in a drop: each refused item is left for itself, with its reason.
    assert (refused.state, (refused.result or {}).get("counts")) == ("DONE", {"SKIPPED": 2})
    ada.reads_of_run(refused, REFUSED)
    assert REFUSED in ada.page(f"/lifecycle/backups/restore/{refused.subject_id}/")
    batch.refresh_from_db()
    assert (batch.state, batch.n_restored) == ("DROPPED", 0)
    assert not EmergencyStop.objects.exists()

    back = restored(story, batch, spark)
    assert back.state == "DONE", back.error
    assert story.partitions() == sorted(story.places)
    assert {name: story.files(name) for name in story.places} == before


def test_a_refusal_in_an_executor_comes_back_as_it_is(
    story: Story, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    monkeypatch.setattr("lifecycle.planning.jobs.acting._SPREAD_FROM", 1)
    secret = story.config.path(story.places["dt=older"])
    job = JobContext("run", 1, story.config, {}, NOW, Spool.for_run(story.config, "run", 1), spark)
    list_many = spread_lister(job, story.lake.fs)
    many = [story.config.path(place) for place in story.places.values()] * 3
    assert len(list_many(many)) == len(story.places)
    with taken_away(secret, 0o700), pytest.raises(ExternalFailure, match=REFUSED) as caught:
        list_many(many)
    assert (caught.value.code, caught.value.retryable) == ("fs.refused", False)


def test_a_metastore_database_that_is_too_slow_is_said_so(
    story: Story, full_stack: Stack, spark: SparkSession, settings: Settings, tmp_path: Path
) -> None:
    settings.LAKEWARDEN_LAKES = lakes_of(full_stack, tmp_path, timeout_seconds=1)
    assert full_stack.mariadb is not None
    with full_stack.mariadb.connect() as link, link.cursor() as cursor:
        cursor.execute("LOCK TABLES TBLS WRITE")
        run = run_here(scan_request(LAKE, user=story.people["ada"], now=NOW), spark)
    assert (run.state, (run.error or {}).get("code")) == ("FAILED", "metastore_db.failed")
    ada = Reader(story.people["ada"])
    ada.reads_of_run(run, "failed or did not answer in time")
