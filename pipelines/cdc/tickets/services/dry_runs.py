"""Counts on the lake's data how many rows a change would lose, before anybody decides on it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from pipelines.cdc.control.services.orders import plan_of
from pipelines.cdc.tickets.domain.lost_rows import checks_of
from pipelines.cdc.tickets.domain.prediction import Prediction
from pipelines.models import SchemaTicket
from portal.runs.models import Run
from portal.runs.requests.services import run_request

DRY_RUN_KIND = "pipelines.ddl_dry_run"


def dry_run_request(
    ticket: SchemaTicket, prediction: Prediction, *, by: str, now: datetime
) -> None:
    """Ask for the run that counts, where a value may be lost and the lake has rows; unsaved."""
    row = ticket.captured
    plan = plan_of(row, row.schemas.all())
    types = {column.name: column.type for column in plan.columns}
    checks = checks_of(prediction.changes, plan.schemas[-1].live, types)
    if not checks or not row.location or not row.n_upserts:
        return
    run = run_request(
        DRY_RUN_KIND,
        lake=ticket.lake,
        params={
            "ticket": str(ticket.pk),
            "location": row.location,
            "checks": msgspec.to_builtins(checks),
        },
        requested_by=by,
        reason=ticket.reason,
        subject=("captured_table", str(row.pk)),
        now=now,
    )
    ticket.dry_run = run.pk


def dry_run_ingest(run: Run, manifest: Mapping[str, Any]) -> None:
    """Keep what was counted, or why nothing was; twice is once."""
    rows = SchemaTicket.objects.filter(pk=run.params["ticket"], dry_run=run.pk)
    if manifest.get("outcome") == "done":
        rows.update(counted=manifest["result"], count_problem="")


def dry_runs_failed(lake: str) -> None:
    """Say of tickets whose run ended without a result that nothing was counted."""
    waiting = SchemaTicket.objects.filter(
        lake=lake, state="PENDING", dry_run__isnull=False, counted__isnull=True, count_problem=""
    )
    for ticket in waiting:
        run = Run.objects.filter(pk__in=[ticket.dry_run], finished_at__isnull=False).first()
        if run is not None:
            problem = f"Nothing was counted: the run ended as {run.state.lower()}. {run.error}"
            SchemaTicket.objects.filter(pk=ticket.pk, counted__isnull=True).update(
                count_problem=problem
            )
