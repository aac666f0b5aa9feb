"""Set the checks of a table from a shell, and in demos have its past windows measured at once."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from portal.access.lakes import get_lake, lake_word
from portal.access.models import User
from portal.access.shell import user_named
from portal.connectors.metastore import Metastore
from portal.lake.errors import PortalError
from portal.runs.domain import RunState
from portal.runs.requests.services import run_drive
from quality.checks.domain.documents import read_document
from quality.checks.domain.judge import Outcome
from quality.checks.models import EVERY_MINUTES
from quality.checks.services.declaring import Timing, checks_set, next_time
from quality.checks.services.requests import check_request, newest_windows
from quality.models import CheckSet


class Command(BaseCommand):
    """Sets the rules of one table; set again they are as they were."""

    help = "Set the checks of a table: YAML or JSON as on the page."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the document, and who sets it."""
        parser.add_argument("document", help="the check set itself, as YAML or JSON")
        parser.add_argument("--lake", type=lake_word, default="")
        parser.add_argument("--user", required=True, help="who sets it")
        parser.add_argument("--every", type=int, default=EVERY_MINUTES, help="minutes")
        parser.add_argument("--on-commit", action="store_true", help="also soon after a commit")
        parser.add_argument(
            "--measure",
            type=int,
            metavar="N",
            help="measure the newest N windows to the end, in this process; for demos only",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Set it, whatever was set before."""
        if options["measure"] and not settings.LAKEWARDEN_ALLOW_PLAYED_TIME:
            raise CommandError("--measure is for demos and tests; this portal's workers measure.")
        user = user_named(options["user"])
        try:
            row = _set(options, user)
            self.stdout.write(f"The checks of {row} are at version {row.version}.")
            if options["measure"]:
                self.stdout.write(f"* {_measured(row, options['measure'], user)}")
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error


def _set(options: dict[str, Any], user: User) -> CheckSet:
    lake, text = options["lake"], options["document"]
    table = read_document(text).table
    db, _, name = table.partition(".")
    known = CheckSet.objects.filter(lake=lake, db=db, table=name).first()
    return checks_set(
        lake,
        text,
        timing=Timing(options["every"], options["on_commit"]),
        version=known.version if known else None,
        user=user,
        now=timezone.now(),
    )


def _measured(row: CheckSet, most: int, user: User) -> str:
    now, key = timezone.now(), row.checks.partition_key
    windows: list[str] = []
    if key:
        with Metastore.connect(get_lake(row.lake)) as metastore:
            windows = newest_windows(row.hive, key, metastore.table(row.hive), metastore, most=most)
    # The schedule would else measure the newest of them beside this, or again at once.
    CheckSet.objects.filter(pk=row.pk).update(next_at=next_time(row, now=now))
    run = run_drive(check_request(row, windows=windows, by=user.username, now=now).pk)
    if run.state != RunState.DONE:
        raise CommandError(f"{row} was not measured: its run {run.pk} ended as {run.state}.")
    n_failed = row.results.filter(outcome=Outcome.FAILED.value).count()
    return f"{row}: {len(windows)} windows measured, {n_failed} results failed"
