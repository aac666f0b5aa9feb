"""Registers `refresh.worker` with the platform."""

from portal.notices.kinds import MailKind, register_mail_kinds
from refresh.verify.services.divergence_mails import AGREES, DIVERGED, FLAPS
from refresh.worker.selectors.numbers import register_gauges
from refresh.worker.ui import register_pages


def register() -> None:
    """Add what this capability offers: events, pages, home cards, numbers."""
    register_pages()
    register_gauges()
    register_mail_kinds(
        MailKind(DIVERGED, "Alarm: front end may answer wrongly"),
        MailKind(FLAPS, "Alarm: front end diverges again and again"),
        MailKind(AGREES, "Resolved: front end agrees again"),
    )
