"""Follows tickets: releases those whose table is ready, and compares what comes with them."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from pipelines.cdc.changes.domain.schemas import TableSchema
from pipelines.cdc.control.services.announced import Announced
from pipelines.cdc.control.services.preparing import is_prepared
from pipelines.cdc.schema.domain.classes import SchemaChange as Change
from pipelines.cdc.tickets.domain.matching import difference
from pipelines.cdc.tickets.domain.states import OPEN, TicketState, is_expired
from pipelines.cdc.tickets.selectors import changes_of, days_to_come, schema_ahead
from pipelines.cdc.tickets.services.dry_runs import dry_runs_failed
from pipelines.cdc.tickets.services.tickets import TICKETS
from pipelines.models import CapturedTable, SchemaTicket

_CAPTURE = "capture"
_EARLY = "The statement came before the ticket was approved"
_THEN = "It is decided as any change without a ticket."


def ticket_match(
    table: CapturedTable, seen: TableSchema, changes: Sequence[Change], *, now: datetime
) -> Announced | None:
    """Close the open ticket of a table by the change that came; returns it where it is the one."""
    open_rows = SchemaTicket.objects.select_for_update().filter(open_key=table.pk, state__in=OPEN)
    ticket = open_rows.first()
    if ticket is None:
        return None
    ticket.captured = table
    other = difference(schema_ahead(ticket), changes_of(ticket), seen, changes)
    if not other and ticket.state == TicketState.PENDING:
        other = f"{_EARLY}."
    SchemaTicket.objects.filter(pk=ticket.pk).update(seen_number=seen.number)
    if other:
        reason = f"Schema {seen.number} is not as announced. {other} {_THEN}"
        TICKETS.end(ticket, "DIFFERED", by=_CAPTURE, reason=reason, now=now)
        return None
    TICKETS.end(ticket, "APPLIED", by=_CAPTURE, reason="", now=now)
    return Announced(
        by=f"ticket {ticket.short_id}",
        reason=ticket.reason,
        choices=ticket.choices,
    )


def tickets_follow(lake: str, *, now: datetime) -> None:
    """Release tickets whose table is ready, and end those whose statement never came."""
    dry_runs_failed(lake)
    for ticket in SchemaTicket.objects.filter(lake=lake, state="APPROVED"):
        _release(ticket, now=now)
    for ticket in SchemaTicket.objects.filter(lake=lake, state="RELEASED"):
        days = days_to_come()
        if is_expired(ticket.released_at, days=days, now=now):
            reason = f"The statement did not come within {days} days. Open a new ticket for it."
            _end(ticket, "EXPIRED", reason, now=now)


@transaction.atomic
def _release(ticket: SchemaTicket, *, now: datetime) -> None:
    row = _locked(ticket, "APPROVED")
    if row is not None and is_prepared(row.captured):
        TICKETS.move(row, "RELEASED", now=now)


@transaction.atomic
def _end(ticket: SchemaTicket, to: str, reason: str, *, now: datetime) -> None:
    row = _locked(ticket, ticket.state)
    if row is not None:
        TICKETS.end(row, to, by="", reason=reason, now=now)


def _locked(ticket: SchemaTicket, state: str) -> SchemaTicket | None:
    rows = SchemaTicket.objects.select_for_update().filter(pk=ticket.pk, state=state)
    return rows.first()
