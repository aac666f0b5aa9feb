"""Create a layer from a shell."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from pipelines.incremental.domain.definitions import read_layer
from pipelines.incremental.models import EVERY_MINUTES
from pipelines.incremental.services.declaring import Timing, layer_create
from pipelines.management.commands.cdc_pipeline import AT_THE_SHELL
from portal.access.lakes import lake_word
from portal.lake.errors import PortalError


class Command(BaseCommand):
    """Creates one; it is audited as created at the shell."""

    help = "Create a layer: a table that follows the changes of another. Twice is no change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the definition as the API does."""
        parser.add_argument("definition", help="JSON: target, sources, key, sql, partition ...")
        parser.add_argument("--lake", type=lake_word, default="")
        parser.add_argument("--every", type=int, default=EVERY_MINUTES, help="minutes")
        parser.add_argument(
            "--by-time-only", action="store_true", help="do not advance it after each commit"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Create it."""
        try:
            definition = json.loads(options["definition"])
        except ValueError as error:
            raise CommandError(f"The definition is no JSON: {error}") from error
        timing = Timing(options["every"], on_commit=not options["by_time_only"])
        try:
            layer = read_layer(definition)
            made = layer_create(
                options["lake"], layer, timing=timing, by=AT_THE_SHELL, now=timezone.now()
            )
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        self.stdout.write(f"{made} follows {layer.changing}.")
