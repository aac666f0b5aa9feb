"""Run kinds and approval kind of drop plans. The platform drives them.

`lifecycle.plan` draws a plan up in a worker; `lifecycle.drop` is the Spark job that acts.
"""

from collections.abc import Mapping
from dataclasses import astuple
from datetime import datetime
from typing import Any

from django.utils import timezone

from lifecycle.backup.services.beating import act_beat
from lifecycle.backup.services.fencing import act_prepare
from lifecycle.backup.services.ingesting import act_ingest
from lifecycle.backup.services.settling import act_settle
from lifecycle.drop.services.execution import (
    DROP_KIND,
    approval_day,
    check_approved,
    check_exceptions,
    check_size,
    is_approved,
    keep_days,
    may_be_read,
    plan_finish,
    scanned_at,
)
from lifecycle.drop.services.plans import PLAN_KIND, PLANS, plan_move
from lifecycle.drop.services.store import plan_draw
from lifecycle.models import DropPlan, PlanState
from lifecycle.planning.services.approved_runs import (
    check_modes,
    check_picture,
    closed_databases,
    outcome_of,
    owners_of,
)
from lifecycle.rules.selectors.path_rules import path_rules
from portal.access.lakes import job_environment
from portal.access.roles.domain import STAFF
from portal.runs.execution.settling import will_try_again
from portal.runs.kinds import registry as run_kinds
from portal.runs.models import Run
from portal.safety.selectors import EMERGENCY_STOP_CODE, emergency_stop_wait


class PlanKind(run_kinds.RunKind):
    """Creates a drop plan from the last scan's items."""

    name = PLAN_KIND
    title = "Create a drop plan"
    queue = "plan"
    start_roles = STAFF

    def execute(self, run: Run) -> dict[str, Any]:
        """Draw the plan up; at the instant that the request named, as in played days."""
        now = datetime.fromisoformat(run.params["now"])
        return plan_draw(_plan(run), folder=f"{run.pk}-{run.epoch}", now=now)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """End the plan when its creating failed."""
        plan = _plan(run)
        if manifest["outcome"] == "done" or will_try_again(self, run, manifest):
            return
        if plan.state == PlanState.DRAFTING:
            outcome, error = outcome_of(manifest)
            reason = error or f"Drawing it up ended as {outcome}."
            plan_move(plan, PlanState.FAILED, now=timezone.now(), by="system", reason=reason)


class DropKind(run_kinds.RunKind):
    """Backs up and drops the items of an approved plan."""

    name = DROP_KIND
    job = "lifecycle.drop.jobs"
    title = "Back up and drop"
    queue = "destructive"
    acting = True
    destroys = True

    def environment(self, run: Run) -> dict[str, str]:
        """Return the job the password of the metastore's database: it asks for neighbours."""
        return job_environment(run.lake)

    def prepare(self, run: Run) -> None:
        """Ask once more whether it may run, then make the fence."""
        plan = _plan(run)
        now = timezone.now()
        check_approved(plan, now=now)
        check_modes(plan.lake, plan.tables.values_list("db", flat=True))
        check_picture(plan.lake)
        check_exceptions(plan, now=now)
        check_size(plan)
        _fence(run, plan, now)

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job the plan's file, its digest, the fence and how long backups are kept."""
        plan, now = _plan(run), timezone.now()
        day = approval_day(plan)
        owners = plan.tables.values_list("db", "table", "owner", "db_owner")
        return {
            **_fence(run, plan, now),
            "path_rules": path_rules(plan.lake, now=now),
            "owners": owners_of(owners),
            "scanned_at": scanned_at(plan).isoformat(),
            "may_be_read": [astuple(name) for name in may_be_read(plan, now=now)],
            "plan": str(plan.pk),
            "digest": plan.digest,
            "items": plan.items_uri,
            "items_sha256": plan.items_sha256,
            "n_items": plan.n_items,
            "approved_day": day.isoformat(),
            "approved_keep_days": plan.keep_days,
            "keep_days": keep_days(plan),
        }

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the emergency stop is on; it goes on by itself after the release."""
        return emergency_stop_wait(run.lake)

    def must_wait(self, error: Mapping[str, Any]) -> bool:
        """Wait, too, when it was pressed between the claim and the fence."""
        return error.get("code") == EMERGENCY_STOP_CODE

    def beat(self, run: Run) -> None:
        """Renew the lease.

        Tell the job of cancel, holds, closed databases and the emergency stop.
        """
        plan = _plan(run)
        closed = closed_databases(plan.lake, plan.tables.values_list("db", flat=True).distinct())
        act_beat(run, now=timezone.now(), closed=closed)

    def settle(self, run: Run) -> None:
        """Seal and settle; what is half done is taken back when the approval no longer stands."""
        plan = _plan(run)
        now = timezone.now()
        act_settle(run, now=now, still_approved=lambda: is_approved(plan, now=now))

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take the files' word into the catalogue and end the plan."""
        now = timezone.now()
        report = act_ingest(run, manifest, now=now)
        if will_try_again(self, run, manifest):
            return
        outcome, error = outcome_of(manifest)
        plan_finish(
            _plan(run),
            run,
            outcome=outcome,
            report={
                "counts": report.counts,
                "skipped": report.skipped,
                "window": report.window,
                "error": error,
            },
            now=now,
        )


def _plan(run: Run) -> DropPlan:
    plans = DropPlan.objects.select_related("approval", "standing_rule")
    return plans.get(pk=run.params["plan"])


def _fence(run: Run, plan: DropPlan, now: datetime) -> dict[str, Any]:
    return act_prepare(run, root=plan.backup_root, day=approval_day(plan), now=now)


def register_plan_kinds() -> None:
    """Tell the platform of the runs and the approval of this file."""
    run_kinds.register(PlanKind())
    run_kinds.register(DropKind())
    PLANS.register()
