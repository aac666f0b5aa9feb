"""Registers `lifecycle.enrollment` with the platform."""

from lifecycle.core.ui.run_subjects import register_page_subject
from lifecycle.enrollment.run_kinds import register_enroll_kinds
from lifecycle.enrollment.services.enrollments import ENROLLMENTS
from lifecycle.enrollment.ui.nav import register_pages
from portal.search.selectors.proposals import register_proposals


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_enroll_kinds()
    register_pages()
    register_page_subject("enrolment", "Enrollment", "lifecycle:enrolment")
    register_proposals(
        ENROLLMENTS,
        title="Enrollments",
        order=32,
        page="lifecycle:enrolment",
        about=lambda one: f"Enrollment, {one.n_tables:,} tables",
    )
