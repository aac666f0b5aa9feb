"""`manage.py settle_run <run> --by <login>`: settle a run again that ended with data in danger."""

import getpass
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from portal.lake.errors import PortalError
from portal.runs.execution.settling import run_settle_again
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Run


class Command(BaseCommand):
    """Settles what is left of a final run; safe to repeat until nothing is left."""

    help = "Settle a run again that ended with data in danger, after the lake was repaired by hand."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Ask for the run's id, and for the name that the audit trail shows."""
        parser.add_argument("run", help="the run's id, as its page shows it")
        parser.add_argument("--by", default=getpass.getuser(), help="who repaired the lake")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Settle, and say what still needs a person."""
        try:
            run = Run.objects.get(pk=options["run"])
        except (Run.DoesNotExist, ValidationError) as error:
            raise CommandError(f"There is no run {options['run']}.") from error
        try:
            run_settle_again(run, get_kind(run.kind), by=options["by"], now=timezone.now())
        except PortalError as error:
            raise CommandError(f"{error.message} ({error.code})") from error
        self.stdout.write(f"The run {run.pk} is settled.")
