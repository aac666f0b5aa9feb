"""Run kind and approval kind of enrollments. The platform drives them."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from lifecycle.enrollment.services.apply import enrollment_put_back, enrollment_write
from lifecycle.enrollment.services.enrollments import (
    ENROLL_KIND,
    ENROLLMENTS,
    enrollment_move,
    enrollment_run,
)
from lifecycle.models import Enrollment
from lifecycle.policies.domain.states import EnrollmentState
from portal.runs.execution.settling import will_try_again
from portal.runs.kinds import registry as run_kinds
from portal.runs.models import Run


class EnrollmentRunKind(run_kinds.RunKind):
    """Writes the values of an enrollment, or puts back what stood before."""

    name = ENROLL_KIND
    title = "Enroll tables"
    queue = "plan"

    def execute(self, run: Run) -> dict[str, Any]:
        """Do as many batches as fit into one run."""
        enrollment = _of(run)
        undo = bool(run.params["undo"])
        if enrollment.state != (EnrollmentState.UNDOING if undo else EnrollmentState.RUNNING):
            return {"state": enrollment.state}
        if undo:
            n_left = enrollment_put_back(enrollment, run)
        else:
            n_left = enrollment_write(enrollment, run, now=timezone.now())
        return {"left": n_left}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Go on with the next part, or end the enrollment."""
        enrollment = _of(run)
        undo, part = bool(run.params["undo"]), int(run.params["part"])
        if enrollment.state != (EnrollmentState.UNDOING if undo else EnrollmentState.RUNNING):
            return
        now = timezone.now()
        if manifest["outcome"] != "done":
            if not will_try_again(self, run, manifest):
                _fail(enrollment, manifest, now=now)
            return
        with transaction.atomic():
            if manifest["result"].get("left"):
                enrollment_run(enrollment, undo=undo, part=part + 1, by=run.requested_by, now=now)
            else:
                to = EnrollmentState.UNDONE if undo else EnrollmentState.DONE
                enrollment_move(enrollment, to, now=now)


def register_enroll_kinds() -> None:
    """Tell the platform of the run and the approval of enrollments."""
    run_kinds.register(EnrollmentRunKind())
    ENROLLMENTS.register()


def _of(run: Run) -> Enrollment:
    return Enrollment.objects.select_related("approval").get(pk=run.params["enrolment"])


def _fail(enrollment: Enrollment, manifest: dict[str, Any], *, now: datetime) -> None:
    error = manifest.get("error") or {}
    note = str(error.get("message") or f"Its run ended as {manifest['outcome']}.")
    with transaction.atomic():
        enrollment_move(enrollment, EnrollmentState.FAILED, reason=note, now=now)
