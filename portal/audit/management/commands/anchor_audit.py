"""Anchor the head of the audit record now, or accept that it is not what was anchored."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.audit.anchors import anchor_accept, anchor_take
from portal.lake.errors import PortalError


class Command(BaseCommand):
    """Appends to the file of anchors; a timer of another account may call it."""

    help = "Anchor the head of the audit record outside of the database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the reason of a person who looked into a difference."""
        parser.add_argument("--accept", metavar="REASON", help="the chain differs, and may")

    def handle(self, *args: Any, **options: Any) -> None:
        """Anchor and report."""
        now, reason = datetime.now(UTC), options["accept"]
        try:
            taken = anchor_take(now=now) if reason is None else anchor_accept(reason, now=now)
        except PortalError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"{taken.seq}:{taken.hash}" if taken else "Nothing new to anchor.")
