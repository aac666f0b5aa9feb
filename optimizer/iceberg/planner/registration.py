"""Registers `optimizer.iceberg.planner` with the platform."""

from optimizer.iceberg.inspect.run_kinds import register_observe_kind
from optimizer.iceberg.planner.run_kinds import register_task_kinds
from optimizer.iceberg.planner.services.planner import decide_due


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_task_kinds()
    register_observe_kind(decide_due)
