"""Run kind and approval kind of enrollments. The platform drives them."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from lifecycle.enrollment.services.apply import enrolment_put_back, enrolment_write
from lifecycle.enrollment.services.enrolments import (
    APPROVAL_KIND,
    ENROL_KIND,
    enrolment_move,
    enrolment_run,
)
from lifecycle.models import Enrolment
from lifecycle.planning.services.parties import enrolment_requesters
from lifecycle.policies.domain.states import EnrolmentState
from portal.approvals import kinds as approval_kinds
from portal.approvals.models import Approval
from portal.runs.execution.settling import will_try_again
from portal.runs.kinds import registry as run_kinds
from portal.runs.models import Run


class EnrolKind(run_kinds.RunKind):
    """Writes the values of an enrolment, or puts back what stood before."""

    name = ENROL_KIND
    title = "Enrol tables"
    queue = "plan"

    def execute(self, run: Run) -> dict[str, Any]:
        """Do as many batches as fit into one run."""
        enrolment = _of(run)
        undo = bool(run.params["undo"])
        if enrolment.state != (EnrolmentState.UNDOING if undo else EnrolmentState.RUNNING):
            return {"state": enrolment.state}
        if undo:
            n_left = enrolment_put_back(enrolment, run)
        else:
            n_left = enrolment_write(enrolment, run, now=timezone.now())
        return {"left": n_left}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Go on with the next part, or end the enrolment."""
        enrolment = _of(run)
        undo, part = bool(run.params["undo"]), int(run.params["part"])
        if enrolment.state != (EnrolmentState.UNDOING if undo else EnrolmentState.RUNNING):
            return
        now = timezone.now()
        if manifest["outcome"] != "done":
            if not will_try_again(self, run, manifest):
                _fail(enrolment, manifest, now=now)
            return
        with transaction.atomic():
            if manifest["result"].get("left"):
                enrolment_run(enrolment, undo=undo, part=part + 1, by=run.requested_by, now=now)
            else:
                to = EnrolmentState.UNDONE if undo else EnrolmentState.DONE
                enrolment_move(enrolment, to, now=now)


def register_enrol_kinds() -> None:
    """Tell the platform of the run and the approval of enrolments.

    No cooling-off: nothing is destroyed, owners are written to before anything goes, and one admin
    can take it back.
    """
    run_kinds.register(EnrolKind())
    approval_kinds.register(
        approval_kinds.ApprovalKind(
            name=APPROVAL_KIND,
            title="Enrolment",
            lock_object=_lock,
            requesters=enrolment_requesters,
            on_approved=_approved,
            on_rejected=_follow(EnrolmentState.REJECTED),
            on_lapsed=_follow(EnrolmentState.LAPSED),
            on_withdrawn=_follow(EnrolmentState.WITHDRAWN),
            cooling_off=timedelta(0),
        )
    )


def _of(run: Run) -> Enrolment:
    return Enrolment.objects.select_related("approval").get(pk=run.params["enrolment"])


def _lock(approval: Approval) -> None:
    """Lock the enrolment right after its approval."""
    Enrolment.objects.select_for_update().filter(pk=approval.object_id).first()


def _approved(approval: Approval, now: datetime) -> None:
    enrolment = Enrolment.objects.get(pk=approval.object_id)
    run = enrolment_run(enrolment, undo=False, part=0, by=enrolment.requested_by, now=now)
    enrolment_move(enrolment, EnrolmentState.RUNNING, now=now, run=run)


def _follow(to: EnrolmentState) -> approval_kinds.Hook:
    def hook(approval: Approval, now: datetime) -> None:
        enrolment = Enrolment.objects.get(pk=approval.object_id)
        enrolment_move(enrolment, to, note=approval.end_reason, now=now)

    return hook


def _fail(enrolment: Enrolment, manifest: dict[str, Any], *, now: datetime) -> None:
    error = manifest.get("error") or {}
    note = str(error.get("message") or f"Its run ended as {manifest['outcome']}.")
    with transaction.atomic():
        enrolment_move(enrolment, EnrolmentState.FAILED, note=note, now=now)
