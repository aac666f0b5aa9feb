"""What `demo --lakes 2` shows of its second lake: made and scanned, and refreshed in a cluster."""

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from lifecycle.models import LatestScan
from portal.access.services import person_create
from portal.connectors.metastore import Metastore
from portal.events.services import follow_once
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from refresh.clusters.services.front_ends import login_of
from refresh.core.connectors.front_end import FrontEndClient
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.models import Cluster, Refresh, RefreshOutcome, RefreshTarget
from refresh.worker.services.worker import Worker
from stack.clusters import CATALOG
from stack.demo_clusters import add_clusters
from stack.demo_days import Made
from stack.demo_lakes import fill_second, write_on
from stack.lake import second
from stack.lake.live import DB, KEPT, TABLE
from stack.lake.make import make_databases, user_root
from stack.lake.text_table import text_table_make
from stack.process import LOOPBACK
from stack.programs import Programs
from stack.servers.second_lake import LAKE as SECOND
from stack.stack import LAKE, Stack
from tests.support.refreshed import work

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
PATIENCE = 100.0
N_DATED = {"sales.orders": 40, "trials.measurements": 60, f"{DB}.{TABLE}": KEPT}


@pytest.fixture
def stack(tmp_path: Path, settings: Any) -> Iterator[Stack]:
    """Two metastores and the cluster of 3.x over both, with a portal that governs both lakes."""
    stack = Stack.embedded(tmp_path / "two", has_second=True)
    settings.LAKEWARDEN_LAKES = stack.lakes_file
    settings.LAKEWARDEN_DIRECTORY = stack.directory_file
    settings.LAKEWARDEN_VAR = stack.var
    with stack:
        yield stack


@pytest.fixture
def programs(stack: Stack) -> Iterator[Programs]:
    """The demo's programs, whose portal is that of this process."""
    own = {
        "DJANGO_SETTINGS_MODULE": "portal.settings.test",
        "LAKEWARDEN_DB_URL": f"sqlite://{connection.settings_dict['NAME']}",
    }
    environment = {**os.environ, **stack.ledger.environment(), **stack.env, **own}
    with Programs(environment) as programs:
        yield programs


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A worker of this process."""
    one = Worker(holder="test", clock=timezone.now)
    yield one
    one.stop()


def break_off(stack: Stack) -> None:
    """Leave a part of the second lake, as a demo does that is ended while it makes it."""
    config = stack.config(SECOND)
    with Metastore.connect(config) as metastore:
        make_databases(metastore, second.DATABASES[:1], root=user_root(config))
        half_made = TableName(LakeId(SECOND), "sales", "orders")
        text_table_make(metastore, half_made, columns={"id": "bigint"}, key="dt", owner="erin")


def plans(cluster: Cluster, stack: Stack) -> dict[str, int | None]:
    """How many partitions a front end finds in each table with partitions of the second lake."""
    host, port = stack.starrocks.addresses[0]
    client = FrontEndClient.connect(host, port, login=login_of(cluster), dialect=Dialect.CATALOGS)
    assert isinstance(client, FrontEndClient)
    with client:
        return {
            name: client.plan(ExternalTable(ClusterId("bi"), SECOND, *name.split("."))).n_partitions
            for name in N_DATED
        }


def follow_until_due() -> None:
    """Follow the second lake until a table of it waits for its refresh."""
    until = time.monotonic() + PATIENCE
    while not RefreshTarget.objects.exclude(due_at=None).exists():
        assert time.monotonic() < until
        follow_once(SECOND, timezone.now)
        time.sleep(0.2)


def test_the_second_lake_is_scanned_and_refreshed_without_a_question_to_the_first(
    stack: Stack, programs: Programs, worker: Worker, client: Client
) -> None:
    break_off(stack)
    made = Made(stack.var / "made.json")
    fill_second(programs, made)
    scan = LatestScan.objects.get()
    assert scan.lake == SECOND
    assert scan.generation.totals["n_partitions"] == sum(N_DATED.values())

    assert stack.starrocks.spec.catalogs.keys() == {CATALOG, SECOND}
    add_clusters(stack.clusters, programs, made)
    cluster = Cluster.objects.get()
    assert cluster.problem == ""
    lakes = dict(cluster.catalogs.values_list("name", "lake"))
    assert lakes == {CATALOG: LAKE, SECOND: SECOND}
    assert plans(cluster, stack) == N_DATED

    follow_once(SECOND, timezone.now)
    write_on(stack)
    writers = {one.name for one in stack.ledger.running() if "writer" in one.name}
    assert writers == {f"lake-writer-{SECOND}"}, "the first lake has no such table here"
    stack.metastore.stop()
    with socket.create_server((LOOPBACK, stack.metastore.port)) as nobody:
        follow_until_due()
        work(worker)
        nobody.setblocking(False)
        with pytest.raises(BlockingIOError):
            nobody.accept()

    statements = Refresh.objects.values_list(
        "target__catalog", "target__watched__lake", "target__db", "target__table", "ending"
    )
    assert set(statements) == {(SECOND, SECOND, DB, TABLE, RefreshOutcome.DONE)}
    ada = person_create("ada", password="lake-demo-2026", email="ada@a.example", roles=["admin"])
    client.force_login(ada)
    for page in ("refresh:history", "refresh:tables"):
        shown = {
            lake: f"{DB}.{TABLE}" in client.get(reverse(page), {"lake": lake}).content.decode()
            for lake in (LAKE, SECOND)
        }
        assert shown == {LAKE: False, SECOND: True}, page
