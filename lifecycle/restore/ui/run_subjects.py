"""Links previews, restores, their undo and looks into backups to their pages."""

from datetime import date
from urllib.parse import urlencode

from django.urls import reverse

from lifecycle.core.ui.run_subjects import linked, page_subject
from lifecycle.restore.services.backups import PREVIEW_KIND
from portal.runs.models import Run
from portal.runs.requests.selectors import get_run
from portal.ui.run_steps import RunSubject, register_run_subject

_PREVIEW = "restore_preview"


def register_run_subjects() -> None:
    """Register the subjects of runs about backups."""
    register_run_subject(_PREVIEW, linked(lambda run: _restore(run.subject_id, lake=run.lake)))
    register_run_subject("restore", linked(_undone), in_lists=False)
    register_run_subject("backup", linked(_backup))
    register_run_subject("backup_table", linked(_contents))


def _restore(preview_id: str, *, lake: str) -> RunSubject:
    return page_subject("Restore", "lifecycle:restore", preview_id, lake=lake)


def _undone(run: Run) -> RunSubject | None:
    """Link an undo to the page of the restore that it takes back."""
    restore = get_run(run.subject_id)
    if restore.subject_type != _PREVIEW:
        return None
    return _restore(restore.subject_id, lake=restore.lake)


def _backup(run: Run) -> RunSubject | None:
    """Link a preview to its own page, and a look into a batch to the batch."""
    if run.kind == PREVIEW_KIND:
        return _restore(str(run.pk), lake=run.lake)
    if "batch" in run.params:
        return RunSubject("Backup batch", reverse("lifecycle:backup", args=[run.params["batch"]]))
    return None


def _contents(run: Run) -> RunSubject:
    """Link a look into a table's backup to what it found."""
    day, db, table = (str(run.params[key]) for key in ("day", "db", "table"))
    url = reverse("lifecycle:backup-contents", args=[date.fromisoformat(day), db, table])
    return RunSubject(f"Backup of {db}.{table}", f"{url}?{urlencode({'lake': run.lake})}")
