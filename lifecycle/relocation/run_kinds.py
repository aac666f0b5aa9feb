"""Run kinds and approval kind of relocation plans. The platform drives them.

`lifecycle.path_fix_plan` draws a plan up in a worker; `lifecycle.fix_path` is the Spark job that
moves, and `lifecycle.undo_fix_path` the same job with the places the other way round.
"""

from datetime import datetime
from typing import Any

from django.utils import timezone

from lifecycle.backup.services.beating import act_beat
from lifecycle.backup.services.fencing import move_prepare
from lifecycle.backup.services.moving import moves_read
from lifecycle.backup.services.settling import act_settle
from lifecycle.models import PlanState, RelocationPlan
from lifecycle.planning.services.approved_runs import (
    START_EVERY,
    check_modes,
    check_picture,
    closed_databases,
    outcome_of,
    owners_of,
)
from lifecycle.relocation.services.execution import (
    FIX_KIND,
    UNDO_KIND,
    check_fix_approved,
    check_fix_size,
    fix_databases,
    fix_day,
    fix_finish,
    fix_targets,
    fixes_turn,
    is_fix_approved,
)
from lifecycle.relocation.services.plans import DRAW_KIND, FIXES, fix_move
from lifecycle.relocation.services.store import fix_draw
from lifecycle.rules.selectors.path_rules import path_rules
from portal.access.lakes import job_environment
from portal.access.roles.domain import STAFF
from portal.runs.execution.settling import will_try_again
from portal.runs.kinds import registry as run_kinds
from portal.runs.kinds.ticks import Tick, register_tick
from portal.runs.models import Run


class FixPlanKind(run_kinds.RunKind):
    """Creates a relocation plan: looks at what was asked, moves nothing."""

    name = DRAW_KIND
    title = "Create a relocation plan"
    queue = "plan"
    start_roles = STAFF

    def execute(self, run: Run) -> dict[str, Any]:
        """Draw the plan up; at the instant that the request named, as in played days."""
        now = datetime.fromisoformat(run.params["now"])
        return fix_draw(_fix(run), folder=f"{run.pk}-{run.epoch}", now=now)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """End the plan when its creating failed."""
        fix = _fix(run)
        if manifest["outcome"] == "done" or will_try_again(self, run, manifest):
            return
        if fix.state == PlanState.DRAFTING:
            outcome, error = outcome_of(manifest)
            reason = error or f"Drawing it up ended as {outcome}."
            fix_move(fix, PlanState.FAILED, now=timezone.now(), by="system", reason=reason)


class FixKind(run_kinds.RunKind):
    """Moves the items of an approved relocation plan and updates the metastore."""

    name = FIX_KIND
    job = "lifecycle.relocation.jobs"
    title = "Move to conforming places"
    queue = "destructive"
    acting = True
    # Nothing goes, but readers find nothing for a moment: it keeps the working hours of a drop.
    destroys = True

    def environment(self, run: Run) -> dict[str, str]:
        """Return the job the password of the metastore's database: it asks for neighbours."""
        return job_environment(run.lake)

    def prepare(self, run: Run) -> None:
        """Ask once more whether it may run, then make the fence and what lacks above the places."""
        fix = _fix(run)
        check_fix_approved(fix, now=timezone.now())
        check_modes(fix.lake, fix_databases(fix))
        check_picture(fix.lake)
        check_fix_size(fix)
        _fence(run, fix)

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job the plan's file, its digest and the fence."""
        fix = _fix(run)
        owners = fix.items.values_list("db", "table", "owner", "db_owner")
        return {
            **_fence(run, fix),
            "path_rules": path_rules(fix.lake, now=timezone.now()),
            "owners": owners_of(owners),
            "plan": str(fix.pk),
            "digest": fix.digest,
            "items": fix.items_uri,
            "items_sha256": fix.digest,
            "undo": fix.undo_of_id is not None,
        }

    def beat(self, run: Run) -> None:
        """Renew the lease.

        Tell the job of cancel, holds, closed databases and the emergency stop.
        """
        fix = _fix(run)
        closed = closed_databases(fix.lake, fix_databases(fix))
        act_beat(run, now=timezone.now(), closed=closed)

    def settle(self, run: Run) -> None:
        """Seal and settle; what is half done is taken back when the approval no longer stands."""
        fix, now = _fix(run), timezone.now()
        act_settle(run, now=now, still_approved=lambda: is_fix_approved(fix, now=now))

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take the files' word onto the plan and end it."""
        if will_try_again(self, run, manifest):
            return
        outcome, error = outcome_of(manifest)
        report = moves_read(run, manifest)
        fix_finish(_fix(run), run, outcome=outcome, report=report, error=error, now=timezone.now())


class UndoFixKind(FixKind):
    """Brings back what a relocation plan moved."""

    name = UNDO_KIND
    title = "Undo a relocation plan"


def _fix(run: Run) -> RelocationPlan:
    return RelocationPlan.objects.select_related("approval", "undo_of").get(pk=run.params["fix"])


def _fence(run: Run, fix: RelocationPlan) -> dict[str, Any]:
    return move_prepare(
        run, root=fix.backup_root, day=fix_day(fix), targets=fix_targets(fix), now=timezone.now()
    )


def register_relocation_kinds() -> None:
    """Tell the platform of the runs, the tick and the approval of this file."""
    register_tick(Tick("lifecycle.path_fixes", START_EVERY, fixes_turn))
    for kind in (FixPlanKind(), FixKind(), UndoFixKind()):
        run_kinds.register(kind)
    FIXES.register()
