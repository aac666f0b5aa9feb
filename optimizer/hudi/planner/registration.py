"""Registers `optimizer.hudi.planner` with the platform."""

from optimizer.hudi.inspect.run_kinds import register_observe_hudi_kind
from optimizer.hudi.planner.run_kinds import register_hudi_kinds
from optimizer.hudi.planner.services.planner import hudi_decide


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_hudi_kinds()
    register_observe_hudi_kind(hudi_decide)
