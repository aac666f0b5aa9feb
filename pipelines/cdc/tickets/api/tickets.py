"""API of tickets: a migration tool opens one, and asks until it is released."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from pipelines.cdc.control.selectors.pipelines import get_pipeline_for_user
from pipelines.cdc.tickets.api.serializers import TicketOpenSerializer, TicketSerializer
from pipelines.cdc.tickets.selectors import (
    TICKET_ORDERS,
    TicketFilter,
    get_ticket_for_user,
    tickets_of,
)
from pipelines.cdc.tickets.services.opening import Wanted, ticket_open
from pipelines.cdc.tickets.services.tickets import ticket_withdraw
from portal.access.actors import Actor
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer


class TicketList(KeysetList):
    """Tickets of a pipeline."""

    operation_id = "pipelines_tickets"
    page_name = "SchemaTicket"
    serializer_class = TicketSerializer
    filterset_class = TicketFilter
    orders = TICKET_ORDERS

    def get_queryset(self) -> Rows:
        """List the tickets of a pipeline (admins and operators)."""
        return tickets_of(get_pipeline_for_user(self.kwargs["name"], user=self.user))

    @operation(
        "pipelines_ticket_open", body=TicketOpenSerializer, answer=TicketSerializer, status=201
    )
    def post(self, name: str) -> object:
        """Open a ticket before a statement runs; sent again while it is open: the same ticket."""
        found = get_pipeline_for_user(name, user=self.user)
        wanted, now = Wanted(**self.data), timezone.now()
        made = ticket_open(found, wanted, by=Actor.of(self.user, lake=found.lake), now=now)
        return get_ticket_for_user(made.pk, user=self.user)


class TicketDetail(ApiView):
    """One ticket."""

    @operation("pipelines_ticket", answer=TicketSerializer)
    def get(self, ticket_id: UUID) -> object:
        """Return a ticket; once its state is RELEASED, the statement may run."""
        return get_ticket_for_user(ticket_id, user=self.user)


class TicketWithdraw(ApiView):
    """Withdrawing a ticket."""

    @operation("pipelines_ticket_withdraw", body=ReasonSerializer, answer=TicketSerializer)
    def post(self, ticket_id: UUID) -> object:
        """Take a ticket back, by who opened it, before its statement came."""
        data: dict[str, Any] = self.data
        ticket_withdraw(ticket_id, user=self.user, reason=data["reason"], now=timezone.now())
        return get_ticket_for_user(ticket_id, user=self.user)
