"""Define a materialization from a shell."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from pipelines.materialized.models import EVERY_MINUTES
from pipelines.materialized.services.definitions import Wanted, materialization_create
from portal.access.lakes import lake_word
from portal.access.shell import user_named
from portal.lake.errors import PortalError


class Command(BaseCommand):
    """Defines one; it is computed soon by the portal's workers."""

    help = "Define a materialization: an aggregate of Hudi or Iceberg tables. Twice is no change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take what the page asks for too."""
        parser.add_argument("name", help="db.table of the result")
        parser.add_argument("sql", help="SELECT dimensions, aggregates ... GROUP BY")
        parser.add_argument("--lake", type=lake_word, default="")
        parser.add_argument("--user", required=True, help="by whose rights it is read")
        parser.add_argument("--every", type=int, default=EVERY_MINUTES, help="minutes")
        parser.add_argument(
            "--max-lag", type=int, default=0, help="minutes that queries may read it behind"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Define it."""
        wanted = Wanted(options["sql"], options["every"], options["max_lag"])
        user = user_named(options["user"])
        try:
            made = materialization_create(
                options["lake"], options["name"], wanted, user=user, now=timezone.now()
            )
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        self.stdout.write(f"{made} is defined over {made.source}.")
