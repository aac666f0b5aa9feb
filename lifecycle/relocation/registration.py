"""Registers `lifecycle.relocation` with the platform."""

from lifecycle.core.ui.run_subjects import register_page_subject
from lifecycle.relocation.run_kinds import register_relocation_kinds
from lifecycle.relocation.services.moved_mail import BACK, MOVED
from lifecycle.relocation.services.plans import FIXES
from lifecycle.relocation.ui.nav import register_pages
from portal.notices.kinds import MailKind, register_mail_kinds
from portal.search.selectors.proposals import register_proposals


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_relocation_kinds()
    register_pages()
    register_page_subject("path_fix", "Relocation plan", "lifecycle:path-fix")
    register_proposals(
        FIXES,
        title="Relocation plans",
        order=31,
        page="lifecycle:path-fix",
        about=lambda plan: f"Relocation plan, {plan.n_items:,} items",
    )
    register_mail_kinds(
        MailKind(MOVED, "Data was moved"),
        MailKind(BACK, "Data was moved back"),
    )
