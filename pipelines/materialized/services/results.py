"""Takes in what refreshes came to; taken in again nothing changes."""

from datetime import datetime

import msgspec
from django.db import transaction

from pipelines.materialized.domain.messages import RESULTS, Refreshed
from pipelines.materialized.services.days import refresh_add
from pipelines.models import Materialization, MaterializationRefresh
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.runs.results.json_files import json_results

KEPT = 500
"""Refreshes of a materialization that are kept."""
_COUNTS = (
    *("state", "way", "reason", "n_groups", "n_changed_groups", "n_dirty_groups", "n_commits"),
    *("changed_bytes", "all_bytes", "seconds"),
)


def refreshes_take(run: Run, *, now: datetime) -> int:
    """Take in each refresh of a run; returns how many there were."""
    n_taken = 0
    for found in json_results(open_spool(run), RESULTS, Refreshed):
        n_taken += _take(run, found, now=now)
    return n_taken


def refreshes_failed(run: Run, problem: str, *, now: datetime) -> int:
    """Say at each materialization that a run did not come to that it failed; returns how many."""
    rows = Materialization.objects.filter(lake=run.lake, pk__in=run.params["ids"])
    left = rows.exclude(refreshes__run=str(run.pk)).exclude(tried_at__gte=run.queued_at)
    ids = list(left.values_list("pk", flat=True))
    return Materialization.objects.filter(pk__in=ids).update(
        problem=problem, problem_code="run.failed", tried_at=now
    )


@transaction.atomic
def _take(run: Run, found: Refreshed, *, now: datetime) -> int:
    rows = Materialization.objects.select_for_update()
    row = rows.filter(lake=run.lake, pk=found.id).first()
    if row is None:
        return 0
    _, is_new = MaterializationRefresh.objects.get_or_create(
        materialization=row,
        run=str(run.pk),
        defaults={
            **{name: getattr(found, name) for name in _COUNTS},
            "requested_by": run.requested_by,
            "ended_at": now,
        },
    )
    if not is_new:
        return 0
    refresh_add(row, found, now=now)
    row.tried_at = now
    if found.state == "failed":
        row.problem, row.problem_code = found.reason, found.code
    else:
        row.problem, row.problem_code = "", ""
        row.way, row.reason, row.has_floats = found.way, found.reason, found.has_floats
        row.n_groups, row.n_dirty_groups = found.n_groups, found.n_dirty_groups
        row.seconds, row.n_rows = found.seconds, found.n_rows
        if found.version == row.version:  # else it is of the definition before
            row.positions = msgspec.to_builtins(found.positions)
            row.types = msgspec.to_builtins(found.types)
            # What was committed to the sources before it was asked for is surely in it.
            row.fresh_at = run.queued_at
    row.save()
    old = row.refreshes.order_by("-ended_at", "-pk").values_list("pk", flat=True)[KEPT:]
    MaterializationRefresh.objects.filter(pk__in=list(old)).delete()
    return 1
