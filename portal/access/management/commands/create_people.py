"""Create log-ins from a JSON list of `username, password, email, name, roles`.

A file, because passwords on a command line can be read by everybody on the host.
"""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.access.services import person_create
from portal.lake.errors import PortalError


class Command(BaseCommand):
    """Creates people; people who are there already are brought up to date."""

    help = "Create people from a JSON file."

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
                person_create(
                    entry["username"],
                    password=entry["password"],
                    email=entry.get("email", ""),
                    name=entry.get("name", ""),
                    roles=entry.get("roles", []),
                )
            except (KeyError, PortalError) as error:
                raise CommandError(f"{entry.get('username', '?')}: {error}") from error
        self.stdout.write(f"{len(people)} people can log in.")
