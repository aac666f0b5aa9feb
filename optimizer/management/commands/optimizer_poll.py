"""Compare the metastore's Iceberg tables with what is known of them, now instead of hourly."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from optimizer.discovery.services.poll import poll_request
from optimizer.models import IcebergTable
from portal.access.lakes import get_lake, lake_word
from portal.lake.errors import PortalError
from portal.runs.domain import RunState
from portal.runs.requests.services import run_drive


class Command(BaseCommand):
    """Asks for the run and drives it to its end in this process."""

    help = "Read all Iceberg tables of a lake from the metastore's database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the lake."""
        parser.add_argument("lake", nargs="?", type=lake_word, default="")

    def handle(self, *args: Any, **options: Any) -> None:
        """Poll and say what came of it."""
        lake = options["lake"]
        try:
            get_lake(lake)
            run = poll_request(lake, by="shell", now=timezone.now())
            run = run_drive(run.pk)
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        if run.state != RunState.DONE:
            raise CommandError(f"The poll is {run.state.lower()}: {run.message}")
        n_tables = IcebergTable.objects.filter(lake=lake, is_deleted=False).count()
        self.stdout.write(f"{n_tables} Iceberg tables are known in {lake}.")
