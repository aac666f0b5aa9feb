"""Writes an approved enrollment's values table by table, and puts the old ones back on undo.

Runs in a worker, in batches. What stood on a table is stored before it is written, so that undo
knows it whatever dies when; a batch that was half done is simply done again.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from lifecycle.enrollment.services.enrollments import APPROVAL_KIND, enrollment_digest
from lifecycle.inventory.selectors.policy import is_written_to
from lifecycle.models import Enrollment, EnrollmentItem
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.domain.states import EnrollmentItemState, EnrollmentState
from lifecycle.policies.services.apply import policy_seen_store, values_json
from lifecycle.policies.services.metastore import (
    Standing,
    table_put_back,
    table_set,
    table_standing,
)
from portal.access.lakes import get_lake
from portal.approvals.services import approval_check, approval_use
from portal.audit.services import AuditEntry, audit_record_many
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, NotVisible, PortalError, StaleState
from portal.lake.names import TableName
from portal.runs.models import Run
from portal.safety.selectors import emergency_stop_state

BATCH = 50
SECONDS = 200.0

Step = Callable[[Metastore, EnrollmentItem], Standing]


def enrollment_write(enrollment: Enrollment, run: Run, *, now: datetime) -> int:
    """Write the values of an approved enrollment while there is time; returns how many are left.

    Raises:
        StaleState: not approved as it stands, or the emergency stop is on.
        ExternalFailure: the metastore is away; the run is tried again.
    """
    _check_may_run(enrollment, now=now)
    return _batches(enrollment, EnrollmentItemState.PENDING, _setting(enrollment), run=run)


def enrollment_put_back(enrollment: Enrollment, run: Run) -> int:
    """Put back what stood before, while there is time; returns how many tables are left.

    Raises:
        ExternalFailure: the metastore is away; the run is tried again.
    """
    return _batches(enrollment, EnrollmentItemState.DONE, _putting_back(enrollment), run=run)


def _check_may_run(enrollment: Enrollment, *, now: datetime) -> None:
    """Ask once more: these very tables and values, approved, and no emergency stop."""
    digest = enrollment_digest(enrollment, enrollment.items.all())
    approval = approval_check(
        APPROVAL_KIND,
        object_id=str(enrollment.pk),
        digest=digest,
        now=now,
        run_id=str(enrollment.pk),
    )
    approval_use(approval.pk, run_id=str(enrollment.pk), now=now)
    if emergency_stop_state(enrollment.lake) is not None:
        raise StaleState("red_button.on", "The emergency stop is on: no table is enrolled.")


def _batches(enrollment: Enrollment, source: EnrollmentItemState, step: Step, *, run: Run) -> int:
    """Do one batch after the other while there is time; returns how many tables are left."""
    deadline = time.monotonic() + SECONDS
    waiting = EnrollmentItem.objects.filter(enrollment=enrollment, state=source).order_by("pk")
    with Metastore.connect(get_lake(enrollment.lake)) as metastore:
        while (items := list(waiting[:BATCH])) and time.monotonic() < deadline:
            if source is EnrollmentItemState.PENDING:
                _remember(enrollment, metastore, items)
            done = [(item, _try(step, metastore, item, enrollment)) for item in items]
            _store(enrollment, done, run=run, now=timezone.now())
    return waiting.count()


def _remember(
    enrollment: Enrollment, metastore: Metastore, items: Sequence[EnrollmentItem]
) -> None:
    """Store what stands on the tables, unless an earlier try has: undo will need it."""
    new = [item for item in items if item.before is None]
    for item in new:
        try:
            item.before = dict(table_standing(metastore, _name(enrollment, item)).raw)
        except NotVisible:
            continue  # told by the step itself
    EnrollmentItem.objects.bulk_update(new, ["before"])


def _setting(enrollment: Enrollment) -> Step:
    def step(metastore: Metastore, item: EnrollmentItem) -> Standing:
        if not is_written_to(enrollment.lake, item.db):
            raise StaleState("policy.observed", f"{item.db} is in Monitor only by now.")
        name = _name(enrollment, item)
        table_set(metastore, name, seen=item.seen, wanted=enrollment.wanted)
        item.state, item.note = EnrollmentItemState.DONE, ""
        return table_standing(metastore, name)

    return step


def _putting_back(enrollment: Enrollment) -> Step:
    def step(metastore: Metastore, item: EnrollmentItem) -> Standing:
        name = _name(enrollment, item)
        table_put_back(metastore, name, ours=enrollment.wanted, raw=item.before or {})
        item.state, item.note = EnrollmentItemState.UNDONE, ""
        return table_standing(metastore, name)

    return step


def _try(
    step: Step, metastore: Metastore, item: EnrollmentItem, enrollment: Enrollment
) -> Standing | None:
    """Do one table; what cannot be done is noted on it, and the others go on."""
    is_undo = enrollment.state == EnrollmentState.UNDOING
    try:
        return step(metastore, item)
    except (StaleState, NotVisible) as error:
        item.state = EnrollmentItemState.KEPT if is_undo else EnrollmentItemState.SKIPPED
        item.note = error.message
    except ExternalFailure as error:
        if error.retryable:
            raise
        item.state = EnrollmentItemState.KEPT if is_undo else EnrollmentItemState.FAILED
        item.note = error.message
    except PortalError as error:
        item.state = EnrollmentItemState.KEPT if is_undo else EnrollmentItemState.FAILED
        item.note = error.message
    return None


def _store(
    enrollment: Enrollment,
    done: Sequence[tuple[EnrollmentItem, Standing | None]],
    *,
    run: Run,
    now: datetime,
) -> None:
    """Store a batch's results and record each change, in one transaction."""
    undo = enrollment.state == EnrollmentState.UNDOING
    changed = [(item, after) for item, after in done if after is not None]
    with transaction.atomic():
        EnrollmentItem.objects.bulk_update([item for item, _ in done], ["state", "note"])
        for item, after in changed:
            policy_seen_store(enrollment.lake, item.db, item.table, after, now=now)
        audit_record_many(
            [_entry(enrollment, item, after.values, undo=undo, run=run) for item, after in changed],
            now=now,
        )


def _entry(
    enrollment: Enrollment, item: EnrollmentItem, after: Values, *, undo: bool, run: Run
) -> AuditEntry:
    before = enrollment.wanted if undo else item.seen
    return AuditEntry(
        "policy.changed",
        enrollment.undo_by if undo else enrollment.requested_by,
        enrollment.lake,
        "table",
        str(item),
        {
            "from": values_json(before),
            "to": values_json(after),
            "through": "portal",
            "reason": enrollment.undo_reason if undo else enrollment.reason,
            "enrolment": str(enrollment.pk),
            "run": str(run.pk),
        },
    )


def _name(enrollment: Enrollment, item: EnrollmentItem) -> TableName:
    return TableName(get_lake(enrollment.lake).lake, item.db, item.table)
