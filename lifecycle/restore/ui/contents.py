"""The page that looks into the backup of one table: schema, counts, partition values; no rows."""

from datetime import date

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.restore.services.contents import (
    BackupOfTable,
    backup_inspection_request,
    backup_look_newest,
)
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.requests.selectors import run_waits
from portal.ui.frame.context import current_lake, person


@require_GET
def backup_contents(request: HttpRequest, day: date, db: str, table: str) -> HttpResponse:
    """Show what the newest look into a table's backup found."""
    what = BackupOfTable(day, db, table)
    run = backup_look_newest(current_lake(request), what, user=person(request))
    result = run.result if run is not None and isinstance(run.result, dict) else {}
    lives = run is not None and not run.is_final
    context = {
        "what": what,
        "run": run,
        "run_lives": lives,
        "waits": run_waits(run, now=timezone.now()) if run is not None and lives else None,
        "contents": result.get("contents"),
    }
    return render(request, "lifecycle/backup_contents.html", context)


@require_POST
def backup_contents_look(request: HttpRequest, day: date, db: str, table: str) -> HttpResponse:
    """Have a table's backup looked into; with `unless_read` only where nobody had it before."""
    lake, what, user = current_lake(request), BackupOfTable(day, db, table), person(request)
    unless_read = "unless_read" in request.POST
    if not unless_read or not _was_read(backup_look_newest(lake, what, user=user)):
        backup_inspection_request(lake, what, user=user, now=timezone.now())
        words = "The manifests are being read; what they say is shown here in a moment."
        messages.info(request, words)
    url = reverse("lifecycle:backup-contents", args=[day, db, table])
    return HttpResponseRedirect(f"{url}?lake={lake}")


def _was_read(run: Run | None) -> bool:
    """Whether a look is under way, or has found something."""
    return run is not None and (not run.is_final or run.state == RunState.DONE)
