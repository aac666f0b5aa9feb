"""Registers `lifecycle.restore_tests` with the platform."""

from lifecycle.restore_tests.run_kinds import register_restore_test_kinds
from lifecycle.restore_tests.services.alarms import (
    FAILED_KIND,
    OVERDUE_KIND,
    register_restore_test_alarms,
)
from lifecycle.restore_tests.ui.nav import register_pages
from portal.notices.kinds import MailKind, register_mail_kinds


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_restore_test_kinds()
    register_restore_test_alarms()
    register_pages()
    register_mail_kinds(
        MailKind(FAILED_KIND, "Alarm: restore test failed"),
        MailKind(OVERDUE_KIND, "Alarm: restore not verified"),
    )
