"""Starts and executes approved drop plans, and records their results.

A plan runs only while its approval stands: asked when the run is made, at every submit, and before
settling finishes a half-done item. A plan of a standing rule stands on the rule's approval.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from lifecycle.backup.engine.protocol import WINDOW_SECONDS
from lifecycle.drop.domain.plan import days_kept
from lifecycle.drop.domain.refusal import Name
from lifecycle.drop.services.plans import APPROVAL_KIND, digest_of, plan_audit, plan_move
from lifecycle.drop.services.standing_rules import rule_check
from lifecycle.models import (
    DeletionRequest,
    DropPlan,
    DropPlanResult,
    DropPlanTable,
    PlanState,
)
from lifecycle.planning.selectors.inputs import keep_days_now
from lifecycle.planning.services.approved_runs import (
    check_caps,
    check_modes,
    check_picture,
    is_turn_of,
    left_lines,
    reason_not_done,
    state_at_end,
)
from lifecycle.planning.services.parties import requesters_now
from lifecycle.policies.services.deletion_consents import recently_read_names
from lifecycle.rules.selectors.exceptions import no_longer_excepted
from portal.access.lakes import get_lake
from portal.approvals.services import approval_check, approval_lock, approval_use
from portal.approvals.sizes import FEWEST_APPROVALS, plan_needed
from portal.lake.clock import day_of
from portal.lake.errors import PortalError, StaleState
from portal.runs.kinds.hours import hours_check
from portal.runs.models import Run
from portal.runs.records.logs import run_log_many
from portal.runs.requests.services import run_request
from portal.safety.selectors import emergency_stop_state

DROP_KIND = "lifecycle.drop"
RESULTS_KEPT = 5_000
_CHUNK = 1_000


def plans_turn(lake: str, *, now: datetime) -> None:
    """Start the plans of a lake that are due; what is blocked is tried each five minutes."""
    due = Q(approval__cool_until__lte=now) | Q(approval__isnull=True)
    if is_turn_of(DropPlan.objects.filter(due, lake=lake, state=PlanState.APPROVED), now=now):
        plans_start_due(now, lake=lake)


def plans_start_due(now: datetime, *, lake: str | None = None) -> list[Run]:
    """Start every plan whose cooling-off is over; one that cannot start says why on its page."""
    due = Q(approval__cool_until__lte=now) | Q(approval__isnull=True, standing_rule__isnull=False)
    waiting = DropPlan.objects.filter(due, state=PlanState.APPROVED).order_by("created_at", "id")
    if lake is not None:
        waiting = waiting.filter(lake=lake)
    started = []
    for plan in waiting[:100]:
        try:
            started.append(plan_execute(plan.pk, now=now))
        except PortalError as error:
            DropPlan.objects.filter(pk=plan.pk, state=PlanState.APPROVED).update(
                outcome={"blocked": error.as_dict()}
            )
            if plan.approval_id is None and not is_approved(plan, now=now):
                _end_uncovered(plan, error.message, now=now)
    return started


@transaction.atomic
def _end_uncovered(plan: DropPlan, reason: str, *, now: datetime) -> None:
    """End a plan that its standing rule covers no longer: the next one is put to people."""
    words = f"{reason} What is due is planned again and put to two people."
    plan_move(plan, PlanState.LAPSED, now=now, by="system", reason=words)
    plan_audit("lapsed", plan, actor="system", now=now, reason=reason)


@transaction.atomic
def plan_execute(plan_id: UUID | str, *, now: datetime) -> Run:
    """Start the drop run of an approved plan; called twice it is StaleState, never a second run."""
    plan = _locked(plan_id)
    if plan.state != PlanState.APPROVED:
        raise StaleState("plan.not_approved", "Only an approved plan can run.", state=plan.state)
    if emergency_stop_state(plan.lake) is not None:
        raise StaleState("red_button.on", "The emergency stop is on: nothing is dropped.")
    hours_check(plan.lake, now=now)
    check_modes(plan.lake, DropPlanTable.objects.filter(plan=plan).values_list("db", flat=True))
    check_picture(plan.lake)
    check_exceptions(plan, now=now)
    check_size(plan)
    check_approved(plan, now=now)
    run = run_request(
        DROP_KIND,
        lake=plan.lake,
        params={"plan": str(plan.pk), "digest": plan.digest},
        requested_by=plan.requested_by,
        reason=plan.reason,
        unique_key=f"drop:{plan.pk}",
        subject=("drop_plan", str(plan.pk)),
        now=now,
    )
    if plan.approval_id is not None:
        approval_use(plan.approval_id, run_id=str(run.pk), now=now)
    plan_move(plan, PlanState.RUNNING, now=now, run=run, outcome={})
    plan_audit("started", plan, actor="system", now=now, run=str(run.pk))
    return run


def _locked(plan_id: UUID | str) -> DropPlan:
    """Lock the approval before the plan, as those do who decide on it."""
    plan = DropPlan.objects.get(pk=plan_id)
    if plan.approval_id is not None:
        approval_lock(plan.approval_id)
    return DropPlan.objects.select_for_update().get(pk=plan_id)


def check_approved(plan: DropPlan, *, now: datetime) -> None:
    """Raise StaleState unless this very content may run now (or go on in its own run)."""
    run_id = str(plan.run_id or "")
    digest = digest_of(plan)
    if plan.approval_id is not None:
        approval_check(APPROVAL_KIND, object_id=str(plan.pk), digest=digest, now=now, run_id=run_id)
        return
    if plan.standing_rule is None:
        raise StaleState("plan.not_approved", "Nobody has approved this plan.")
    if digest != plan.digest:
        raise StaleState("plan.changed", "The plan is not the one that the rule covered.")
    rule_check(plan.standing_rule, also_requesters=requesters_now(plan), now=now)


def is_approved(plan: DropPlan, *, now: datetime) -> bool:
    """Whether the plan may still go on."""
    try:
        check_approved(plan, now=now)
    except StaleState:
        return False
    return True


def check_exceptions(plan: DropPlan, *, now: datetime) -> None:
    """Raise StaleState when an exception is over under which a table of the plan was let pass."""
    today = day_of(now, get_lake(plan.lake).zone)
    over = no_longer_excepted(plan.lake, since=plan.created_at, today=today)
    tables = DropPlanTable.objects.filter(plan=plan).values_list("db", "table")
    gone = sorted(f"{db}.{tbl}" for db, tbl in tables if {Name(db), Name(db, tbl)} & over)
    if gone:
        raise StaleState(
            "plan.waiver",
            f"The exception of a path rule is over for {', '.join(gone)}. Reject the plan and "
            "make a "
            "new one.",
        )


def check_size(plan: DropPlan) -> None:
    """Raise StaleState when the plan is over a cap as it is now, or too few people were asked.

    Caps may have been lowered, and the lake may have become smaller, since it was created.
    """
    check_caps(plan.lake, n_items=plan.n_items, n_bytes=plan.n_bytes)
    needed = plan_needed(plan.lake, n_items=plan.n_items, n_bytes=plan.n_bytes)
    asked = plan.approval.n_needed if plan.approval is not None else FEWEST_APPROVALS
    if needed.n > asked:
        raise StaleState(
            "plan.approvals",
            f"{needed.reason} It needs {needed.n} approvals now and was put to {asked}: reject it "
            "and have it created again.",
            needed=needed.n,
        )


def scanned_at(plan: DropPlan) -> datetime:
    """Return when the scan behind a plan began to read the lake."""
    return plan.generation.read_at if plan.generation is not None else plan.created_at


def may_be_read(plan: DropPlan, *, now: datetime) -> list[Name]:
    """Name what goes although it is recently read.

    Owners said so, now or in the plan's own requests.
    """
    today = day_of(now, get_lake(plan.lake).zone)
    return recently_read_names(plan.lake, today=today, wishes=plan.requests.all())


def approval_day(plan: DropPlan) -> date:
    """Return the day, in the lake's zone, under which the backup is kept."""
    approved_at = plan.approval.approved_at if plan.approval is not None else None
    return day_of(approved_at or plan.created_at, get_lake(plan.lake).zone)


def keep_days(plan: DropPlan) -> dict[str, int]:
    """Return for how many days backups are kept by database: never fewer than were approved."""
    return days_kept(plan.keep_days, keep_days_now(plan.lake, list(plan.keep_days)))


def plan_finish(
    plan: DropPlan, run: Run, *, outcome: str, report: Mapping[str, Any], now: datetime
) -> None:
    """Take what the run did onto the plan; called again for the same run it changes nothing.

    `report` is {"counts": {...}, "skipped": [{item, outcome, reason}, ...]} as acting runs give it,
    "window": the longest seconds from a batch's first rename to its metadata drop, and "error": why
    the run failed, in words.
    """
    if plan.state != PlanState.RUNNING or plan.run_id != run.pk:
        return
    DropPlanResult.objects.filter(plan=plan).delete()
    DropPlanResult.objects.bulk_create(
        (_result(plan, row) for row in report.get("skipped", [])[:RESULTS_KEPT]),
        batch_size=_CHUNK,
    )
    done = outcome == "done"
    stays = "what it had dropped stays in the backup."
    with transaction.atomic():
        plan_move(
            plan,
            state_at_end(outcome),
            now=now,
            by="system",
            reason=""
            if done
            else reason_not_done(outcome, report.get("error", ""), cancelled=stays),
            outcome=_outcome(plan, report),
        )
        DeletionRequest.objects.filter(plan=plan, state=DeletionRequest.State.PLANNED).update(
            state=DeletionRequest.State.CLOSED, closed_at=now, closed_by="system"
        )
        run_log_many(run, left_lines(report.get("skipped", [])), now=now)
        plan_audit("finished", plan, actor="system", now=now, outcome=outcome)


def _outcome(plan: DropPlan, report: Mapping[str, Any]) -> dict[str, Any]:
    """Count every item of the plan: what a run that was stopped never came to, too."""
    counts = dict(report.get("counts", {}))
    n_never = plan.n_items - sum(counts.values())
    if n_never > 0:
        counts["NOT_REACHED"] = n_never
    window = report.get("window")
    if window is None:
        return {"counts": counts}
    return {"counts": counts, "window": round(window, 3), "window_limit": WINDOW_SECONDS}


def _result(plan: DropPlan, row: Mapping[str, str]) -> DropPlanResult:
    """Read one reported item: `db.table` or `db.table/k=v`."""
    name, _, partition = row["item"].partition("/")
    db, _, table = name.partition(".")
    return DropPlanResult(
        plan=plan,
        db=db,
        table=table,
        partition=partition,
        outcome=row["outcome"],
        reason=row["reason"],
    )
