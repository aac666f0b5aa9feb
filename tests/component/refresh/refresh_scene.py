"""A whole scene for the worker: a small lake, its metastore, simulated front ends, and the portal.

All of it is real but the lake's size: the metastore speaks Thrift, the front ends their own wire.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.utils import timezone

from portal.lake.ids import LakeId
from portal.lake.names import TableName
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import Change, note_change
from refresh.clusters.services.front_ends import front_ends_read
from refresh.clusters.services.table_names import names_read
from refresh.models import Cluster, RefreshTarget
from refresh.worker.services.worker import Worker, wake
from stack.starrocks.running import RunningCluster
from stack.starrocks.spec import NEW
from tests.component.stack.starrocks.starrocks_cluster import Client, running
from tests.support.lakes import local_lake
from tests.support.small_hive import SmallHive
from tests.support.thrift_lake import ThriftLake, served

SALES = TableName(LakeId("main"), "shop", "sales")
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Scene:
    """What a test changes and looks at."""

    hive: SmallHive
    lake: ThriftLake
    cluster: RunningCluster
    row: Cluster
    worker: Worker
    version: str

    def tell(
        self, *names: str, table: str = "sales", touch: PartitionChange = PartitionChange.UPDATED
    ) -> None:
        """Tell the portal that something was written, as an event does."""
        hive = replace(SALES, table=table)
        touched = dict.fromkeys(names, touch)
        change = Change(hive, Cause.EVENT, whole=not names, partitions=touched)
        assert note_change(change, now=timezone.now())
        RefreshTarget.objects.exclude(due_at=None).update(due_at=timezone.now())

    def work(self, *, seconds: float = 20.0) -> None:
        """Let the worker turn until nothing waits that could go on now."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.worker.turn()
            assert self.worker.wait_idle(seconds)
            if not self.is_busy():
                return
        raise AssertionError(f"it still works: {list(RefreshTarget.objects.values())}")

    def is_busy(self) -> bool:
        rows = RefreshTarget.objects.exclude(due_at=None).exclude(not_before__gt=timezone.now())
        return rows.exists()

    def retry_now(self) -> None:
        """Let what waits for a retry go on at once."""
        RefreshTarget.objects.update(not_before=None)

    def look(self) -> None:
        """Read the list of front ends now, and wake what waited for one of them."""
        front_ends_read(self.row, now=timezone.now())
        wake(self.row, now=timezone.now())

    def costs(self, table: str = "hive.shop.sales") -> list[str]:
        """What each front end believes of a table; a query loads what was not cached."""
        clients = [Client(self.cluster, number) for number in (1, 2, 3)]
        for client in clients:
            client.query(table)
        return [client.costs(table) for client in clients]

    @property
    def target(self) -> RefreshTarget:
        return RefreshTarget.objects.get()


@contextmanager
def scene(root: Path, settings: Any, *, version: str = NEW) -> Iterator[Scene]:
    """Set the scene; the names are read, nothing changed yet."""
    hive = SmallHive(f"file://{root}/lake")
    lake = ThriftLake(hive, root / "lake" / "shop")
    with served(lake) as port, running(hive, version) as cluster:
        govern(root, settings, port=port)
        password = root / "starrocks.password"
        password.touch(mode=0o600)
        password.write_text("secret", encoding="utf-8")
        row = Cluster.objects.create(
            name="bi",
            addresses=[f"{host}:{port}" for host, port in cluster.addresses()],
            user="svc",
            password_file=str(password),
            added_by="olga",
            added_at=LONG_AGO,
            # What is in the metastore is found only where a test wants it.
            named_at=timezone.now(),
        )
        front_ends_read(row, now=timezone.now())
        names_read(row, now=timezone.now())
        row.catalogs.update(lake="main")
        row.declared.update(lake="main")
        worker = Worker(holder="one", clock=timezone.now)
        try:
            yield Scene(hive, lake, cluster, row, worker, version)
        finally:
            worker.stop()


def govern(root: Path, settings: Any, *, port: int) -> None:
    """Say where the lake's metastore is."""
    config = replace(local_lake(root, LakeId("main")), thrift_port=port)
    settings.LAKEWARDEN_VAR = root
    settings.LAKEWARDEN_LAKES = root / "lakes.json"
    settings.LAKEWARDEN_LAKES.write_text(json.dumps({"main": config.as_dict()}), encoding="utf-8")
    settings.LAKEWARDEN_REFRESH_SECONDS = (2, 3, 4)
    settings.LAKEWARDEN_REFRESH_BEYOND = 2.0
