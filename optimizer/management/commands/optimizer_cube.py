"""Declare from a shell, in somebody's name, a cube of an Iceberg table."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from optimizer.cubes.services.definitions import cube_declare
from optimizer.iceberg.tables.selectors.tables import tables_named
from portal.access.lakes import lake_word
from portal.access.shell import user_named
from portal.lake.errors import PortalError


class Command(BaseCommand):
    """Declares one cube; declared again it is as it was."""

    help = "Declare a cube of db.table by its definition in JSON (docs/cubes.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take what a program asks for too."""
        parser.add_argument("table", help="db.table")
        parser.add_argument("definition", help="the definition in JSON; builds check it")
        parser.add_argument("--lake", type=lake_word, default="")
        parser.add_argument("--user", required=True, help="the responsible person")
        parser.add_argument("--reason", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        """Declare it, unless it stands so already."""
        db, _, name = options["table"].partition(".")
        user = user_named(options["user"])
        try:
            definition = json.loads(options["definition"])
        except ValueError as error:
            raise CommandError(f"The definition is no JSON: {error}.") from error
        if not isinstance(definition, dict):
            raise CommandError("The definition must be an object in JSON.")
        table = tables_named(options["lake"], [(db, name)]).first()
        if table is None:
            raise CommandError(f"The portal knows no Iceberg table {options['table']}.")
        try:
            cube = cube_declare(
                table, definition, user=user, reason=options["reason"], now=timezone.now()
            )
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        self.stdout.write(f"{cube} is at version {cube.version}.")
