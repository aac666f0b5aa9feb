"""Back up the portal's database into a new folder, while the portal works."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from portal.lake.errors import PortalError
from tasks.database.copies import copy_write
from tasks.database.patience import without_answer_limit


class Command(BaseCommand):
    """Writes one moment of all tables, with the anchors of the audit record."""

    help = "Back up the portal's database (MariaDB) into a new folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the folder."""
        parser.add_argument("target", type=Path, help="a folder that does not exist yet")

    @without_answer_limit()
    def handle(self, *args: Any, **options: Any) -> None:
        """Write it and say what it has."""
        try:
            found = copy_write(options["target"], now=timezone.now())
        except PortalError as error:
            raise CommandError(error.message) from error
        n_rows = sum(found.rows.values())
        self.stdout.write(f"{n_rows:,} rows of {len(found.rows)} tables as of {found.taken_at}")
