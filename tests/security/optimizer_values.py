"""What an address of the optimizer room can name: tables of alice in sales."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from optimizer.advice.domain.asked import Aggregate
from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.scan_reports import Scanned
from optimizer.advice.domain.stars.groupings import StarGrouping
from optimizer.core.domain.tasks import TaskKind
from optimizer.cubes.domain.drafts import Draft
from optimizer.iceberg.tables.services.groupings import GroupedQuery, grouping_report
from optimizer.iceberg.tables.services.scans import scan_report
from optimizer.models import Advice, IcebergTable, PolicyVersion, Quarantine, RemovalPlan, Trial
from tests.component.optimizer.cubes.cube_rows import cube, estimate
from tests.component.optimizer.hudi import hudi_shown
from tests.component.optimizer.hudi.hudi_task_rows import hudi, looked
from tests.component.optimizer.iceberg.removal_rows import proposed
from tests.component.optimizer.optimizer_rows import commit, iceberg, looks, partition, task
from tests.component.optimizer.queries.shape_rows import top_shape
from tests.unit.optimizer.hudi.hudi_world import asked, look, plan


def optimizer_values(now: datetime) -> Mapping[str, Any]:
    """Make a table with one of everything, a paused one, one to remove from; gives their ids."""
    row = iceberg("orders", now=now, db="sales", owner="alice")
    partition(row, "dt=1")
    commit(row, 1, at=now)
    looks(row, [80, 58], now=now)
    waits = task(row, now=now)
    PolicyVersion.objects.create(
        lake=row.lake, scope="*", version=1, values={"manifests": 9}, by="ada", at=now, reason="so"
    )
    PolicyVersion.objects.create(
        lake=row.lake,
        format="hudi",
        scope="*",
        version=1,
        values={"commits": 9},
        by="ada",
        at=now,
        reason="so",
    )
    paused = iceberg("paused", now=now, db="sales", owner="alice", is_paused=True, paused_by="otto")
    old = iceberg("old", now=now, db="sales", owner="alice")
    removal = proposed(old, now=now, requested_by="anna")
    aside = proposed(
        iceberg("aside", now=now, db="sales", owner="alice"), now=now, kind=TaskKind.ORPHANS
    )
    RemovalPlan.objects.filter(pk=aside.pk).update(state="DONE")
    Quarantine.objects.create(
        plan=aside,
        directory="file:/lake/aside/_lakewarden_quarantine/x",
        n_files=3,
        n_bytes=30,
        moved_at=now,
        delete_after=now + timedelta(days=7),
    )
    served = looked("served", look(asked(10), plans=(plan(10, "a"),)), db="sales", owner="alice")
    healthy = hudi_shown.healthy()
    shown = hudi_shown.hudi("orders", seen=healthy, db="sales", owner="alice")
    held = hudi("held", db="sales", owner="alice", is_paused=True, paused_by="otto")
    changed = Draft("of_shop", dimensions="shop", measures="price: sum")
    by_shop = StarGrouping("sales.orders", frozenset({"shop"}), frozenset({Aggregate("sum", "id")}))
    grouping_report(row, by_shop, GroupedQuery(900, 1.0, "SELECT ?"), now=now)
    scan_report(row, Scanned((Filter("id", FilterKind.EQUAL),), 9, 0, 900, "spark"), now=now)
    return {
        "advice_id": _tried(_advice(row, now), now).pk,
        "index_advice_id": _advice(row, now, subject="index_columns", proposed="id").pk,
        "cube_advice_id": _advice(row, now, subject="cube", proposed="by_shop: shop").pk,
        "applied_advice_id": _advice(paused, now, state="APPLIED", proposed="").pk,
        "cube_id": cube(row, "of_shop", now=now).pk,
        "paused_cube_id": cube(row, "resting", now=now, state="PAUSED").pk,
        "cube_estimate_id": str(estimate(row).pk),
        "cube_change_id": str(estimate(row, changed).pk),
        "top_shape": top_shape(now, "sales.orders").digest,
        "iceberg_id": row.pk,
        "hudi_id": shown.pk,
        "paused_iceberg_id": paused.pk,
        "served_hudi_id": served.pk,
        "paused_hudi_id": held.pk,
        "optimize_task_id": waits.pk,
        "policy_scope": "*",
        "removal_id": removal.pk,
        "held_removal_id": aside.pk,
        "removal_digest": removal.digest,
    }


def _tried(row: Advice, now: datetime) -> Advice:
    """Return an advice with a trial that is over."""
    part = {
        **{"partition": "dt=1", "reason": "largest", "share": 1.0, "n_rows": 9, "seconds": 1.0},
        **{"n_files": 9, "n_bytes": 90, "n_files_after": 3, "n_bytes_after": 80},
    }
    shape = {"filters": [["id", "="]], "n_scans": 3, "n_queries": 9, "before": 90, "after": 20}
    evidence = {
        **{"base": 5, "n_partitions": 7, "n_bytes": 700, "most_bytes": 1000},
        **{"partitions": [part], "shapes": [shape]},
    }
    Trial.objects.create(
        advice=row,
        state="KEEP",
        is_open=None,
        run=uuid4(),
        requested_by="alice",
        requested_at=now,
        reason="because",
        ended_at=now,
        **{"seconds": 3.0, "bytes_written": 80, "saved": 0.7, "low": 0.6, "high": 0.8},
        **{"n_queries": 9, "n_worse": 0, "outcome": "It pays.", "evidence": evidence},
        **{"branch": "lakewarden_trial_1_a", "cleaned_at": now, "cleanup": "3 gone."},
    )
    Advice.objects.filter(pk=row.pk).update(trial_state="KEEP")
    return row


def _advice(row: IcebergTable, now: datetime, **values: Any) -> Advice:
    scans = {"n_scans": 3, "n_files": 9, "n_bytes": 900}
    evidence = {
        **{"reason": "It pays.", "runner_up": "sort(at)", "confidence": "high"},
        **{"partition": "dt=1", "n_rows": 90, "n_files_tried": 9, "now": 1.0},
        "options": [{"layout": "sort(id)", "share": 0.2}],
        "shapes": [{"digest": "d", "filters": [["id", "="]], **scans}],
        "digests": [],
        "left_out": [{"column": "tags", "reason": "It has no order."}],
    }
    fields = {"proposed": "sort(id)", "expected": 0.2, "evidence": evidence, "made_at": now}
    counts = {"bytes_a_day": 900, "rewrite_bytes": 90, "n_scans": 30, "n_days": 2}
    return Advice.objects.create(table=row, confirmed_at=now, **{**fields, **counts, **values})
