"""Has the records in quarantine of a table applied again."""

from datetime import datetime

from django.db import transaction

from pipelines.cdc.control.services.pipelines import (
    check_reason_given,
    check_staff,
    locked_table,
)
from pipelines.models import CapturedTable
from portal.access.actors import Actor
from portal.audit.services import audit_record


def quarantine_retry(table: CapturedTable, *, reason: str, by: Actor, now: datetime) -> None:
    """Have them applied again by version; what still does not fit comes back.

    Twice, they are tried twice.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: without a reason.
    """
    check_staff(by)
    said = check_reason_given(reason)
    with transaction.atomic():
        row = locked_table(table)
        row.retry = f"{now:%Y%m%dT%H%M%S.%f}"
        row.save(update_fields=["retry"])
        audit_record(
            "pipelines.quarantine_retried",
            actor=by.name,
            lake=row.lake,
            object_type="captured_table",
            object_id=f"{row.pipeline.name}/{row}",
            data={"n": row.n_quarantined, "reason": said},
            now=now,
        )
