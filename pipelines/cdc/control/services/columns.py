"""Says how the lake may have a column that a source added: its values stay aside until then."""

from datetime import datetime

from django.db import transaction

from pipelines.cdc.control.domain.plans import Choice, choice_of
from pipelines.cdc.control.services.orders import plan_of
from pipelines.cdc.control.services.pipelines import (
    check_reason_given,
    check_staff,
    load_again,
    locked_table,
    table_record,
)
from pipelines.cdc.control.services.reports import schema_of
from pipelines.cdc.protecting.domain.columns import check_column, lake_types
from pipelines.cdc.protecting.services.lake_keys import check_keys
from pipelines.cdc.schema.domain.unlogged import has_values_before
from pipelines.models import CapturedTable
from portal.access.actors import Actor
from portal.lake.errors import RuleViolation, StaleState


def column_choose(
    table: CapturedTable, column: str, said: str, *, reason: str, by: Actor, now: datetime
) -> None:
    """Say that the lake has a column, whose values aside are then filled in, or never has it.

    Where rows that were there before it have a value too, the table is loaded again.

    `said` is `refused`, or the protection with which the lake has it: `plain`, `encrypted:PII`.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: without a reason, with a word that is none, or a key of another lake.
        StaleState: the column does not wait any more.
    """
    check_staff(by)
    because = check_reason_given(reason)
    choice, protection = choice_of(said)
    if choice is Choice.PENDING:
        raise RuleViolation("pipeline.choice", "Say refused or a protection.", field="choice")
    check_keys(table.lake, [protection])
    with transaction.atomic():
        row = locked_table(table)
        plan = plan_of(row, row.schemas.all())
        if column not in plan.pending:
            raise StaleState(
                "pipeline.column", f"Column {column} does not wait for a word any more. Reload."
            )
        number, name = plan.origins[column]
        change = row.schemas.get(number=number)
        schema = schema_of(row, change)
        check_column(str(row), name, protection, lake_types(schema))
        change.column_choices = {**change.column_choices, name: said}
        change.save(update_fields=["column_choices"])
        added = schema.column(name)
        if choice is Choice.LIVE and added is not None and has_values_before(added):
            load_again(row)
        table_record(
            "column_chosen",
            row,
            by=by.name,
            data={"column": column, "choice": said, "reason": because},
            now=now,
        )
