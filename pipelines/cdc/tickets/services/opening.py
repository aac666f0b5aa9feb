"""Opens tickets: predicts what a statement does, and puts it to people where that is needed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
from django.db import IntegrityError, transaction

from pipelines.cdc.control.models import CapturedTable, Pipeline
from pipelines.cdc.control.services.pipelines import check_staff, locked_table
from pipelines.cdc.control.services.reports import schema_of
from pipelines.cdc.protecting.domain.protections import Protection
from pipelines.cdc.protecting.services.lake_keys import check_keys
from pipelines.cdc.schema.domain.type_changes import Class
from pipelines.cdc.tickets.domain.prediction import Prediction, check_choices, predict
from pipelines.cdc.tickets.selectors import (
    get_table_to_change,
    newest_schema,
    open_ticket_of,
)
from pipelines.cdc.tickets.services.callbacks import ticket_target
from pipelines.cdc.tickets.services.dry_runs import dry_run_request
from pipelines.cdc.tickets.services.tickets import TICKETS, lake_prepare, ticket_digest
from pipelines.models import SchemaTicket
from portal.access.actors import Actor
from portal.lake.errors import RuleViolation
from portal.lake.reasons import given_reason


@dataclass(frozen=True, slots=True)
class Wanted:
    """A statement that somebody means to run at the source."""

    db: str
    table: str
    statement: str
    reason: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    """New column -> its protection: `plain`, `encrypted:PII`."""
    callback_url: str = ""


def ticket_predict(pipeline: Pipeline, wanted: Wanted, *, by: Actor) -> Prediction:
    """Return what a statement does; nothing is stored.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: the statement is no single change of a captured table.
    """
    check_staff(by)
    row = get_table_to_change(pipeline, wanted.db, wanted.table)
    return _predicted(row, wanted)


def ticket_open(pipeline: Pipeline, wanted: Wanted, *, by: Actor, now: datetime) -> SchemaTicket:
    """Open a ticket; the same statement again, while it is open, gives the same ticket.

    A change that loses nothing approves itself; one that the lake's table cannot follow ends at
    once as rejected, with the reason.

    Raises:
        NotAllowed: for others than admins and operators.
        RuleViolation: the statement is no single change of a captured table, a column has no
            choice or a key of another lake, another ticket of the table is open, or the callback is
            not allowed.
    """
    check_staff(by)
    said = given_reason(wanted.reason, "ticket.reason", field="reason")
    if wanted.callback_url:
        ticket_target(wanted.callback_url)
    row = get_table_to_change(pipeline, wanted.db, wanted.table)
    try:
        with transaction.atomic():
            row = locked_table(row)
            if (known := open_ticket_of(row)) is not None:
                return _same(known, wanted)
            prediction = _predicted(row, wanted)
            choices = check_choices(prediction, wanted.choices)
            check_keys(row.lake, map(Protection.parse, choices.values()))
            ticket = SchemaTicket(
                state="PENDING",
                lake=row.lake,
                db=row.target_db,
                table=row.target_table,
                captured=row,
                base_number=row.schema_number,
                statement=wanted.statement.strip(),
                columns=msgspec.to_builtins(prediction.schema.columns),
                key=list(prediction.schema.key),
                change_class=prediction.cls.value,
                changes=msgspec.to_builtins(prediction.changes),
                choices=choices,
                requested_by=by.name,
                reason=said,
                created_at=now,
                callback_url=wanted.callback_url,
                open_key=row.pk,
            )
            ticket.digest = ticket_digest(ticket)
            ticket.save(force_insert=True)
            TICKETS.audit("opened", ticket, actor=by.name, now=now)
            _put(ticket, prediction, by=by.name, now=now)
    except IntegrityError:
        known = open_ticket_of(row)
        if known is None:
            raise
        return _same(known, wanted)
    return ticket


def _predicted(row: CapturedTable, wanted: Wanted) -> Prediction:
    schema = schema_of(row, newest_schema(row))
    return predict(schema, wanted.statement.strip(), fixed=row.partitioning)


def _put(ticket: SchemaTicket, prediction: Prediction, *, by: str, now: datetime) -> None:
    """Decide by the class, or ask people."""
    if prediction.cls is Class.AUTO:
        TICKETS.move(ticket, "APPROVED", by="rules", now=now)
        lake_prepare(ticket)
        return
    if prediction.cls is Class.REFUSED:
        TICKETS.end(ticket, "REJECTED", by="rules", reason=_why_refused(prediction), now=now)
        return
    dry_run_request(ticket, prediction, by=by, now=now)
    ticket.save(update_fields=["dry_run"])
    TICKETS.ask_one(ticket, by=by, now=now)


def _why_refused(prediction: Prediction) -> str:
    reasons = [one.reason for one in prediction.changes if one.cls is Class.REFUSED]
    reasons = reasons or [one.reason for one in prediction.needs]
    return (
        f"{' '.join(reasons)[:700]} The lake's table cannot follow: load the table into a new "
        "pipeline, or end its capture, and run the statement then."
    )


def _same(known: SchemaTicket, wanted: Wanted) -> SchemaTicket:
    if (known.statement, known.choices) == (wanted.statement.strip(), dict(wanted.choices)):
        return known
    raise RuleViolation(
        "ticket.open",
        f"{known} is open for the table. Wait until its statement has run, or withdraw it.",
        field="table",
    )
