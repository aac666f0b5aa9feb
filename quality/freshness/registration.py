"""Registers `quality.freshness` with the platform."""

from portal.notices.kinds import MailKind, register_mail_kinds
from quality.freshness.run_kinds import register_inspect_kind
from quality.freshness.selectors.numbers import register_gauges
from quality.freshness.services.late_mails import LATE
from quality.freshness.ui.nav import register_pages


def register() -> None:
    """Add what this capability offers: runs, pages, home cards, numbers, scopes."""
    register_inspect_kind()
    register_pages()
    register_gauges()
    register_mail_kinds(
        MailKind(LATE, "Partitions are late"),
    )
