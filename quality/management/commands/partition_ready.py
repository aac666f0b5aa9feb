"""Say from a shell that partitions are ready, as schedulers do over the API."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from portal.lake.errors import PortalError
from quality.ready_flag.services.marking import Mark, partitions_mark


class Command(BaseCommand):
    """Sets the flag of partitions; twice changes nothing."""

    help = "Say that partitions of a Hive table are ready to be read, or are not."

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
        parser.add_argument(
            "--not-ready", action="store_true", help="hide them until they are said to be ready"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Set the flag."""
        mark = Mark(
            options["lake"],
            options["table"],
            tuple(options["partition"]),
            ready=not options["not_ready"],
        )
        try:
            marked = partitions_mark(mark, user=None, now=timezone.now())
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        word = "ready" if marked.ready else "not ready"
        self.stdout.write(
            f"{marked.n_partitions} partitions are {word}, {marked.n_changed} of them since now."
        )
