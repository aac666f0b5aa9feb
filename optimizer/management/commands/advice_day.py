"""Do of advice what is due: look, try, apply, rewrite, measure. Refused in production."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from optimizer.schedule.services import advice_day
from portal.access.lakes import lake_word
from portal.lake.errors import PortalError


class Command(BaseCommand):
    """Plays the advice of a day; the day is the one that the demo plays."""

    help = "Do what is due of a lake's advice, to its end in this process. Not in production."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the lake."""
        parser.add_argument("lake", nargs="?", type=lake_word, default="")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it; lines that begin with `* ` are for people."""
        try:
            advice_day(options["lake"], say=self._say)
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error

    def _say(self, line: str) -> None:
        self.stdout.write(f"* {line}")
        self.stdout.flush()
