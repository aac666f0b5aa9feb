"""Say from a shell where databases may lie, in an admin's name."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from lifecycle.rules.services.path_templates import TemplateChange, path_template_change
from portal.access.lakes import lake_word
from portal.access.shell import user_named
from portal.lake.errors import PortalError


class Command(BaseCommand):
    """Sets the path template of one or more databases; each change is audited."""

    help = "Set the path template of databases, for example '/warehouse/{owner}'."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the template and whom it is for."""
        parser.add_argument("template")
        parser.add_argument("db", nargs="+")
        parser.add_argument("--lake", type=lake_word, default="")
        parser.add_argument("--user", required=True, help="the responsible admin")
        parser.add_argument("--reason", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        """Set it for every database named."""
        user = user_named(options["user"])
        try:
            for db in options["db"]:
                change = TemplateChange(options["lake"], db, options["template"], options["reason"])
                path_template_change(change, user=user, now=datetime.now(UTC))
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        self.stdout.write(f"{options['template']} holds for {', '.join(options['db'])}.")
