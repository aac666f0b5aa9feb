"""Starts and executes approved relocation plans, and records their results.

As a drop plan: its approval is asked when the run is made, at every submit, and before settling
finishes what is half done.
"""

from datetime import date, datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Sum

from lifecycle.backup.services.ingesting import IngestReport
from lifecycle.models import (
    AT_TARGET,
    PlanState,
    RelocationMove,
    RelocationMoveState,
    RelocationPlan,
)
from lifecycle.planning.services.approved_runs import (
    check_caps,
    check_modes,
    check_picture,
    is_turn_of,
    last_lines,
    reason_not_done,
    state_at_end,
)
from lifecycle.relocation.services.moved_mail import moved_queue
from lifecycle.relocation.services.plans import FIX_APPROVAL_KIND, fix_audit, fix_move
from lifecycle.relocation.services.store import fix_weight
from portal.access.lakes import get_lake
from portal.approvals.services import approval_check, approval_lock, approval_use
from portal.approvals.sizes import plan_needed
from portal.audit.services import AuditEntry, audit_record_many
from portal.lake.clock import day_of
from portal.lake.errors import PortalError, StaleState
from portal.runs.kinds.hours import hours_check
from portal.runs.models import Run
from portal.runs.records.logs import run_log_many
from portal.runs.requests.services import run_request
from portal.safety.selectors import emergency_stop_state

FIX_KIND = "lifecycle.fix_path"
UNDO_KIND = "lifecycle.undo_fix_path"
_CHUNK = 200


def fixes_turn(lake: str, *, now: datetime) -> None:
    """Start the plans of a lake that are due; what is blocked is tried each five minutes."""
    due = RelocationPlan.objects.filter(
        lake=lake, state=PlanState.APPROVED, approval__cool_until__lte=now
    )
    if is_turn_of(due, now=now):
        fixes_start_due(now, lake=lake)


def fixes_start_due(now: datetime, *, lake: str) -> list[Run]:
    """Start every plan whose cooling-off is over; one that cannot start says why on its page."""
    waiting = RelocationPlan.objects.filter(
        lake=lake, state=PlanState.APPROVED, approval__cool_until__lte=now
    )
    started = []
    for fix in waiting.order_by("created_at", "id")[:100]:
        try:
            started.append(fix_execute(fix.pk, now=now))
        except PortalError as error:
            RelocationPlan.objects.filter(pk=fix.pk, state=PlanState.APPROVED).update(
                outcome={"blocked": error.as_dict()}
            )
    return started


@transaction.atomic
def fix_execute(fix_id: UUID | str, *, now: datetime) -> Run:
    """Start the run of an approved plan; called twice it is StaleState, never a second run."""
    fix = RelocationPlan.objects.get(pk=fix_id)
    if fix.approval_id is not None:
        approval_lock(fix.approval_id)
    fix = RelocationPlan.objects.select_for_update().get(pk=fix_id)
    if fix.state != PlanState.APPROVED:
        raise StaleState("fix.not_approved", "Only an approved plan can run.", state=fix.state)
    if emergency_stop_state(fix.lake) is not None:
        raise StaleState("red_button.on", "The emergency stop is on: nothing is moved.")
    hours_check(fix.lake, now=now)
    check_modes(fix.lake, fix_databases(fix))
    check_picture(fix.lake)
    check_fix_size(fix)
    check_fix_approved(fix, now=now)
    kind, what = (UNDO_KIND, "undo-fix") if fix.undo_of_id else (FIX_KIND, "fix")
    run = run_request(
        kind,
        lake=fix.lake,
        params={"fix": str(fix.pk), "digest": fix.digest},
        requested_by=fix.requested_by,
        reason=fix.reason,
        unique_key=f"{what}:{fix.pk}",
        subject=("path_fix", str(fix.pk)),
        now=now,
    )
    if fix.approval_id is not None:
        approval_use(fix.approval_id, run_id=str(run.pk), now=now)
    fix_move(fix, PlanState.RUNNING, now=now, run=run, outcome={})
    fix_audit("started", fix, actor="system", now=now, run=str(run.pk))
    return run


def check_fix_approved(fix: RelocationPlan, *, now: datetime) -> None:
    """Raise StaleState unless this very content may run now (or go on in its own run)."""
    approval_check(
        FIX_APPROVAL_KIND,
        object_id=str(fix.pk),
        digest=fix.digest,
        now=now,
        run_id=str(fix.run_id or ""),
    )


def is_fix_approved(fix: RelocationPlan, *, now: datetime) -> bool:
    """Whether the plan may still go on."""
    try:
        check_fix_approved(fix, now=now)
    except StaleState:
        return False
    return True


def check_fix_size(fix: RelocationPlan) -> None:
    """Raise StaleState when the plan is over a cap as it is now, or too few people were asked."""
    along = fix.items.filter(state=RelocationMoveState.PLANNED).aggregate(n=Sum("n_partitions"))[
        "n"
    ]
    n_items = fix_weight(fix.n_items, along or 0)
    check_caps(fix.lake, n_items=n_items, n_bytes=fix.n_bytes)
    needed = plan_needed(fix.lake, n_items=n_items, n_bytes=fix.n_bytes)
    if fix.approval is None or needed.n > fix.approval.n_needed:
        raise StaleState(
            "plan.approvals",
            f"{needed.reason} It needs {needed.n} approvals now: reject it and ask for it again.",
            needed=needed.n,
        )


def fix_day(fix: RelocationPlan) -> date:
    """Return the day, in the lake's zone, under which the run's papers are kept."""
    approved_at = fix.approval.approved_at if fix.approval is not None else None
    return day_of(approved_at or fix.created_at, get_lake(fix.lake).zone)


def fix_databases(fix: RelocationPlan) -> set[str]:
    """Return the databases in which the plan moves something."""
    planned = fix.items.filter(state=RelocationMoveState.PLANNED)
    return set(planned.values_list("db", flat=True))


def fix_targets(fix: RelocationPlan) -> list[str]:
    """Return the places to which the plan moves something."""
    planned = fix.items.filter(state=RelocationMoveState.PLANNED)
    return list(planned.order_by("id").values_list("target", flat=True))


def fix_finish(
    fix: RelocationPlan, run: Run, *, outcome: str, report: IngestReport, error: str, now: datetime
) -> None:
    """Take what the run did onto the plan; called again for the same run it changes nothing."""
    if fix.state != PlanState.RUNNING or fix.run_id != run.pk:
        return
    done = outcome == "done"
    rows = list(fix.items.filter(state=RelocationMoveState.PLANNED).order_by("id"))
    for row in rows:
        said, row.note = report.items.get(str(row), ("", ""))
        row.state = RelocationMoveState(said or RelocationMoveState.NOT_REACHED)
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.state] = counts.get(row.state, 0) + 1
    stays = "what it had moved stays at its new place."
    reason = "" if done else reason_not_done(outcome, error, cancelled=stays)
    left = [
        f"{row} ({RelocationMoveState(row.state).label}): {row.note}"
        for row in rows
        if row.state not in AT_TARGET or row.note
    ]
    with transaction.atomic():
        RelocationPlan.objects.select_for_update().get(pk=fix.pk)
        RelocationMove.objects.bulk_update(rows, ["state", "note"], batch_size=_CHUNK)
        if fix.undo_of is not None:
            _mark_undone(fix.undo_of, rows)
        fix_move(
            fix,
            state_at_end(outcome),
            now=now,
            by="system",
            reason=reason,
            outcome={"counts": counts, "window": report.window},
        )
        run_log_many(run, last_lines(left), now=now)
        moved_queue(fix, rows, run, now=now)
        audit_record_many([_event(fix, row, run) for row in rows], now=now)
        fix_audit("finished", fix, actor="system", now=now, outcome=outcome, counts=counts)


def _mark_undone(original: RelocationPlan, rows: list[RelocationMove]) -> None:
    """What an undo brought back does not lie at the original's new place any more."""
    back = {(row.db, row.table, row.partition) for row in rows if row.state in AT_TARGET}
    undone = [
        row
        for row in original.items.filter(state__in=AT_TARGET)
        if (row.db, row.table, row.partition) in back
    ]
    for row in undone:
        row.state = RelocationMoveState.TAKEN_BACK
    RelocationMove.objects.bulk_update(undone, ["state"], batch_size=_CHUNK)


def _event(fix: RelocationPlan, row: RelocationMove, run: Run) -> AuditEntry:
    return AuditEntry(
        f"item.{'moved' if row.state in AT_TARGET else 'not_moved'}",
        run.requested_by,
        fix.lake,
        "item",
        str(row),
        {
            "run": str(run.pk),
            "plan": str(fix.pk),
            "digest": fix.digest,
            "from": row.source,
            "to": row.target,
            "state": row.state,
            "reason": row.note,
            "bytes": row.n_bytes,
            "files": row.n_files,
        },
    )
