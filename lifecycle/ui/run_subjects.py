"""Links the runs of this area to the pages of what they are about."""

from collections.abc import Callable
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from lifecycle.services.backups import PREVIEW_KIND
from lifecycle.ui.links import database_url, table_url
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.runs.selectors import get_run
from portal.ui.run_steps import RunSubject, register_run_subject

_PAGES = {
    "drop_plan": ("Drop plan", "lifecycle:plan"),
    "path_fix": ("Fix plan", "lifecycle:path-fix"),
    "enrolment": ("Enrolment", "lifecycle:enrolment"),
    "policy_request": ("Policy request", "lifecycle:policy-request"),
    "restore_preview": ("Restore", "lifecycle:restore"),
}


def register_run_subjects() -> None:
    """Register every type of subject that the runs of this area have."""
    for subject_type in _PAGES:
        register_run_subject(subject_type, _linked(_page))
    register_run_subject("restore", _linked(_undone))
    register_run_subject("backup", _linked(_backup))
    register_run_subject("table", _linked(_table))
    register_run_subject("database", _linked(_database))


def _linked(make: Callable[[Run], RunSubject | None]) -> Callable[[Run], RunSubject | None]:
    """Return a maker that gives None for what is gone, or has a name that no address can hold."""

    def subject(run: Run) -> RunSubject | None:
        try:
            return make(run)
        except (NoReverseMatch, NotVisible):
            return None

    return subject


def _page(run: Run) -> RunSubject:
    return _page_of(run.subject_type, run.subject_id, lake=run.lake)


def _page_of(subject_type: str, subject_id: str, *, lake: str) -> RunSubject:
    title, name = _PAGES[subject_type]
    url = reverse(name, args=[subject_id])
    return RunSubject(f"{title} {subject_id[:8]}", f"{url}?{urlencode({'lake': lake})}")


def _undone(run: Run) -> RunSubject | None:
    """Link an undo to the page of the restore that it takes back."""
    restore = get_run(run.subject_id)
    return _page(restore) if restore.subject_type == "restore_preview" else None


def _backup(run: Run) -> RunSubject | None:
    """Link a preview to its own page, and a look into a batch to the batch."""
    if run.kind == PREVIEW_KIND:
        return _page_of("restore_preview", str(run.pk), lake=run.lake)
    if "batch" in run.params:
        return RunSubject("Backup batch", reverse("lifecycle:backup", args=[run.params["batch"]]))
    return None


def _table(run: Run) -> RunSubject:
    db, _, table = run.subject_id.partition(".")
    return RunSubject(run.subject_id, table_url(run.lake, db, table))


def _database(run: Run) -> RunSubject:
    return RunSubject(run.subject_id, database_url(run.lake, run.subject_id))
