"""Restore the portal's database from a backup, or prove in another database that it can be."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.utils import timezone

from portal.lake.errors import PortalError
from tasks.database.aftermath import Aftermath
from tasks.database.copies import Loaded, Manifest, check_loadable, copy_load, copy_read
from tasks.database.patience import without_answer_limit
from tasks.database.stopped import check_scratch, check_stopped

_NEXT = """Do not start any process yet. In this order (docs/deploy.md, After a restore):
  1. with two accounts of MariaDB: the script of manage.py database_grants
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

    @without_answer_limit()
    def handle(self, *args: Any, **options: Any) -> None:
        """Restore and compare; a trial changes nothing of the portal."""
        try:
            check_loadable()
            manifest = copy_read(options["source"])
            if options["try_in"]:
                found = self._try(options["source"], manifest, options["try_in"])
            else:
                check_stopped(timezone.now())
                found = _load(options["source"], manifest)
        except PortalError as error:
            raise CommandError(error.message) from error
        done = _said(found.aftermath)
        if options["try_in"]:
            if found.problem:
                raise CommandError(f"{found.problem} It can be loaded, and stands still. {done}")
            self.stdout.write(f"It can be restored: {found.n_events:,} audit events, whole. {done}")
            return
        following = f"{done} Everybody signs in again.\n{_NEXT.format(taken_at=manifest.taken_at)}"
        if found.problem:
            raise CommandError(
                f"The backup was loaded, but is not whole. {found.problem} Restore another one "
                f"if there is one. Nothing goes on by itself. {following}"
            )
        self.stdout.write(f"Restored. {following}")

    def _try(self, source: Path, manifest: Manifest, database: str) -> Loaded:
        if database == connection.settings_dict["NAME"]:
            raise CommandError("Name another database: this one is the portal's own.")
        own = connection.settings_dict["NAME"]
        connection.close()
        connection.settings_dict["NAME"] = database
        try:
            check_scratch(timezone.now())
            return _load(source, manifest)
        finally:
            connection.close()
            connection.settings_dict["NAME"] = own


def _load(source: Path, manifest: Manifest) -> Loaded:
    try:
        return copy_load(source, manifest, now=timezone.now())
    except (PortalError, DatabaseError) as error:
        reason = error.message if isinstance(error, PortalError) else f"MariaDB says {error}."
        raise CommandError(
            f"{reason} Nothing was restored, and the database is as it was, empty, or not "
            "complete. Do not start any process before a restore came to its end."
        ) from error


def _said(found: Aftermath) -> str:
    return (
        f"Emergency stop: {', '.join(found.lakes)}. Cancelled: {found.n_runs:,} waiting runs. "
        f"Not sent: {found.n_notices:,} mails."
    )
