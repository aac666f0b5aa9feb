"""Says how the lake may have a column that a source added: its values stay aside until then."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from pipelines.cdc.control.domain.plans import Choice
from pipelines.cdc.control.services.orders import plan_of
from pipelines.cdc.control.services.pipelines import (
    check_reason_given,
    check_staff,
    load_again,
    locked_table,
)
from pipelines.cdc.control.services.reports import schema_of
from pipelines.cdc.schema.domain.unlogged import has_values_before
from pipelines.models import CapturedTable
from portal.access.actors import Actor
from portal.audit.services import audit_record
from portal.lake.errors import RuleViolation, StaleState


def columns_pending(table: CapturedTable) -> tuple[str, ...]:
    """Return the columns of a table that wait for somebody's word."""
    return plan_of(table, table.schemas.all()).pending


def choices_handed_over(said: Mapping[str, str]) -> dict[str, Choice]:
    """Return what may be done at once with columns of which an owner spoke before they came.

    A protection that the apply does not know leaves its column aside: no value is written plainly
    that somebody wanted protected.
    """
    known = {one.value: one for one in Choice if one is not Choice.REFUSED}
    return {column: known.get(one, Choice.PENDING) for column, one in said.items()}


def column_choose(
    table: CapturedTable, column: str, choice: Choice, *, reason: str, by: Actor, now: datetime
) -> None:
    """Say that the lake has a column, whose values aside are then filled in, or never has it.

    Where rows that were there before it have a value too, the table is loaded again.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: without a reason, or with a choice that is none.
        StaleState: the column does not wait any more.
    """
    check_staff(by)
    said = check_reason_given(reason)
    if choice is Choice.PENDING:
        raise RuleViolation("pipeline.choice", "Say plain or refused.", field="choice")
    with transaction.atomic():
        row = locked_table(table)
        if column not in columns_pending(row):
            raise StaleState(
                "pipeline.column", f"Column {column} does not wait for a word any more. Reload."
            )
        change = next(
            one
            for one in row.schemas.order_by("-number")
            if any(part["what"] == "add" and part["column"] == column for part in one.changes)
        )
        change.column_choices = {**change.column_choices, column: choice.value}
        change.save(update_fields=["column_choices"])
        added = schema_of(row, change).column(column)
        if choice is Choice.PLAIN and added is not None and has_values_before(added):
            load_again(row)
        audit_record(
            "pipelines.column_chosen",
            actor=by.name,
            lake=row.lake,
            object_type="captured_table",
            object_id=f"{row.pipeline.name}/{row}",
            data={"column": column, "choice": choice.value, "reason": said},
            now=now,
        )
