"""Run kinds of restores, restore previews and backup listings."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from lifecycle.backup.models import BackupBatch
from lifecycle.backup.selectors import restorable_batches
from lifecycle.backup.services.beating import act_beat
from lifecycle.backup.services.fencing import restore_claims, restore_prepare
from lifecycle.backup.services.ingesting import act_ingest
from lifecycle.backup.services.locating import restore_that_has
from lifecycle.backup.services.settling import act_settle
from lifecycle.planning.services.approved_runs import left_lines
from lifecycle.restore.services.backups import ITEMS_KIND, PREVIEW_KIND, RESTORE_KIND, restore_start
from lifecycle.restore.services.reading import Wanted, backup_items_copy, restore_preview
from portal.access.models import User
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.logs import run_log_many

OTHER_RESTORE_FIRST = "Another restore of this day is under way; this one begins when it has ended."


class RestoreKind(RunKind):
    """Brings dropped tables and partitions back."""

    name = RESTORE_KIND
    job = "lifecycle.restore.jobs.restore"
    title = "Restore from backup"
    queue = "restore"
    acting = True

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait for another restore that has one of the same backups."""
        has = restore_that_has(_batches(run), but=str(run.pk))
        return OTHER_RESTORE_FIRST if has else ""

    def must_wait(self, error: Mapping[str, Any]) -> bool:
        """Wait, too, where another run took one between that look and the claim."""
        return error.get("code") == "act.claimed"

    def prepare(self, run: Run) -> None:
        """Claim the backups behind a fence."""
        restore_prepare(run, batches=_batches(run), now=timezone.now())

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job the claims and, where not all is wanted, the partitions."""
        return {
            **restore_claims(run, batches=_batches(run)),
            "batches": run.params["batches"],
            "items": run.params["partitions"],
            "rename_to": run.params.get("rename_to"),
            "only_missing": run.params.get("only_missing", False),
        }

    def beat(self, run: Run) -> None:
        """Renew the lease and tell the job of cancel and the emergency stop."""
        act_beat(run, now=timezone.now())

    def settle(self, run: Run) -> None:
        """Seal and settle."""
        act_settle(run, now=timezone.now())

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take the files' word into the catalogue, and the counts of every epoch."""
        now = timezone.now()
        report = act_ingest(run, manifest, now=now)
        run_log_many(run, left_lines(report.skipped), now=now)
        manifest["result"] = report.whole_result(manifest.get("result") or {})


def _batches(run: Run) -> list[BackupBatch]:
    return restorable_batches(run.params["batches"])


class PreviewKind(RunKind):
    """Says what a restore would do to each item, before it does anything."""

    name = PREVIEW_KIND
    title = "Preview of a restore"
    queue = "restore"

    def execute(self, run: Run) -> dict[str, Any]:
        """Read manifests, metastore and directories."""
        batches = BackupBatch.objects.filter(public_id__in=run.params["batches"]).order_by("id")
        return restore_preview(
            batches,
            lake=run.lake,
            wanted=Wanted.of(run.params),
            now=datetime.fromisoformat(run.params["now"]),
        )

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Go straight on to the restore where that was asked and nothing is in the way."""
        result = manifest.get("result") or {}
        if manifest["outcome"] != "done" or not run.params["straight_on"]:
            return
        if result.get("n_conflicts") or not result.get("n_ready"):
            return
        user = User.objects.get(username=run.requested_by)
        restore_start(run, result, user=user, now=timezone.now())


class ItemsKind(RunKind):
    """Copies the items of one backup batch into the portal's database."""

    name = ITEMS_KIND
    title = "Read the contents of a backup"
    queue = "restore"

    def execute(self, run: Run) -> dict[str, Any]:
        """Copy the items."""
        batch = BackupBatch.objects.get(public_id=run.params["batch"])
        return {"items": backup_items_copy(batch, now=datetime.fromisoformat(run.params["now"]))}


def register_backup_kinds() -> None:
    """Tell the platform of the runs of this file."""
    for kind in (RestoreKind(), PreviewKind(), ItemsKind()):
        register(kind)
