"""Print or check what the portal's two accounts of MariaDB may do."""

import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from portal.audit.grants import Account, differences, script, statements

_NAME = re.compile(r"[A-Za-z0-9_.%-]{1,80}")


class Command(BaseCommand):
    """The owner migrates; the processes use the other account, which cannot rewrite the audit."""

    help = (
        "Print SQL for the owner of the tables and for the account of the portal's processes, "
        "which can only add to the audit record. With --check: whether this account is so."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the accounts' names, hosts and password files."""
        parser.add_argument("--check", action="store_true")
        parser.add_argument("--owner", default="portal_owner")
        parser.add_argument("--user", default="portal")
        parser.add_argument("--host", default="%")
        parser.add_argument("--owner-password-file", type=Path, help="to create the account")
        parser.add_argument("--user-password-file", type=Path, help="to create the account")
        parser.add_argument("--database", help="its name, if not that of LAKEWARDEN_DB_URL")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the statements, or what is wrong."""
        database = options["database"] or str(connection.settings_dict["NAME"])
        if options["check"]:
            self._check(database)
            return
        words = (options["owner"], options["user"], options["host"], database)
        if not all(_NAME.fullmatch(word) for word in words):
            raise CommandError("Give plain names of users, host and database.")
        if options["owner"] == options["user"]:
            raise CommandError("The owner and the account of the processes must be two.")
        owner = Account(options["owner"], options["host"], _read(options["owner_password_file"]))
        app = Account(options["user"], options["host"], _read(options["user_password_file"]))
        self.stdout.write(script(statements(database, owner=owner, app=app)), ending="")

    def _check(self, database: str) -> None:
        if connection.vendor != "mysql":
            raise CommandError("Only MariaDB has accounts; this database is of another kind.")
        with connection.cursor() as cursor:
            cursor.execute("SHOW GRANTS FOR CURRENT_USER()")
            shown = [str(row[0]) for row in cursor.fetchall()]
        found = differences(database, shown)
        if found:
            raise CommandError("\n".join(found))
        self.stdout.write("This account can add to the audit record, and cannot change it.")


def _read(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        password = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise CommandError(f"{path} cannot be read ({error.strerror}).") from error
    if not password:
        raise CommandError(f"{path} is empty.")
    return password
