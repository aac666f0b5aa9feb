"""Registers `lifecycle.notices` with the platform."""

from lifecycle.notices.services import day_ahead, week_ahead
from lifecycle.notices.services.daily_report import ALARM, REPORT
from lifecycle.notices.ui import register_pages
from portal.notices.kinds import MailKind, register_mail_kinds


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_pages()
    register_mail_kinds(
        MailKind(week_ahead.KIND, "Data expires within a week"),
        MailKind(day_ahead.KIND, "Data expires tomorrow"),
        MailKind(REPORT, "Daily report", may_be_muted=True),
        MailKind(ALARM, "Alarm: path rules"),
    )
