"""Small files of an Iceberg table are packed by an application of the cluster."""

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.core.services.dispatcher import choose
from optimizer.iceberg.inspect.run_kinds import look_ask
from optimizer.iceberg.planner.run_kinds import KIND as ICEBERG_KIND
from optimizer.iceberg.planner.run_kinds import OptimizeKind
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.models import IcebergTable, OptimizeTask
from stack.cluster_stack import ClusterStack
from stack.lake.session import ICEBERG as ICE
from tests.clusters.whole.driven import asked, driven, policy
from tests.clusters.whole.held import Hold
from tests.clusters.whole.written import write_tables
from tests.support.plan_story import LAKE
from tests.support.refreshed import follow

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.spark,
    pytest.mark.timeout(900, func_only=True),
]
N_FILES = 13


def test_small_files_of_an_iceberg_table_are_packed(portal: ClusterStack, tmp_path: Path) -> None:
    db = f"ice_{uuid4().hex[:8]}"
    policy(values={"is_on": True, "kinds": [TaskKind.MINOR]})
    follow()
    write_tables(
        portal,
        tmp_path,
        f"CREATE DATABASE {db} LOCATION '{portal.lake_root}/user/{db}'",
        f"CREATE TABLE {ICE}.{db}.small USING iceberg AS "
        f"SELECT /*+ REPARTITION({N_FILES}) */ id FROM range(1000)",
    )
    follow()
    row = IcebergTable.objects.get(db=db, table="small")
    assert row.n_files == N_FILES
    look = look_ask(LAKE, by="schedule", now=timezone.now() + timedelta(seconds=1))
    assert look is not None
    driven(look)
    task = OptimizeTask.objects.get(table=row)
    assert (task.kind, task.state) == (TaskKind.MINOR, TaskState.WAITING), task.reason

    OptimizeKind().decide(LAKE, now=timezone.now())
    assert choose(ICEBERG, LAKE, now=timezone.now())
    driven(asked(ICEBERG_KIND, {}), hold=Hold())

    task.refresh_from_db()
    counts = (task.before["n_files"], task.after["n_files"])
    assert (task.state, counts) == (TaskState.DONE, (N_FILES, 1)), task.outcome
    follow()
    row.refresh_from_db()
    assert (row.n_files, row.commits.filter(is_ours=True).count()) == (1, 1)
