"""Words of tickets, and the home card of those that wait for a decision."""

from pipelines.cdc.tickets.services.tickets import TICKETS
from portal.access.registry import register_home_card
from portal.ui.frame.states import Badge, register_badges
from portal.ui.proposals import decide_card

tickets_card = decide_card(
    TICKETS,
    title="Tickets for changes of schema to decide",
    icon="ticket",
    order=25,
    detail=lambda rows: f"{rows[0].db}.{rows[0].table} waits longest",
)
_LOOKS = {
    "CDC_TICKET_PENDING": Badge("Requested", "hourglass", "warn", "Another admin decides."),
    "CDC_TICKET_APPROVED": Badge(
        "Approved", "loader-2", "busy", "The lake's table is being prepared: do not run it yet."
    ),
    "CDC_TICKET_RELEASED": Badge("Released", "circle-check", "good", "The statement may run now."),
    "CDC_TICKET_APPLIED": Badge("Applied", "checks", "good", "The change came as announced."),
    "CDC_TICKET_DIFFERED": Badge(
        "Not as announced", "alert-triangle", "warn", "The change is decided as any other."
    ),
    "CDC_TICKET_EXPIRED": Badge("Expired", "clock-off", "quiet", "The statement did not come."),
    "CDC_TICKET_REJECTED": Badge("Rejected", "circle-x", "bad", "Do not run the statement."),
    "CDC_TICKET_WITHDRAWN": Badge("Withdrawn", "arrow-back-up", "quiet"),
    "CDC_TICKET_LAPSED": Badge("Expired", "clock-off", "quiet", "Nobody decided in time."),
}


def register_pages() -> None:
    """Add the home card and the words."""
    register_home_card(tickets_card)
    register_badges(_LOOKS)
