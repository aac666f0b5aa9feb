"""Grant a role to a local account, or take one, on all lakes or on one."""

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.lake.errors import PortalError
from portal.people.role_changes import role_change_on_host


class Command(BaseCommand):
    """Changes one role of one person; what it did is in the audit record."""

    help = "Grant or take a role: admin or operator, or admin@LAKE for one lake."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to do, to whom, and why."""
        parser.add_argument("do", choices=("grant", "take"))
        parser.add_argument("--user", required=True, help="the account")
        parser.add_argument("--role", required=True, help="admin, operator, or either with @LAKE")
        parser.add_argument("--reason", required=True, help="kept in the audit record")

    def handle(self, *args: Any, **options: Any) -> None:
        """Change it."""
        is_granted = options["do"] == "grant"
        try:
            role_change_on_host(
                options["user"],
                options["role"],
                is_granted=is_granted,
                reason=options["reason"],
                now=datetime.now(UTC),
            )
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        said = "has" if is_granted else "has no longer"
        self.stdout.write(f"{options['user']} {said} the role {options['role']}.")
