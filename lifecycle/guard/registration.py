"""Registers `lifecycle.guard` with the platform."""

from lifecycle.guard.services.alarms import KIND
from lifecycle.guard.services.events import register_subscriber
from lifecycle.guard.ui.nav import register_pages
from portal.notices.kinds import MailKind, register_mail_kinds


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_subscriber()
    register_pages()
    register_mail_kinds(
        MailKind(KIND, "Alarm: policy changed without a right"),
    )
