"""Say whether the audit record is whole; exit 1 when somebody changed it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.audit.services import audit_verify


class Command(BaseCommand):
    """Recomputes the hash chain."""

    help = "Verify the audit record."

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify and report."""
        report = audit_verify()
        if report.broken_at is not None:
            raise CommandError(f"The record is broken: {report.problem}.")
        self.stdout.write(f"{report.n_events} events, whole; head {report.head_hash}")
