"""Registers `lifecycle.relocation` with the platform."""

from lifecycle.core.ui.run_subjects import register_page_subject
from lifecycle.relocation.run_kinds import register_relocation_kinds
from lifecycle.relocation.ui.nav import register_pages


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_relocation_kinds()
    register_pages()
    register_page_subject("path_fix", "Relocation plan", "lifecycle:path-fix")
