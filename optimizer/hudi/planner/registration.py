"""Registers `optimizer.hudi.planner` with the platform, and Hudi tables with the queue."""

from optimizer.core.services.maintainers import register_maintainer
from optimizer.hudi.inspect.run_kinds import register_observe_hudi_kind
from optimizer.hudi.inspect.services.alarms import OVER, RAISED
from optimizer.hudi.planner.run_kinds import register_hudi_kinds
from optimizer.hudi.planner.services.maintainer import HUDI
from portal.notices.kinds import MailKind, register_mail_kinds


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_maintainer(HUDI)
    register_hudi_kinds()
    register_observe_hudi_kind()
    register_mail_kinds(
        MailKind(RAISED, "Alarm: Hudi table"),
        MailKind(OVER, "Resolved: Hudi table"),
    )
