"""Registers `pipelines.cdc.reconciling` with the platform."""

from datetime import timedelta

from pipelines.cdc.reconciling.run_kinds import register_compare_kind
from pipelines.cdc.reconciling.selectors.comparisons import register_gauges, table_comparison
from pipelines.cdc.reconciling.services.results import DIFFERS
from pipelines.cdc.reconciling.services.schedules import comparisons_due
from pipelines.cdc.reconciling.ui.nav import register_pages
from portal.catalog.services.source_comparisons import register_comparisons
from portal.notices.kinds import MailKind, register_mail_kinds
from portal.runs.kinds.ticks import Tick, register_tick


def register() -> None:
    """Add what this capability offers: runs, a tick, mails, pages, numbers."""
    register_compare_kind()
    register_tick(Tick("cdc.comparisons", timedelta(minutes=1), comparisons_due))
    register_mail_kinds(MailKind(DIFFERS, "Captured tables that differ from their source"))
    register_pages()
    register_gauges()
    register_comparisons("pipelines.cdc", table_comparison)
