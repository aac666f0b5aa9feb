"""Scan, notice, plan, approve, drop and restore, each job an application of the cluster."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django import Settings

from lifecycle.backup.models import BackupBatch
from lifecycle.drop.services.execution import DROP_KIND, plans_start_due
from lifecycle.inventory.services.scan import scan_request_daily
from lifecycle.models import PlanState
from lifecycle.restore.selectors.backups import BackupChoice
from lifecycle.restore.services.backups import (
    RESTORE_KIND,
    RestoreParams,
    restore_preview_request,
    restore_run_of,
)
from portal.lake.clock import day_of
from portal.notices.services import notices_send
from portal.runs.execution.applications import applications_of
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from stack.cluster_stack import ClusterStack
from tests.clusters.whole.driven import driven
from tests.clusters.whole.held import Hold, stop_at
from tests.support.plan_story import LAKE, Story
from tests.support.scan_lake import NOW

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.spark,
    pytest.mark.timeout(900, func_only=True),
]


@pytest.fixture
def story(portal: ClusterStack) -> Iterator[Story]:
    """A partitioned table of alice's, three of whose partitions are over."""
    made = Story(portal.config(), f"{portal.lake_root}/story")
    yield made
    made.lake.metastore.close()


def in_client_mode(portal: ClusterStack, folder: Path) -> Path:
    """Write a lakes.json with drivers on this host."""
    entry = json.loads(portal.lakes_file.read_text("utf-8"))[LAKE]
    entry["spark_conf"]["spark.submit.deployMode"] = "client"
    lakes = folder / "lakes.json"
    lakes.write_text(json.dumps({LAKE: entry}), encoding="utf-8")
    return lakes


def scanned(story: Story, now: datetime, *, hold: Hold | None = None) -> None:
    """Scan, and send the mails that the new picture calls for."""
    scan = driven(scan_request_daily(LAKE, now=now), hold=hold)
    assert scan.result is not None
    assert scan.result["n_partitions"] == len(story.places)
    notices_send(now=now, today=day_of(now, story.config.zone))


def check_node(portal: ClusterStack, runs: Iterable[Run], secrets: Iterable[str]) -> None:
    """Check that the node kept no secret, and the keytab for drivers alone."""
    node = portal.yarn.node
    for secret in secrets:
        assert node.files_with(secret.encode()) == []
    keytab = Path(portal.kerberos().keytab).read_bytes()
    for run in runs:
        (application,) = applications_of(run)
        driver, executor = sorted(
            node.launched_with(application.id, "default_container_executor.sh")
        )
        assert len(node.files_with(keytab, below=driver)) == 1
        assert node.files_with(keytab, below=executor) == []


def test_scan_drop_and_restore_on_the_cluster(
    portal: ClusterStack,
    story: Story,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret = uuid4().hex
    monkeypatch.setenv("LAKEWARDEN_CALLBACK_SECRET", secret)
    for name in (DROP_KIND, RESTORE_KIND):
        stop_at(monkeypatch, get_kind(name), "rename:after")
    settings.LAKEWARDEN_LAKES = in_client_mode(portal, tmp_path)
    scanned(story, NOW - timedelta(days=8))
    settings.LAKEWARDEN_LAKES = portal.lakes_file
    try:
        scanned(story, NOW, hold=Hold("items", meanwhile=lambda: portal.ha.fail_over("dies")))
    finally:
        portal.ha.mend()
    plan = story.plan(NOW)
    assert plan.state == PlanState.PENDING, (plan.ended_reason, plan.left_out)
    assert (plan.n_items, plan.left_out) == (3, {"NOT_DUE": 1})
    story.approve(plan, NOW)
    before = {name: story.files(name) for name in story.places}

    (drop,) = plans_start_due(NOW + timedelta(seconds=1))
    drop = driven(drop, queue="root.governance", hold=Hold(stops_itself=True))
    plan.refresh_from_db()
    assert (plan.state, plan.outcome["counts"]) == (PlanState.DONE, {"DROPPED": 3})
    assert story.partitions() == ["dt=young"]
    assert [story.files(name) for name in sorted(before)] == [[], [], [], before["dt=young"]]
    batches = BackupBatch.objects.filter(plan_id=str(plan.pk))
    assert {(one.table_owner, one.state) for one in batches} == {("alice", "DROPPED")}
    # A drop that was held moves no more in the batch that it had begun.
    assert sorted(one.n_items for one in batches) == [1, 2]

    choice = BackupChoice(day=batches[0].day, db=story.db, table="visits")
    wish = RestoreParams(choice, "needed", straight_on=True)
    alice = story.people["alice"]
    # A worker looks; only what changes something is an application.
    preview = run_drive(restore_preview_request(LAKE, wish, user=alice, now=timezone.now()).pk)
    assert preview.state == "DONE", preview.error
    restore = restore_run_of(preview)
    assert restore is not None
    restore = driven(restore, hold=Hold(stops_itself=True))
    assert story.partitions() == sorted(story.places)
    assert {name: story.files(name) for name in before} == before
    assert sorted(batches.values_list("state", "n_restored")) == [("RESTORED", 1), ("RESTORED", 2)]
    check_node(portal, (drop, restore), [secret, story.config.metastore_db.password()])
