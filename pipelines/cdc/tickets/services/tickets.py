"""Tickets as proposals: what they are decided on, and what follows a decision.

A ticket never touches the source. Approved, it orders the columns that the lake's table needs; what
happens to records under the new schema is decided when the change comes.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from pipelines.cdc.control.domain.plans import DecidedSchema, Decision, choices_of
from pipelines.cdc.control.services.pipelines import locked_table
from pipelines.cdc.control.services.preparing import table_prepare
from pipelines.cdc.tickets.domain.states import AHEAD, TRANSITIONS
from pipelines.cdc.tickets.selectors import (
    changes_of,
    get_ticket_for_user,
    schema_ahead,
    tickets_visible,
)
from pipelines.models import SchemaTicket
from portal.access.models import User
from portal.approvals.changes import Changes
from portal.approvals.domain import DecisionInput, DecisionKind, content_digest
from portal.approvals.models import Approval
from portal.approvals.proposals import ProposalKind
from portal.approvals.selectors import Steps, approvers
from portal.lake.errors import NotAllowed, StaleState
from portal.lake.reasons import check_text

APPROVAL_KIND = "pipelines.schema_ticket"


class SchemaTickets(ProposalKind[SchemaTicket]):
    """Announced changes of schema; nobody approves his own.

    No cooling-off: nothing is destroyed, and the lake's table only gets wider.
    """

    name = APPROVAL_KIND
    title = "Ticket for a change of schema"
    model = SchemaTicket
    page = "pipelines:schema-ticket"
    transitions: ClassVar[Mapping[Any, Any]] = TRANSITIONS
    open_states = frozenset({"PENDING"})
    cooling_off = timedelta(0)
    acts_at_once = True
    audited_as = "schema_ticket"
    audits_moves = True
    reason_key = "note"
    closed = ("ticket.closed", "It is already {state}.")
    changed = ("ticket.changed", "The table or the ticket is not as it was read. Reload it.")
    moved_on = ("ticket.closed", "It has changed since this page was loaded. Reload it.")
    no_reason = ("ticket.reason", "Enter a reason for rejecting it.")

    def get_for_user(self, proposal_id: UUID | str, *, user: User) -> SchemaTicket:
        """Return one ticket, or raise NotVisible."""
        return get_ticket_for_user(proposal_id, user=user)

    def visible(self, lake: str, user: User) -> QuerySet[SchemaTicket]:
        """Return the tickets that a person may see."""
        return tickets_visible(lake, user)

    def changes(self, proposal: SchemaTicket, user: User) -> Changes | None:
        """Return the last ticket of the same table."""
        rows = self.visible(proposal.lake, user).filter(
            captured=proposal.captured_id, created_at__lt=proposal.created_at
        )
        last = rows.order_by("-created_at").first()
        return None if last is None else Changes(last, self.url_of(last))

    def digest_of(self, proposal: SchemaTicket) -> str:
        """Return the digest of the ticket, on the schema that holds now."""
        return ticket_digest(proposal)

    def columns(
        self, proposal: SchemaTicket, to: str, *, by: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Return when it came to a state, why it ended, and that its caller is to be told."""
        told = {"callback_at": now, "callback_tries": 0} if proposal.callback_url else {}
        if to == "APPROVED":
            return {"approved_at": now}
        if to == "RELEASED":
            return {"released_at": now, **told}
        return {"note": reason, "ended_at": now, "open_key": None, **told}

    def facts(self, proposal: SchemaTicket) -> dict[str, Any]:
        """Return what every audit event of a ticket says."""
        return {
            "table": f"{proposal.db}.{proposal.table}",
            "statement": proposal.statement[:1000],
            "digest": proposal.digest,
        }

    def check_answer(self, proposal: SchemaTicket, answer: DecisionInput, *, user: User) -> None:
        """Refuse to approve before the rows are counted that it would lose."""
        if answer.decision == DecisionKind.APPROVE and is_counting(proposal):
            raise StaleState(
                "ticket.counting", "The rows that it would lose are being counted. Wait for them."
            )

    def other_steps(self, proposal: SchemaTicket, user: User) -> Steps:
        """Let who opened it take back what is approved, until the statement comes."""
        is_own = user.username == proposal.requested_by
        return Steps(withdraw=is_own and proposal.state in AHEAD)

    def on_approved(self, proposal: SchemaTicket, approval: Approval, *, now: datetime) -> None:
        """Order what the lake's table needs."""
        by = ", ".join(approvers(approval))
        self.move(proposal, "APPROVED", by=by, now=now)
        lake_prepare(proposal)


TICKETS = SchemaTickets()


@transaction.atomic
def ticket_withdraw(
    ticket_id: UUID | str, *, user: User, reason: str, now: datetime
) -> SchemaTicket:
    """Take a ticket back, by who opened it; also an approved one, until its statement came.

    Raises:
        NotVisible, NotAllowed: not this person's to see or to take back.
        StaleState: somebody is deciding already, or it has ended; so it is the second time.
    """
    found = get_ticket_for_user(ticket_id, user=user)
    if found.state not in AHEAD:
        return TICKETS.withdraw(ticket_id, user=user, reason=reason, now=now)
    if user.username != found.requested_by:
        raise NotAllowed("ticket.maker", "Only who opened a ticket withdraws it.")
    check_text(reason)
    TICKETS.end(found, "WITHDRAWN", by=user.username, reason=reason.strip(), now=now)
    return found


def lake_prepare(ticket: SchemaTicket) -> None:
    """Order the columns that the lake's table needs, in the caller's transaction."""
    choices, protections = choices_of(ticket.choices)
    ahead = DecidedSchema(
        schema_ahead(ticket),
        Decision.APPROVED,
        changes_of(ticket),
        choices=choices,
        protections=protections,
    )
    table_prepare(locked_table(ticket.captured), ahead)


def is_counting(ticket: SchemaTicket) -> bool:
    """Whether its dry run has not ended."""
    return ticket.dry_run is not None and ticket.counted is None and not ticket.count_problem


def ticket_digest(ticket: SchemaTicket) -> str:
    """Return the sha256 of a ticket; what is approved is exactly that, on that schema."""
    content = [
        *(ticket.captured_id, ticket.captured.schema_number, ticket.base_number),
        *(ticket.statement, ticket.columns, ticket.key, ticket.choices),
    ]
    return content_digest(content)
