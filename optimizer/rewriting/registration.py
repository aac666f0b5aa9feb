"""Registers `optimizer.rewriting` with the platform."""

from optimizer.rewriting.run_kinds import register_rewrite_kind


def register() -> None:
    """Add its run; its page is the second of the tab of queries."""
    register_rewrite_kind()
