"""Orders the capture to write rows again that differ in the lake; it alone writes the changelog.

The order names keys, no values: the capture reads each as the source has it then. A row that the
source does not have is deleted from the lake.
"""

from datetime import datetime

from django.db import IntegrityError, transaction

from pipelines.cdc.control.services.pipelines import (
    check_reason_given,
    check_staff,
    locked_table,
    table_record,
)
from pipelines.models import CapturedTable, TableComparison, TableRepair
from portal.access.actors import Actor
from portal.lake.errors import NotAllowed, StaleState

MOST_WITHOUT_ADMIN = 1_000


def needs_admin(comparison: TableComparison) -> bool:
    """Whether only an admin who logged in just now may repair what a comparison found."""
    return comparison.n_extra > 0 or comparison.n_differences > MOST_WITHOUT_ADMIN


def repair_request(
    table: CapturedTable, comparison_id: int, *, reason: str, by: Actor, now: datetime
) -> TableRepair:
    """Order the repair of what the last comparison of a table found; again: the same order.

    Raises:
        NotAllowed: `pipeline.role`; `pipeline.repair`, rows are deleted or many, and it is no
            admin with a fresh log-in who asks.
        RuleViolation: without a reason.
        StaleState: `comparison.old`, the table was compared since, or nothing differs.
    """
    check_staff(by)
    said = check_reason_given(reason)
    with transaction.atomic():
        row = locked_table(table)
        last = row.comparisons.order_by("-compared_at", "-pk").first()
        if last is None or last.pk != comparison_id or last.state != "different":
            raise StaleState(
                "comparison.old",
                "The table was compared again since, or nothing differs any more. Reload its page.",
            )
        known = TableRepair.objects.filter(comparison=last).first()
        if known is not None:
            return known
        _check_may(last, by)
        return _order(row, last, reason=said, by=by, now=now)


def _check_may(comparison: TableComparison, by: Actor) -> None:
    if needs_admin(comparison) and not (by.is_admin and by.is_fresh):
        raise NotAllowed(
            "pipeline.repair",
            "This repair deletes rows from the lake, or writes more than "
            f"{MOST_WITHOUT_ADMIN:,}: only an admin orders it, within 15 minutes of a log-in. "
            "Log in again at /login/again/ and repeat it.",
        )


def _order(
    row: CapturedTable, comparison: TableComparison, *, reason: str, by: Actor, now: datetime
) -> TableRepair:
    try:
        made = TableRepair.objects.create(
            captured=row,
            comparison=comparison,
            requested_by=by.name,
            requested_at=now,
            reason=reason,
            n_keys=comparison.keys.count(),
        )
    except IntegrityError as error:
        raise StaleState("comparison.old", "Somebody else ordered it just now.") from error
    table_record(
        "repair_ordered",
        row,
        by=by.name,
        data={
            "reason": reason,
            "missing": comparison.n_missing,
            "extra": comparison.n_extra,
            "different": comparison.n_different,
        },
        now=now,
    )
    return made
