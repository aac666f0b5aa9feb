"""Create log-ins from a JSON list of `username, password, email, name, roles`.

A file, because passwords on a command line can be read by everybody on the host.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.lake.errors import PortalError
from portal.people.role_changes import Arrived, person_create_on_host


class Command(BaseCommand):
    """Creates people; who is there already gets what is missing and loses no role."""

    help = "Create people from a JSON file, or give those who are there what they lack."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file."""
        parser.add_argument("--file", type=Path, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        """Read the file and create everybody in it."""
        file: Path = options["file"]
        try:
            people = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CommandError(
                f"{file} cannot be read ({error}). Give JSON that this account may read."
            ) from error
        for entry in people:
            try:
                arrived = person_create_on_host(
                    entry["username"],
                    password=entry["password"],
                    email=entry.get("email", ""),
                    name=entry.get("name", ""),
                    roles=entry.get("roles", []),
                    now=datetime.now(UTC),
                )
            except (KeyError, PortalError) as error:
                raise CommandError(f"{entry.get('username', '?')}: {error}") from error
            self._say(entry["username"], arrived)
        self.stdout.write(f"{len(people)} people can log in.")

    def _say(self, username: str, arrived: Arrived) -> None:
        if arrived.granted:
            self.stdout.write(f"{username} has now: {', '.join(arrived.granted)}.")
        if arrived.left:
            self.stdout.write(
                f"{username} keeps, though the file does not have it: {', '.join(arrived.left)}. "
                "Take a role by manage.py person_role."
            )
        if arrived.not_given:
            self.stdout.write(
                f"{username} did not get {', '.join(arrived.not_given)}: a log-in server gives "
                "the roles."
            )
