"""Addresses of `pipelines.cdc.tickets`: pages and API."""

from django.urls import URLPattern, path

from pipelines.cdc.tickets.api import tickets as api
from pipelines.cdc.tickets.ui import pages

ui_urlpatterns: list[URLPattern] = [
    path("cdc/<slug:name>/tickets/", pages.tickets, name="tickets"),
    path("cdc/<slug:name>/tickets/open/", pages.ticket_create, name="ticket-open"),
    path("schema-tickets/<uuid:ticket_id>/", pages.schema_ticket, name="schema-ticket"),
    path(
        "schema-tickets/<uuid:ticket_id>/decide/",
        pages.schema_ticket_decide_view,
        name="schema-ticket-decide",
    ),
    path(
        "schema-tickets/<uuid:ticket_id>/withdraw/",
        pages.schema_ticket_withdraw_view,
        name="schema-ticket-withdraw",
    ),
]

api_urlpatterns: list[URLPattern] = [
    path("cdc/<slug:name>/tickets/", api.TicketList.as_view(), name="tickets"),
    path("schema-tickets/<uuid:ticket_id>/", api.TicketDetail.as_view(), name="schema-ticket"),
    path(
        "schema-tickets/<uuid:ticket_id>/withdraw/",
        api.TicketWithdraw.as_view(),
        name="schema-ticket-withdraw",
    ),
]
