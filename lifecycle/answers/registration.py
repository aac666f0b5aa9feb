"""Registers `lifecycle.answers` with the platform."""

from lifecycle.answers.run_kinds import register_answers_kind


def register() -> None:
    """Add what this capability offers: the run that answers for many tables."""
    register_answers_kind()
