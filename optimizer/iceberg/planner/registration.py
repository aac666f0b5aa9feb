"""Registers `optimizer.iceberg.planner` with the platform, and Iceberg tables with the queue."""

from optimizer.core.services.maintainers import register_maintainer
from optimizer.iceberg.inspect.run_kinds import register_observe_kind
from optimizer.iceberg.planner.run_kinds import register_task_kinds
from optimizer.iceberg.planner.services.maintainer import ICEBERG


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_maintainer(ICEBERG)
    register_task_kinds()
    register_observe_kind()
