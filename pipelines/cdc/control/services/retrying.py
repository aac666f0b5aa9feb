"""Has the records in quarantine of a table applied again."""

from datetime import datetime

from django.db import transaction

from pipelines.cdc.control.services.pipelines import (
    check_reason_given,
    check_staff,
    locked_table,
    table_record,
)
from pipelines.models import CapturedTable
from portal.access.actors import Actor


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
        table_record(
            "quarantine_retried",
            row,
            by=by.name,
            data={"n": row.n_quarantined, "reason": said},
            now=now,
        )
