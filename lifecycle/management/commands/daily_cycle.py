"""Play one day: scan, load, notices sent, standing rules, expires. Refused in production."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from lifecycle.schedule.services import daily_cycle
from portal.access.lakes import lake_word
from portal.lake.errors import PortalError


class Command(BaseCommand):
    """Plays one day of a lake."""

    help = "Play one day of a lake at an instant: scan, notices, standing rules. Not in production."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the instant and the lake."""
        parser.add_argument("--now", required=True, help="ISO instant; without a zone it is UTC")
        parser.add_argument("--lake", type=lake_word, default="")

    def handle(self, *args: Any, **options: Any) -> None:
        """Play the day; lines that begin with `* ` are for people."""
        try:
            now = datetime.fromisoformat(options["now"])
        except ValueError as error:
            raise CommandError(f"--now: {error}") from error
        if now.tzinfo is None:
            now = now.replace(tzinfo=UTC)
        try:
            daily_cycle(options["lake"], now=now, say=self._say)
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error

    def _say(self, line: str) -> None:
        self.stdout.write(f"* {line}")
        self.stdout.flush()
