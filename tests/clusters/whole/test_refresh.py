"""What a program writes into the secured lake reaches front ends that log in by Kerberos, too."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django import Settings

from refresh.models import Refresh, RefreshOutcome
from refresh.worker.services.worker import Worker
from stack.cluster_stack import ClusterStack
from tests.clusters.whole.written import write_tables
from tests.support.refreshed import follow, govern, pictures, work

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A worker of this process."""
    one = Worker(holder="test", clock=timezone.now)
    yield one
    one.stop()


def test_a_new_partition_is_refreshed_on_every_front_end(
    portal: ClusterStack, worker: Worker, settings: Settings, tmp_path: Path
) -> None:
    db = f"refresh_{uuid4().hex[:8]}"
    row = govern(portal, settings)
    follow()
    insert = f"INSERT OVERWRITE TABLE {db}.sales PARTITION (dt = '2026-11-0%d') SELECT id FROM "
    write_tables(
        portal,
        tmp_path,
        f"CREATE DATABASE {db} LOCATION '{portal.lake_root}/user/{db}'",
        f"CREATE TABLE {db}.sales (id BIGINT) PARTITIONED BY (dt STRING) STORED AS PARQUET",
        insert % 1 + "range(10)",
    )
    follow()
    work(worker)
    before = pictures(row, portal.starrocks, f"{db}.sales")
    assert [one.n_partitions for one in before] == [1, 1, 1]

    write_tables(portal, tmp_path, insert % 2 + "range(1000)")
    follow()
    assert {one.n_partitions for one in pictures(row, portal.starrocks, f"{db}.sales")} == {1}
    work(worker)

    after = pictures(row, portal.starrocks, f"{db}.sales")
    assert after == [after[0]] * 3
    assert after[0].n_partitions == 2
    assert (after[0].cardinality or 0) > (before[0].cardinality or 0)
    assert set(Refresh.objects.values_list("ending", flat=True)) == {RefreshOutcome.DONE}
