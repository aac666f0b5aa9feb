"""Create a pipeline of change capture from a shell."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from pipelines.cdc.changes.domain.kafka_place import MECHANISMS
from pipelines.cdc.control.domain.spec import (
    ChangelogKind,
    TableType,
    partitions_of,
    protections_of,
    spec_of,
)
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.cdc.control.services.testing import checked_source
from portal.access.actors import Actor
from portal.access.lakes import lake_word
from portal.lake.errors import PortalError

_KAFKA = {
    "servers": "bootstrap servers as host:port, several between commas",
    "topic": "topic of the changes; <topic>.headers and <topic>.schemas lie beside it",
    "user": "of a log-in by SASL; empty: without one",
    "password-name": "the file of its password, or the end of LAKEWARDEN_CDC_PASSWORD_<NAME>",
    "ssl-ca": "absolute path of a PEM file with the brokers' signer; empty: without TLS",
}
AT_THE_SHELL = Actor("shell", is_staff=True, is_admin=True, is_fresh=True)


class Command(BaseCommand):
    """Creates one; it is audited as created at the shell."""

    help = "Create a pipeline of change capture; its source is tested first. Twice is no change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take what the page asks for too."""
        parser.add_argument("name")
        parser.add_argument("--lake", type=lake_word, default="")
        parser.add_argument("--host", required=True)
        parser.add_argument("--port", type=int, default=3306)
        parser.add_argument("--user", required=True, help="the user on the source")
        parser.add_argument(
            "--password-name",
            required=True,
            help="the file that has the password, or the end of LAKEWARDEN_CDC_PASSWORD_<NAME>",
        )
        parser.add_argument("--server-id", type=int, required=True)
        parser.add_argument("--patterns", required=True, help="tables, as in shop.orders,crm.*")
        parser.add_argument("--target-db", required=True, help="the lake's database")
        parser.add_argument("--ssl-ca", default="")
        parser.add_argument(
            "--protect", action="append", default=[], help="shop.users.phone=encrypted:PII"
        )
        parser.add_argument(
            "--partition", action="append", default=[], help="shop.orders=created_on"
        )
        for name, choices in (("--table-type", TableType), ("--changelog", ChangelogKind)):
            values = [one.value for one in choices]
            parser.add_argument(name, default=values[0], choices=values)
        kafka = parser.add_argument_group("changelog in Kafka", "With --changelog KAFKA.")
        for name, text in _KAFKA.items():
            kafka.add_argument(f"--kafka-{name}", default="", help=text)
        kafka.add_argument("--kafka-mechanism", default=MECHANISMS[0], choices=MECHANISMS)

    def handle(self, *args: Any, **options: Any) -> None:
        """Test the source, then create the pipeline."""
        try:
            protections = protections_of("\n".join(options["protect"]))
            partitions = partitions_of("\n".join(options["partition"]))
            prefix = "kafka_"
            kafka = {
                name.removeprefix(prefix): text
                for name, text in options.items()
                if name.startswith(prefix)
            }
            asked = {
                **options,
                "protections": protections,
                "partitions": partitions,
                "kafka": kafka,
            }
            spec = spec_of(asked)
            checked_source(spec, by=AT_THE_SHELL)
            made = pipeline_create(spec, by=AT_THE_SHELL, now=timezone.now())
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        self.stdout.write(f"{made.name} captures {', '.join(spec.patterns)}.")
