"""Kill -9 of follower and worker anywhere: no change is lost, and none is applied twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pymetastore.hive_metastore import ttypes

from portal.connectors.metastore import Metastore
from portal.events.models import EventPosition
from portal.lake.ids import LakeId
from portal.lake.names import PartitionName, TableName
from refresh.models import ChangedPartition, Cluster, Refresh, RefreshOutcome, RefreshTarget
from refresh.worker.services.worker import Worker
from stack.process import end_group
from stack.stack import LAKE, Stack
from tests.support.refreshed import follow, govern, pictures, work
from tests.support.sql import SqlShell

pytestmark = pytest.mark.django_db(transaction=True)
REPO = Path(__file__).resolve().parents[4]
DB = "kill_refresh"
TABLE = TableName(LakeId(LAKE), DB, "t")
N_KILLS = 4


class Program:
    """The follower or the worker, killed and started again."""

    def __init__(self, what: str, stack: Stack) -> None:
        self._argv = [sys.executable, "-m", "tests.faults.refresh_driver", what]
        self._env = {
            **os.environ,
            **stack.ledger.environment(),
            **stack.env,
            "DJANGO_SETTINGS_MODULE": "portal.settings.test",
            "LAKEWARDEN_DB_URL": f"sqlite://{connection.settings_dict['NAME']}",
            "LAKEWARDEN_REFRESH_SECONDS": "10,20,30",
            "LAKEWARDEN_REFRESH_BEYOND": "5",
        }
        self._child = self._start()

    def kill(self) -> None:
        os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait(timeout=10)
        self._child = self._start()

    def end(self) -> None:
        end_group(self._child.pid, grace_seconds=0)
        self._child.wait(timeout=10)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._argv, cwd=REPO, env=self._env, start_new_session=True)


@pytest.fixture
def programs(embedded_stack: Stack, cluster: Cluster) -> Iterator[list[Program]]:
    """The follower and the worker, running."""
    found = [Program(what, embedded_stack) for what in ("follow", "work")]
    yield found
    for one in found:
        one.end()


@pytest.fixture
def cluster(embedded_stack: Stack, embedded_sql: SqlShell, settings: Any) -> Cluster:
    """The cluster `bi` and an empty table with partitions to come."""
    row = govern(embedded_stack, settings)
    embedded_sql.run(
        f"drop database if exists {DB} cascade",
        f"create database {DB}",
        f"create table {DB}.t (id bigint) partitioned by (dt string) stored as parquet",
    )
    follow()
    return row


def test_r6_killed_anywhere_nothing_is_lost_and_every_front_end_equals_the_metastore(
    embedded_stack: Stack, programs: list[Program], cluster: Cluster
) -> None:
    chance = random.Random(20261122)
    with Metastore.connect(embedded_stack.config(LAKE)) as metastore:
        table = metastore.table(TABLE)
        for round_ in range(N_KILLS):
            for n in range(20):
                add(metastore, table, f"{round_}-{n}")
                time.sleep(chance.random() / 10)
            metastore.drop_partitions(TABLE, [f"dt={round_}-0"])
            programs[chance.randrange(2)].kill()
        newest = metastore.current_notification_id()
        wait_for(lambda: EventPosition.objects.get().position >= newest)
    wait_for(lambda: not RefreshTarget.objects.exclude(due_at=None).exists())
    for one in programs:
        one.end()
    # What a killed worker left is cleared by the next leader, here the last time.
    settle()
    seen = pictures(cluster, embedded_stack.starrocks, f"{DB}.t")
    assert [one.n_partitions for one in seen] == [N_KILLS * 19] * 3
    assert not ChangedPartition.objects.exists(), "nothing is owed any more"
    assert not Refresh.objects.filter(ending=RefreshOutcome.RUNNING).exists()


def settle() -> None:
    worker = Worker(holder="last", clock=timezone.now)
    time.sleep(1.1)
    work(worker)
    worker.stop()


def add(metastore: Metastore, table: Any, day: str) -> None:
    storage = copy(table.sd)
    storage.location = f"{table.sd.location}/{PartitionName(('dt',), (day,))}"
    metastore.add_partitions(
        [ttypes.Partition(values=[day], dbName=DB, tableName="t", sd=storage, parameters={})],
        if_not_exists=False,
    )


def wait_for(is_so: Callable[[], bool], *, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, list(RefreshTarget.objects.values())
        time.sleep(0.1)
