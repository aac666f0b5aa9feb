"""Tells the caller of a ticket, at an address of an allow-list, which state it has come to."""

from datetime import datetime

from pipelines.models import SchemaTicket
from portal.lake.errors import PortalError, RuleViolation
from portal.notices.callbacks import callback_again, callback_post, callback_target
from portal.notices.webhook import Resolver, Target, resolve

MOST_AT_ONCE = 5


def ticket_target(url: str) -> Target:
    """Read the address of a callback.

    Raises:
        RuleViolation: `ticket.callback`, it is not allowed, and which setting says so.
    """
    try:
        return callback_target(url, name="The callback's URL")
    except RuleViolation as error:
        raise RuleViolation("ticket.callback", error.message, field="callback_url") from error


def callbacks_send(lake: str, *, now: datetime, resolver: Resolver = resolve) -> None:
    """Send what is due; one that fails is tried again, with longer pauses, eight times."""
    due = SchemaTicket.objects.filter(lake=lake, callback_at__lte=now)
    for ticket in due.select_related("captured__pipeline").order_by("callback_at")[:MOST_AT_ONCE]:
        # A move of the ticket meanwhile sets another time, and is then told too.
        rows = SchemaTicket.objects.filter(pk=ticket.pk, callback_at=ticket.callback_at)
        try:
            callback_post(ticket_target(ticket.callback_url), _body(ticket), resolver=resolver)
        except PortalError as error:
            tries = ticket.callback_tries + 1
            again = callback_again(error, n_tries=tries, now=now)
            rows.update(callback_tries=tries, callback_at=again, callback_problem=error.message)
        else:
            rows.update(callback_at=None, callback_sent_at=now, callback_problem="")


def _body(ticket: SchemaTicket) -> dict[str, str]:
    return {
        "ticket": str(ticket.pk),
        "state": ticket.state,
        "pipeline": ticket.captured.pipeline.name,
        "table": str(ticket.captured),
        "note": ticket.note,
    }
