"""Print grants under which the portal may add to the audit record and never change it."""

import re
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from portal.audit.models import AuditEvent

_NAME = re.compile(r"[A-Za-z0-9_.%-]{1,80}")
_ALL = "SELECT, INSERT, UPDATE, DELETE"


class Command(BaseCommand):
    """MariaDB knows no exception from a grant on a whole database, so each table has its own."""

    help = "Print GRANT statements: all tables as usual, the audit record only to read and add."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the account that the portal's processes use; migrations use another one."""
        parser.add_argument("--user", required=True)
        parser.add_argument("--host", default="%")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the statements."""
        user, host = options["user"], options["host"]
        if not _NAME.fullmatch(user) or not _NAME.fullmatch(host):
            raise CommandError("Give a plain user and host name.")
        database = str(connection.settings_dict["NAME"])
        for table in sorted(connection.introspection.table_names()):
            rights = "SELECT, INSERT" if table == AuditEvent._meta.db_table else _ALL
            self.stdout.write(f"GRANT {rights} ON `{database}`.`{table}` TO '{user}'@'{host}';")
