"""Registers `optimizer.pruning` with the platform."""

from optimizer.pruning.domain import SCOPE
from optimizer.pruning.run_kinds import register_prune_kind
from optimizer.pruning.ui import register_pages
from portal.access.scopes import Scope, register_scope


def register() -> None:
    """Add what this capability offers: its run, its pages, its scope."""
    register_prune_kind()
    register_pages()
    register_scope(Scope(SCOPE, "Have queries narrowed to data files."))
