"""Registers `optimizer.pruning` with the platform."""

from optimizer.pruning.run_kinds import register_prune_kind
from optimizer.pruning.ui import register_pages


def register() -> None:
    """Add what this capability offers: its run, its pages."""
    register_prune_kind()
    register_pages()
