"""Say from a shell that a table was written, as schedulers do over the API."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from portal.lake.errors import PortalError
from refresh.changes.services.webhooks import WriteReport, report_write


class Command(BaseCommand):
    """Notes a change for every cluster that shows the table; twice does no harm."""

    help = "Have a Hive table, or some of its partitions, refreshed on every front end."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the table and its partitions."""
        parser.add_argument("lake")
        parser.add_argument("table", help="db.table")
        parser.add_argument(
            "--partition",
            action="append",
            default=[],
            help="a name or a part of one, such as dt=2026-11-21; may repeat",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Note it."""
        report = WriteReport(options["lake"], options["table"], tuple(options["partition"]))
        try:
            taken = report_write(report, user=None, now=timezone.now())
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        for name in taken.shown_as:
            self.stdout.write(name)
        for text in taken.unmatched:
            self.stdout.write(f"no partition: {text}")
        if taken.degraded:
            self.stdout.write(taken.degraded)
        if not taken.shown_as:
            self.stdout.write(f"No cluster shows {taken.hive}.")
