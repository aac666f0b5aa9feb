"""Say whether the audit record is whole and fits its anchors; exit 1 when somebody changed it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.audit.anchors import anchors_verify
from portal.audit.models import AuditEvent
from portal.audit.services import audit_verify
from portal.lake.errors import PortalError


class Command(BaseCommand):
    """Recomputes the hash chain and compares it with the heads kept outside of the database."""

    help = "Verify the audit record and its anchors."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take a head from a mail or a log."""
        parser.add_argument(
            "--head",
            metavar="SEQ:HASH",
            action="append",
            default=[],
            help="a head that was mailed or logged; compared too, may be given several times",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify and report."""
        report = audit_verify()
        if report.broken_at is not None:
            raise CommandError(f"The record is broken: {report.problem}.")
        try:
            problem = anchors_verify()
        except PortalError as error:
            raise CommandError(error.message) from error
        for head in options["head"]:
            problem = problem or _unlike(head)
        if problem:
            raise CommandError(f"The record is broken: {problem}.")
        self.stdout.write(f"{report.n_events} events, whole; head {report.head_hash}")


def _unlike(head: str) -> str:
    seq, _, wanted = head.strip().partition(":")
    if not seq.isdigit() or not wanted:
        raise CommandError(f"{head} is no head: give SEQ:HASH as the mail says it.")
    event = AuditEvent.objects.filter(seq=int(seq)).first()
    if event is None:
        return f"event {seq}, a head that was mailed, is missing"
    return "" if event.hash == wanted else f"event {seq} is not the one whose hash was mailed"
