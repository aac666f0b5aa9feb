"""The portal's side of a cluster of the stack: its rows, its follower, and a worker to turn."""

import time
from contextlib import suppress
from typing import Any

import pymysql
from django.utils import timezone

from portal.events.services import follow_once
from refresh.clusters.services.front_ends import front_ends_read, login_of
from refresh.clusters.services.table_names import names_read
from refresh.core.connectors.front_end import FrontEndClient
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.models import Cluster, RefreshTarget
from refresh.verify.domain.probing import Costs
from refresh.worker.services.worker import Worker
from stack.clusters import CATALOG
from stack.servers.starrocks import StarRocks
from stack.stack import LAKE, Stack


def govern(stack: Stack, settings: Any) -> Cluster:
    """Let the portal know the stack's lake and its cluster of 3.x."""
    row = _govern(stack, settings, name="bi", server=stack.starrocks)
    assert row.catalogs.get().lake == LAKE, row.problem
    return row


def govern_old(stack: Stack, settings: Any) -> Cluster:
    """Let the portal know the stack's lake and its cluster of 2.2."""
    return _govern(stack, settings, name="reports", server=stack.old_starrocks)


def _govern(stack: Stack, settings: Any, *, name: str, server: StarRocks) -> Cluster:
    settings.LAKEWARDEN_LAKES = str(stack.lakes_file)
    settings.LAKEWARDEN_REFRESH_SECONDS = (10, 20, 30)
    settings.LAKEWARDEN_REFRESH_BEYOND = 5.0
    row = Cluster.objects.create(
        name=name,
        addresses=[f"{host}:{port}" for host, port in server.addresses],
        user="lakewarden",
        password_file=str(stack.clusters.password_file),
        added_by="olga",
        added_at=timezone.now(),
    )
    front_ends_read(row, now=timezone.now())
    names_read(row, now=timezone.now())
    return row


def follow() -> None:
    """Take in all that the metastore tells."""
    while follow_once(LAKE, timezone.now).n_behind:
        pass


def work(worker: Worker, *, seconds: float = 60.0) -> None:
    """Let a worker turn until nothing waits any more, retries included."""
    deadline = time.monotonic() + seconds
    while RefreshTarget.objects.exclude(due_at=None).exists():
        assert time.monotonic() < deadline, list(RefreshTarget.objects.values())
        RefreshTarget.objects.exclude(due_at=None).update(due_at=timezone.now(), not_before=None)
        worker.turn()
        assert worker.wait_idle(seconds)


def pictures(row: Cluster, server: StarRocks, name: str) -> list[Costs]:
    """What each front end believes of a table of the catalog once a query has loaded it."""
    db, table = name.split(".")
    external = ExternalTable(ClusterId("bi"), CATALOG, db, table)
    found = []
    login = login_of(row)
    for host, port in server.addresses:
        asked = pymysql.connect(
            host=host, port=port, user=login.user, password=login.password, ssl_disabled=True
        )
        with asked, asked.cursor() as cursor, suppress(pymysql.MySQLError):
            cursor.execute(" ".join(("SELECT * FROM", external.sql)))
        client = FrontEndClient.connect(host, port, login=login, dialect=Dialect.CATALOGS)
        assert isinstance(client, FrontEndClient), client
        with client:
            found.append(client.plan(external))
    return found
