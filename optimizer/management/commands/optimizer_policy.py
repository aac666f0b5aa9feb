"""Say from a shell, in somebody's name, what shall be done to a table, a pattern, or a lake."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from optimizer.policies.domain.formats import POLICY_SCHEMAS, TableFormat
from optimizer.policies.domain.values import write_values
from optimizer.policies.selectors.policies import policy_current
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.access.lakes import lake_word
from portal.access.shell import user_named
from portal.lake.errors import PortalError
from portal.played import instant


class Command(BaseCommand):
    """Sets the policy of one scope; set again it is as it was."""

    help = "Set the optimizer's policy of db.table, of a pattern, or of the whole lake (*)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take what a program asks for too."""
        parser.add_argument("scope", help="db.table, a pattern such as etl* or etl.events_*, or *")
        parser.add_argument(
            "values", help="all settings of the scope in JSON, such as '{\"is_on\": true}'"
        )
        parser.add_argument("--lake", type=lake_word, default="")
        parser.add_argument(
            "--format",
            default=TableFormat.ICEBERG.value,
            choices=[one.value for one in TableFormat],
            help="of the tables that it is about",
        )
        parser.add_argument("--user", required=True, help="the responsible person")
        parser.add_argument("--reason", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        """Set it, unless it stands so already."""
        lake, scope = options["lake"], options["scope"]
        user = user_named(options["user"])
        values = _read(options["values"])
        table_format = TableFormat(options["format"])
        read = POLICY_SCHEMAS[table_format].read
        try:
            stands = policy_current(lake, scope, table_format)
            if stands is not None and stands.values == write_values(read(values)):
                self.stdout.write(f"{scope} has these values already, in version {stands.version}.")
                return
            seen = stands.version if stands else 0
            change = PolicyChange(lake, scope, values, seen, options["reason"], table_format)
            made = policy_set(change, user=user, now=instant())
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        self.stdout.write(f"{made.scope} is at version {made.version}.")


def _read(text: str) -> dict[str, object]:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise CommandError(f"The settings are no JSON: {error}.") from error
    if not isinstance(values, dict):
        raise CommandError('The settings must be an object in JSON, such as {"is_on": true}.')
    return values
