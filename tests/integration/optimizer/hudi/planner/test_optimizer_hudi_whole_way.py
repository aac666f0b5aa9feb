"""Looked at, decided, served: a table falls ill by its writer and is well again by itself."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pyspark.sql import SparkSession

from optimizer.core.services.dispatcher import choose
from optimizer.hudi.inspect.run_kinds import ObserveHudiKind
from optimizer.hudi.planner.run_kinds import KIND, HudiServicesKind
from optimizer.hudi.planner.services.maintainer import HUDI
from optimizer.models import HudiTable, OptimizeTask, PolicyVersion
from portal.runs.models import Run
from portal.runs.requests.services import run_request
from stack.stack import LAKE, Stack
from tests.support import hudi_lake
from tests.support.run_here import run_here

pytestmark = [pytest.mark.django_db, pytest.mark.spark]
APART = {"hoodie.compact.inline": "false", "hoodie.clean.automatic": "false"}
PLANS = {"hoodie.compact.schedule.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
VALUES = {"is_on": True, "profile": "near-line", "kinds": ["COMPACTION"]}


def look(row: HudiTable, spark: SparkSession) -> None:
    """Look at what is due and decide on it, as the minute's run does."""
    now = timezone.now() + timedelta(seconds=1)
    params = ObserveHudiKind().scheduled_params(LAKE, now=now)
    assert params is not None
    run = run_request("observe_hudi", lake=LAKE, params=params, requested_by="schedule", now=now)
    assert run_here(run, spark).state == "DONE"
    row.refresh_from_db()
    assert row.inspection_error == ""


def serve(spark: SparkSession) -> None:
    """Do what waits, as the dispatcher would have it done."""
    HudiServicesKind().decide(LAKE, now=timezone.now())
    assert choose(HUDI, LAKE, now=timezone.now())
    run: Run = run_request(KIND, lake=LAKE, params={}, requested_by="schedule", now=timezone.now())
    run = run_here(run, spark)
    assert run.state == "DONE", run.error


def test_a_plan_of_the_writers_is_executed_and_the_table_is_well_again(
    spark: SparkSession, embedded_stack: Stack, settings: Any, tmp_path: Path
) -> None:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    table = hudi_lake.HudiTable(spark, tmp_path / "carts")
    rows = [(i, "2026-05-01", f"a{i}", 1) for i in range(4)]
    table.upsert(rows)
    table.upsert([(i, dt, f"{word} again", 2) for i, dt, word, _ in rows], PLANS)
    wanted = table.rows()
    now = timezone.now()
    PolicyVersion.objects.create(
        lake=LAKE, format="hudi", scope="*", version=1, values=VALUES, by="a", at=now, reason="t"
    )
    HudiTable.objects.all().delete()
    row = HudiTable.objects.create(
        lake=LAKE, db="hudi", table="carts", location=table.location, properties=APART,
        place=sha256(table.location.encode()).hexdigest(), event_at=now, inspect_due_at=now,
    )  # fmt: skip

    look(row, spark)

    task = OptimizeTask.objects.get(hudi=row)
    assert (task.kind, task.state) == ("HUDI_COMPACTION_EXECUTE", "WAITING"), row.decision
    assert (row.n_pending, row.stale_since is not None) == (1, True)
    ill = row.health

    serve(spark)

    task.refresh_from_db()
    assert (task.state, [one["instant"] for one in task.commits]) == ("DONE", task.instants)
    assert table.rows(only_base_files=True) == wanted
    look(row, spark)
    assert (row.n_pending, row.stale_since, row.log_bytes) == (0, None, 0)
    assert ill is not None
    assert row.health is not None
    assert row.health >= ill
    assert not OptimizeTask.objects.filter(hudi=row, is_open=True).exists(), row.decision
