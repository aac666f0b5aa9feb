"""Declare from a shell, for somebody, by when partitions are ready and which rule says so."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from portal.access.lakes import lake_word
from portal.access.shell import user_named
from portal.lake.errors import PortalError
from quality.freshness.domain.cadence import TimeFormat
from quality.freshness.services.declaring import Declared, rule_declare
from quality.models import FreshnessRule


class Command(BaseCommand):
    """Declares for one table; declared again it is as it was."""

    help = "Declare by when a Hive table's partitions are ready, and the rule that says so."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the table and what is declared."""
        parser.add_argument("table", help="db.table")
        parser.add_argument("--lake", type=lake_word, default="")
        parser.add_argument("--key", required=True, help="the partition key that holds the time")
        parser.add_argument(
            "--format", default=TimeFormat.DAY.value, choices=[one.value for one in TimeFormat]
        )
        parser.add_argument("--hour-key", default="", help="the key of hours, if there is one")
        for name, text in (
            ("--sla-minutes", "minutes after its day or hour by which a partition is ready"),
            ("--delay-minutes", "set ready so many minutes after its day or hour"),
            ("--min-rows", "set ready with at least so many rows"),
            ("--min-files", "set ready with at least so many files"),
        ):
            parser.add_argument(name, type=int, help=text)
        parser.add_argument("--user", required=True, help="who declares it")
        parser.add_argument("--now", help="ISO instant as of which it is declared; for demos only")

    def handle(self, *args: Any, **options: Any) -> None:
        """Declare it, whatever was declared before."""
        declared = Declared(
            options["key"],
            TimeFormat(options["format"]),
            hour_key=options["hour_key"],
            sla_minutes=options["sla_minutes"],
            delay_minutes=options["delay_minutes"],
            min_rows=options["min_rows"],
            min_files=options["min_files"],
        )
        lake, table = options["lake"], options["table"]
        now = _instant(options["now"])
        user = user_named(options["user"])
        db, _, name = table.partition(".")
        known = FreshnessRule.objects.filter(lake=lake, db=db, table=name).first()
        version = known.version if known else None
        try:
            rule = rule_declare(lake, table, declared, version=version, user=user, now=now)
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        self.stdout.write(f"{rule} is at version {rule.version}.")


def _instant(text: str | None) -> datetime:
    if text is None:
        return timezone.now()
    if not settings.LAKEWARDEN_ALLOW_PLAYED_TIME:
        raise CommandError("--now is for demos and tests; this portal runs by the clock.")
    try:
        now = datetime.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"--now: {error}") from error
    return now if now.tzinfo is not None else now.replace(tzinfo=UTC)
