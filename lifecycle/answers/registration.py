"""Registers `lifecycle.answers` with the platform."""

from lifecycle.answers.run_kinds import register_answers_kind
from lifecycle.answers.selectors.choosing import answerable
from portal.ui.tables.bulk import BulkActions, register_bulk_actions


def register() -> None:
    """Add what this capability offers: the run that answers for many tables, and its buttons."""
    register_answers_kind()
    register_bulk_actions(BulkActions("answers", 10, "lifecycle/_answers_buttons.html", answerable))
