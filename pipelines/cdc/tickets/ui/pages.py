"""The pages of tickets: those of a pipeline, the form of a new one, and one with its steps."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from pipelines.cdc.control.selectors.pipelines import get_pipeline_for_user
from pipelines.cdc.control.ui.pages import captured_url
from pipelines.cdc.tickets.domain.prediction import Prediction
from pipelines.cdc.tickets.selectors import (
    TICKET_ORDERS,
    TicketFilter,
    changes_of,
    days_to_come,
    get_ticket_for_user,
    needs_of,
    readers_of,
    steps_of_ticket,
    tickets_of,
)
from pipelines.cdc.tickets.services.opening import ticket_open, ticket_predict
from pipelines.cdc.tickets.services.tickets import TICKETS, is_counting, ticket_withdraw
from pipelines.cdc.tickets.ui.forms import TicketForm, tables_hint
from pipelines.models import Pipeline, SchemaTicket
from portal.access.actors import Actor
from portal.lake.errors import PortalError
from portal.ui.frame.context import person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column, Table
from portal.ui.proposals import decide_page, proposal_context, reasoned_page


def ticket_url(ticket: SchemaTicket) -> str:
    """Return the page of a ticket."""
    return reverse("pipelines:schema-ticket", args=[ticket.pk])


TICKETS_LISTED = (
    Column(key="short_id", title="Ticket", kind="code", url=ticket_url),
    Column(key="status", title="State", kind="state"),
    Column(key="captured.__str__", title="Source table", kind="code"),
    Column(key="statement", title="Statement", kind="code", is_wide=True),
    Column(key="change_class", title="Class", shown_from="tablet"),
    Column(key="requested_by", title="Opened by", shown_from="tablet"),
    Column(key="created_at", title="Opened", kind="ago", sort="created"),
)


@require_GET
def tickets(request: HttpRequest, name: str) -> HttpResponseBase:
    """List the tickets of a pipeline, the newest first, also as CSV."""
    found = get_pipeline_for_user(name, user=person(request))
    chosen = TicketFilter(request.GET, queryset=tickets_of(found))
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        ordered = rows.order_by("-created_at", "-pk").iterator(chunk_size=2_000)
        return stream_csv(ordered, TICKETS_LISTED, filename=f"{found.name}-tickets.csv")
    page = keyset_page(rows, request.GET, orders=TICKET_ORDERS)
    table = Table(TICKETS_LISTED, page.rows, "Tickets", tuple(TICKET_ORDERS), page.sort)
    context: dict[str, Any] = {"found": found, "filter": chosen, "page": page, "table": table}
    return render(request, "pipelines/tickets.html", context)


@require_http_methods(["GET", "POST"])
def ticket_create(request: HttpRequest, name: str) -> HttpResponse:
    """Show what a statement will do (do=check), then open a ticket for it (do=open)."""
    found = get_pipeline_for_user(name, user=person(request))
    by, now = Actor.of(person(request), lake=found.lake), timezone.now()
    prediction: Prediction | None = None
    form = TicketForm(request.POST) if request.method == "POST" else TicketForm()
    if form.is_valid():
        try:
            prediction = ticket_predict(found, form.wanted(), by=by)
            is_open = request.POST.get("do") == "open"
            form = _with_choices(request, prediction, is_bound=is_open)
            if is_open and form.is_valid():
                made = ticket_open(found, form.wanted(), by=by, now=now)
                messages.success(request, _said(made))
                return HttpResponseRedirect(ticket_url(made))
        except PortalError as error:
            form.add_error(None, error.message)
    status = 400 if request.method == "POST" and form.errors else 200
    return render(
        request,
        "pipelines/ticket_create.html",
        _form_context(found, form, prediction),
        status=status,
    )


@require_GET
def schema_ticket(request: HttpRequest, ticket_id: UUID) -> HttpResponse:
    """Show what a statement will do, who reads the table, and how far the ticket is."""
    user = person(request)
    found = get_ticket_for_user(ticket_id, user=user)
    context: dict[str, Any] = {
        "found": found,
        **proposal_context(TICKETS, found, user, decide="pipelines:schema-ticket-decide"),
        "captured": found.captured,
        "captured_url": captured_url(found.captured),
        "steps": steps_of_ticket(found),
        "parts": changes_of(found),
        "needs": needs_of(found),
        "readers": readers_of(found, user),
        "is_counting": is_counting(found),
        "days": days_to_come(),
    }
    return render(request, "pipelines/ticket.html", context)


schema_ticket_decide_view = decide_page(TICKETS, ticket_url)
schema_ticket_withdraw_view = reasoned_page(ticket_withdraw, ticket_url, done="It is withdrawn.")


def _with_choices(request: HttpRequest, prediction: Prediction, *, is_bound: bool) -> TicketForm:
    """Return the form with a choice for each new column; shown first, nothing is chosen yet."""
    if is_bound:
        return TicketForm(request.POST, added=prediction.added)
    return TicketForm(initial=request.POST.dict(), added=prediction.added)


def _form_context(
    found: Pipeline, form: TicketForm, prediction: Prediction | None
) -> dict[str, Any]:
    return {
        "found": found,
        "form": form,
        "prediction": prediction,
        "parts": prediction.changes if prediction else (),
        "needs": prediction.needs if prediction else (),
        "tables": tables_hint(found),
    }


def _said(made: SchemaTicket) -> str:
    if made.state == "PENDING":
        return "The ticket is open; an admin decides on it."
    if made.state == "REJECTED":
        return "The lake's table cannot follow this statement."
    return "It loses nothing and is approved; the lake's table is being prepared."
