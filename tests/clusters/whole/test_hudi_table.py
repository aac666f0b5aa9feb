"""A Hudi table is compacted by an application of the cluster."""

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from optimizer.core.services.dispatcher import choose
from optimizer.hudi.inspect.run_kinds import ObserveHudiKind
from optimizer.hudi.planner.run_kinds import KIND as HUDI_KIND
from optimizer.hudi.planner.run_kinds import HudiServicesKind
from optimizer.hudi.planner.services.maintainer import HUDI
from optimizer.models import HudiTable, OptimizeTask
from stack.cluster_stack import ClusterStack
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
# Its writer compacts nothing itself, and leaves a plan for somebody who does.
SETTINGS = {
    "hoodie.metadata.enable": "false",
    "hoodie.compact.inline": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.compact.schedule.inline": "true",
    "hoodie.compact.inline.max.delta.commits": "1",
}
PROPERTIES = (
    "type = 'mor', primaryKey = 'id', preCombineField = 'ts', "
    "'hoodie.compact.inline' = 'false', 'hoodie.clean.automatic' = 'false'"
)


def test_a_plan_of_a_hudi_tables_writers_is_executed(portal: ClusterStack, tmp_path: Path) -> None:
    db = f"hudi_{uuid4().hex[:8]}"
    kinds = {"is_on": True, "profile": "near-line", "kinds": ["COMPACTION"]}
    policy(format="hudi", values=kinds)
    follow()
    write_tables(
        portal,
        tmp_path,
        f"CREATE DATABASE {db} LOCATION '{portal.lake_root}/user/{db}'",
        *(f"SET {name} = {value}" for name, value in SETTINGS.items()),
        f"CREATE TABLE {db}.carts (id BIGINT, word STRING, ts BIGINT) USING hudi "
        f"TBLPROPERTIES ({PROPERTIES})",
        f"INSERT INTO {db}.carts SELECT id, 'first', 1 FROM range(20)",
        f"UPDATE {db}.carts SET word = 'again', ts = 2 WHERE id < 5",
    )
    follow()
    row = HudiTable.objects.get(db=db, table="carts")
    now = timezone.now() + timedelta(seconds=1)
    HudiTable.objects.filter(pk=row.pk).update(event_at=now, inspect_due_at=timezone.now())
    params = ObserveHudiKind().scheduled_params(LAKE, now=now)
    assert params is not None
    driven(asked("observe_hudi", params))
    row.refresh_from_db()
    assert row.inspection_error == ""
    task = OptimizeTask.objects.get(hudi=row)
    assert (task.kind, task.state) == ("HUDI_COMPACTION_EXECUTE", "WAITING"), row.decision

    HudiServicesKind().decide(LAKE, now=timezone.now())
    assert choose(HUDI, LAKE, now=timezone.now())
    driven(asked(HUDI_KIND, {}), hold=Hold())

    task.refresh_from_db()
    done = [one["instant"] for one in task.commits]
    assert (task.state, done) == ("DONE", task.instants), task.outcome
