"""Move databases to another mode from a shell, step by step, in an admin's name."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from lifecycle.core.domain.modes import DatabaseMode, can_change
from lifecycle.databases.services.modes import ModeChange, database_mode_change
from lifecycle.inventory.selectors.findings import mode_of
from portal.access.lakes import lake_word
from portal.access.models import User
from portal.access.shell import user_named
from portal.lake.errors import PortalError


class Command(BaseCommand):
    """Moves databases to another mode; each step is audited."""

    help = (
        "Set the mode of databases: OBSERVE (Monitor only), NOTIFY (Notify) or ACT "
        "(Enforce). A jump to ACT is made as its two steps."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take what the page asks for too."""
        parser.add_argument("mode", choices=[mode.value for mode in DatabaseMode])
        parser.add_argument("databases", nargs="+", metavar="database")
        parser.add_argument("--lake", type=lake_word, default="")
        parser.add_argument("--user", required=True, help="the responsible admin")
        parser.add_argument("--reason", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        """Take the steps; a database that is there already is left as it is."""
        user = user_named(options["user"])
        wanted = DatabaseMode(options["mode"])
        for db in options["databases"]:
            try:
                self._move(options["lake"], db, wanted, reason=options["reason"], user=user)
            except PortalError as error:
                raise CommandError(f"{db}: {error.code}: {error.message}") from error
            self.stdout.write(f"{db} is in {wanted}.")

    @staticmethod
    def _move(lake: str, db: str, wanted: DatabaseMode, *, reason: str, user: User) -> None:
        while (seen := mode_of(lake, db)) is not wanted:
            step = wanted if can_change(seen, wanted) else DatabaseMode.NOTIFY
            change = ModeChange(lake, db, seen, step, reason)
            database_mode_change(change, user=user, now=datetime.now(UTC))
