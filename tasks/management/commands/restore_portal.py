"""Restore the portal's database from a backup, or prove in another database that it can be."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from portal.lake.errors import PortalError
from tasks.database.aftermath import stand_still
from tasks.database.copies import copy_load, copy_read
from tasks.database.stopped import check_stopped

_NEXT = """Do not start any process yet. In this order (docs/deploy.md, After a restore):
  1. manage.py migrate
  2. manage.py anchor_audit --accept "restored from the backup of {taken_at}, because ..."
  3. manage.py rebuild_backups
  4. start the processes, and a scan of each lake
  5. two admins release the emergency stop of each lake once its runs are reconciled
"""


class Command(BaseCommand):
    """Replaces all tables; every lake then has its emergency stop, and nothing waits to run."""

    help = "Restore the portal's database (MariaDB) from a folder of backup_portal."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the folder, and what may be replaced."""
        parser.add_argument("source", type=Path)
        group = parser.add_mutually_exclusive_group(required=True)
        group.add_argument("--replace", action="store_true", help="replace the portal's database")
        group.add_argument(
            "--try-in", metavar="DATABASE", help="replace this scratch database, and compare"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore and compare; a trial changes nothing of the portal."""
        now = timezone.now()
        try:
            manifest = copy_read(options["source"])
            if options["try_in"]:
                n_events = self._try(options["source"], options["try_in"])
                self.stdout.write(f"It can be restored: {n_events:,} audit events, whole.")
                return
            check_stopped(now)
            copy_load(options["source"], manifest)
            found = stand_still(taken_at=manifest.taken_at, now=now)
        except PortalError as error:
            raise CommandError(error.message) from error
        self.stdout.write(
            f"Restored. Emergency stop: {', '.join(found.lakes)}. Cancelled: {found.n_runs:,} "
            f"waiting runs. Not sent: {found.n_notices:,} mails. Everybody signs in again.\n"
            + _NEXT.format(taken_at=manifest.taken_at)
        )

    def _try(self, source: Path, database: str) -> int:
        if database == connection.settings_dict["NAME"]:
            raise CommandError("Name another database: this one is the portal's own.")
        own = connection.settings_dict["NAME"]
        connection.close()
        connection.settings_dict["NAME"] = database
        try:
            return copy_load(source, copy_read(source))
        finally:
            connection.close()
            connection.settings_dict["NAME"] = own
