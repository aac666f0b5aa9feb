"""Reads of tickets, of what they predict, and of who reads the lake's table."""

from collections.abc import Sequence
from uuid import UUID

import msgspec
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.control.domain.plans import Decision
from pipelines.cdc.control.models import CapturedTable, Pipeline, SchemaChange
from pipelines.cdc.schema.domain.classes import SchemaChange as Change
from pipelines.cdc.schema.domain.targets import TargetChange, target_changes
from pipelines.cdc.tickets.domain.states import OPEN, Step, steps
from pipelines.models import SchemaTicket
from portal.access.models import User
from portal.approvals.rows import with_decisions
from portal.catalog.services.readers import Reader, readers_of_table
from portal.lake.errors import NotVisible, RuleViolation
from portal.ui.lists.filters import ListFilter, prefix

TICKET_ORDERS = {"-created": ("-created_at", "-pk"), "created": ("created_at", "pk")}


class TicketFilter(ListFilter):
    """Tickets by the source's table."""

    db = prefix("captured__db", "Database")
    table = prefix("captured__table", "Table")


def tickets_visible(lake: str, user: User) -> QuerySet[SchemaTicket]:
    """Return the tickets of a lake; for others than admins and operators there are none."""
    rows = SchemaTicket.objects.filter(lake=lake).select_related("captured__pipeline")
    return rows if user.is_lake_staff_of(lake) else rows.none()


def tickets_of(pipeline: Pipeline) -> QuerySet[SchemaTicket]:
    """Return the tickets of a pipeline."""
    rows = SchemaTicket.objects.filter(captured__pipeline=pipeline)
    return with_decisions(rows.select_related("captured__pipeline"))


def get_ticket_for_user(ticket_id: UUID | str, *, user: User) -> SchemaTicket:
    """Return one ticket, or raise NotVisible, whether it exists or not."""
    rows = SchemaTicket.objects.select_related("captured__pipeline", "approval")
    try:
        found = rows.filter(pk=ticket_id).first()
    except ValidationError:
        found = None
    if found is None or not user.is_lake_staff_of(found.lake):
        raise NotVisible("ticket.unknown", "There is no such ticket.")
    return found


def get_table_to_change(pipeline: Pipeline, db: str, table: str) -> CapturedTable:
    """Return a captured table whose schema may change now.

    Raises:
        RuleViolation: `ticket.captured`, it is not captured; `ticket.held`, a change of it waits or
            was refused.
    """
    row = pipeline.tables.filter(db=db, table=table).first()
    if row is None or row.refused or not row.schema_number:
        why = f": {row.refused}" if row is not None and row.refused else ""
        raise RuleViolation(
            "ticket.captured",
            f"Pipeline {pipeline.name} does not capture {db[:100]}.{table[:100]}{why}. Run the "
            "statement without a ticket, or add the table to the pipeline first.",
            field="table",
        )
    holding = [one.value for one in Decision if one.holds]
    own = row.schemas.filter(number__gte=row.first_schema, decision__in=holding)
    held = own.order_by("number").first()
    if held is not None:
        raise RuleViolation(
            "ticket.held",
            f"Schema {held.number} of {row} is {held.decision}, and later ones are kept behind it. "
            "Decide it, or load the table into a new one, before you open a ticket.",
            field="table",
        )
    return row


def newest_schema(table: CapturedTable) -> SchemaChange:
    """Return the schema that holds; the table has one."""
    return table.schemas.order_by("-number")[0]


def open_ticket_of(table: CapturedTable) -> SchemaTicket | None:
    """Return the ticket of a table whose statement has not come."""
    return SchemaTicket.objects.filter(open_key=table.pk, state__in=OPEN).first()


def changes_of(ticket: SchemaTicket) -> tuple[Change, ...]:
    """Return each single change, as the domain knows it."""
    return msgspec.convert(ticket.changes, tuple[Change, ...])


def schema_ahead(ticket: SchemaTicket) -> TableSchema:
    """Return the schema that the table has after the statement."""
    return TableSchema(
        db=ticket.captured.db,
        table=ticket.captured.table,
        number=ticket.base_number + 1,
        version=0,
        columns=msgspec.convert(ticket.columns, tuple[Column, ...]),
        key=tuple(ticket.key),
        ddl=ticket.statement,
    )


def needs_of(ticket: SchemaTicket) -> tuple[TargetChange, ...]:
    """Return what the lake's table needs for it."""
    return target_changes(changes_of(ticket), fixed=ticket.captured.partitioning)


def readers_of(ticket: SchemaTicket, user: User) -> Sequence[Reader]:
    """Return who is known to read the lake's table."""
    return readers_of_table(ticket.lake, ticket.db, ticket.table, user)


def steps_of_ticket(ticket: SchemaTicket) -> tuple[Step, ...]:
    """Return its way, with when it came to each step."""
    reached = {
        "PENDING": ticket.created_at,
        "APPROVED": ticket.approved_at,
        "RELEASED": ticket.released_at,
        "APPLIED": ticket.ended_at if ticket.state == "APPLIED" else None,
    }
    return steps(ticket.state, reached)


def days_to_come() -> int:
    """Return after how many days a released ticket expires."""
    return int(settings.LAKEWARDEN_CDC_TICKET_DAYS)
