"""Look after one Iceberg table from a shell: how it stands, run it now, pause and resume it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from optimizer.core.domain.tasks import TaskKind
from optimizer.core.services.actions import table_pause, table_resume
from optimizer.iceberg.planner.services.actions import dry_run, kind_for_now, optimize_now
from optimizer.models import IcebergTable
from portal.access.lakes import lake_word
from portal.lake.errors import PortalError


class Command(BaseCommand):
    """Each change is audited as made at the shell."""

    help = "Show an Iceberg table, plan, run, pause or resume it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the table and the step."""
        parser.add_argument("step", choices=["status", "plan", "run", "pause", "resume"])
        parser.add_argument("table", help="db.table")
        parser.add_argument("--lake", type=lake_word, default="")
        parser.add_argument("--kind", choices=[kind.value for kind in TaskKind])
        parser.add_argument("--reason", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        """Take the step."""
        row = self._row(options)
        now, reason = timezone.now(), options["reason"]
        try:
            match options["step"]:
                case "status":
                    self._status(row)
                case "plan":
                    self._plan(row)
                case "run":
                    kind = TaskKind(options["kind"] or kind_for_now(row))
                    task = optimize_now(row, kind, user=None, reason=reason, now=now)
                    self.stdout.write(f"Queued: task {task.pk}, {task.kind} of {row}.")
                case "pause":
                    table_pause(row, user=None, reason=reason, now=now)
                    self.stdout.write(f"{row} is paused.")
                case _:
                    table_resume(row, user=None, reason=reason, now=now)
                    self.stdout.write(f"{row} goes on.")
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error

    def _row(self, options: dict[str, Any]) -> IcebergTable:
        db, _, table = options["table"].partition(".")
        rows = IcebergTable.objects.filter(lake=options["lake"], db=db, table=table)
        row = rows.order_by("is_deleted", "-pk").first()
        if row is None:
            raise CommandError(f"No Iceberg table {options['table']} is known.")
        return row

    def _status(self, row: IcebergTable) -> None:
        if row.is_deleted:
            state = "gone"
        else:
            state = f"paused: {row.paused_reason}" if row.is_paused else "maintained"
        health = "not inspected yet" if row.health is None else f"health {row.health:.0f}"
        self.stdout.write(f"{row} ({state}): {row.n_files} files, {row.n_bytes} bytes, {health}")
        if row.decision:
            self.stdout.write(f"  {row.decision}")
        for task in row.tasks.filter(is_open=True).order_by("pk"):
            self.stdout.write(f"  {task.kind} {task.state}: {task.waits_for or task.reason}")

    def _plan(self, row: IcebergTable) -> None:
        plan = dry_run(row, user=None, now=timezone.now())
        for one in plan.tasks:
            cost = f", {one.estimate.seconds:.0f} s" if one.is_timed else ""
            n_bytes = one.estimate.bytes_read
            files = f"{one.estimate.n_files_read} files, {n_bytes} bytes"
            self.stdout.write(f"{one.kind}: {one.reason} Reads {files}{cost}.")
        for reason, count in plan.not_done.items():
            self.stdout.write(f"not done ({count}): {reason}")
