"""Registers `lifecycle.enrollment` with the platform."""

from lifecycle.core.ui.run_subjects import register_page_subject
from lifecycle.enrollment.run_kinds import register_enroll_kinds
from lifecycle.enrollment.ui.nav import register_pages


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_enroll_kinds()
    register_pages()
    register_page_subject("enrolment", "Enrollment", "lifecycle:enrolment")
