"""The pages of backups: days, tables, batches, items; preview of a restore and its run."""

from datetime import date
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.backup.models import BackupBatch
from lifecycle.backup.selectors import RESTORABLE
from lifecycle.restore.selectors.backups import (
    BackupChoice,
    backup_day_rows,
    backup_table_rows,
    batches_for_user,
    get_batch_for_user,
    items_of_batch,
    may_restore,
    may_restore_batch,
    newest_look,
    probes_of_batch,
)
from lifecycle.restore.selectors.verifications import (
    newest_verification_of_batch,
    newest_verification_of_day,
    verified_days,
)
from lifecycle.restore.services.backups import (
    ITEMS_KIND,
    RestoreParams,
    backup_items_request,
    get_preview_for_user,
    restore_preview_request,
    restore_request,
    restore_run_of,
)
from lifecycle.restore.services.names import RestoreTo
from lifecycle.restore.services.restores import RestoreRow, restores_of
from lifecycle.restore.services.undo import is_theirs, may_undo, n_standing, undo_runs
from portal.access.models import User
from portal.lake.errors import NotVisible, RuleViolation
from portal.runs.models import Run
from portal.runs.requests.selectors import run_waits
from portal.safety.selectors import pauses_since
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column

DAYS_SHOWN = 400
ROWS_SHOWN = 200
_SHOWN = frozenset(("n_items", "n_ready", "n_conflicts"))
CSV = tuple(
    Column(key=key, title=key)
    for key in (
        *("day", "db", "table", "table_owner", "batch", "state", "n_items", "n_restored"),
        *("n_bytes", "n_files", "first_partition", "last_partition", "dropped_at"),
        *("purge_after", "purge_tried_at", "purge_skipped_reason", "purged_at", "seconds"),
        *("run_id", "public_id"),
    )
)


class RestoreForm(forms.Form):
    """What is to come back, and why."""

    day = forms.DateField(required=False)
    db = forms.CharField(required=False, max_length=128)
    table = forms.CharField(required=False, max_length=256)
    batches = forms.UUIDField(required=False)
    partitions = forms.CharField(required=False, max_length=767, strip=False)
    straight_on = forms.BooleanField(required=False)
    only_missing = forms.BooleanField(required=False)
    where = forms.ChoiceField(required=False, choices=[("", ""), ("as", "as"), ("into", "into")])
    to_db = forms.CharField(required=False, max_length=128)
    to_table = forms.CharField(required=False, max_length=128)
    reason = forms.CharField(max_length=1000)


@require_GET
def backups(request: HttpRequest) -> HttpResponseBase:
    """List the days of backups, newest first."""
    lake, user = current_lake(request), person(request)
    if request.GET.get("format") == "csv":
        rows = batches_for_user(lake, user).order_by("-day", "db", "table", "batch")
        return stream_csv(rows.iterator(chunk_size=2_000), CSV, filename=f"backups-{lake}.csv")
    proven = verified_days(lake)
    days = [(row, proven.get(row.day)) for row in backup_day_rows(lake, user, limit=DAYS_SHOWN)]
    context = {"days": days, "now": timezone.now()}
    return render(request, "lifecycle/backups.html", context)


@require_GET
def backup_day(request: HttpRequest, day: date) -> HttpResponse:
    """List the tables that were backed up on one day."""
    lake, user = current_lake(request), person(request)
    rows = batches_for_user(lake, user).filter(day=day)
    if not rows.exists():
        raise NotVisible("backup.missing", "There is no backup of that day for you.")
    context = {
        "day": day,
        "now": timezone.now(),
        "proof": newest_verification_of_day(lake, day),
        "page": keyset_page(
            backup_table_rows(lake, user, day=day), request.GET, orders={"name": ("db", "table")}
        ),
        "may_restore": may_restore(user, rows),
        "restorable": rows.filter(state__in=RESTORABLE).exists(),
        "restores": _restores(lake, rows, since=day, user=user),
    }
    return render(request, "lifecycle/backup_day.html", context)


@require_GET
def backup_table(request: HttpRequest, day: date, db: str, table: str) -> HttpResponse:
    """List the batches of one table of one day."""
    lake, user = current_lake(request), person(request)
    rows = batches_for_user(lake, user).filter(day=day, db=db, table=table)
    if not rows.exists():
        raise NotVisible("backup.missing", "There is no such backup, or it is not yours to see.")
    page = keyset_page(rows, request.GET, orders={"batch": ("batch",)})
    context = {
        **{"day": day, "db": db, "table": table, "page": page, "now": timezone.now()},
        "may_restore": may_restore(user, rows),
        "restorable": rows.filter(state__in=RESTORABLE).exists(),
        "restores": _restores(lake, rows, since=day, user=user),
    }
    return render(request, "lifecycle/backup_table.html", context)


@require_GET
def backup(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """Show one batch: state, probes, and its items once they have been looked at."""
    user = person(request)
    batch = get_batch_for_user(batch_id, user=user)
    reading = newest_look(batch, kind=ITEMS_KIND)
    restores = restores_of(batch.lake, [str(batch.public_id)], since=batch.day, user=user)
    context = {
        "batch": batch,
        "now": timezone.now(),
        "probes": probes_of_batch(batch),
        "proof": newest_verification_of_batch(batch.lake, batch.public_id),
        "items": keyset_page(items_of_batch(batch), request.GET, orders={"name": ("partition",)}),
        "reading": reading,
        "reading_lives": reading is not None and not reading.is_final,
        "restorable": batch.state in RESTORABLE,
        "may_restore": may_restore_batch(user, batch),
        "restores": restores,
        "pauses": pauses_since(batch.lake, batch.dropped_at),
        "undone": [one for one in restores if one.is_taken_back],
        "table_url": reverse("lifecycle:backup-table", args=[batch.day, batch.db, batch.table]),
    }
    return render(request, "lifecycle/backup.html", context)


@require_POST
def backup_look(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """Have the items of a batch read."""
    backup_items_request(batch_id, user=person(request), now=timezone.now())
    messages.info(request, "The backup is being read; its items are shown here in a moment.")
    return HttpResponseRedirect(reverse("lifecycle:backup", args=[batch_id]))


@require_POST
def restore_new(request: HttpRequest) -> HttpResponse:
    """Preview a restore; with `straight_on` it goes ahead by itself when nothing is in the way."""
    form = RestoreForm(request.POST)
    if not form.is_valid():
        raise RuleViolation("restore.form", "Choose what to restore and enter a reason.")
    data = form.cleaned_data
    choice = BackupChoice(
        day=data["day"],
        db=data["db"],
        table=data["table"],
        batch_ids=(data["batches"],) if data["batches"] else (),
        partitions=tuple(request.POST.getlist("partitions")),
    )
    where = data["where"]
    wish = RestoreParams(
        choice,
        data["reason"],
        straight_on=data["straight_on"],
        only_missing=data["only_missing"],
        to=RestoreTo(data["to_db"], data["to_table"], into=where == "into") if where else None,
    )
    run = restore_preview_request(
        current_lake(request), wish, user=person(request), now=timezone.now()
    )
    return HttpResponseRedirect(reverse("lifecycle:restore", args=[run.pk]))


@require_GET
def restore(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show what a restore would meet, what a person may do, and how the restore goes."""
    user = person(request)
    preview = get_preview_for_user(run_id, user=user)
    context = _restore_context(preview)
    context["may_undo"] = context["can_go_back"] and is_theirs(preview, user=user)
    return render(request, "lifecycle/restore.html", context)


@require_GET
def restore_progress(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Return the live part of a restore's page; when its step changes the page is loaded again."""
    preview = get_preview_for_user(run_id, user=person(request))
    context = _restore_context(preview)
    response = render(request, "lifecycle/_restore_progress.html", context)
    if request.GET.get("was") not in (None, context["step"]):
        response["HX-Refresh"] = "true"
    return response


@require_POST
def restore_go(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Restore what the preview showed."""
    user = person(request)
    preview = get_preview_for_user(run_id, user=user)
    restore_request(preview, user=user, now=timezone.now())
    messages.success(request, "The restore has begun.")
    return HttpResponseRedirect(reverse("lifecycle:restore", args=[run_id]))


def _restores(
    lake: str, batches: QuerySet[BackupBatch], *, since: date, user: User
) -> list[RestoreRow]:
    ids = [str(one) for one in batches.values_list("public_id", flat=True)]
    return restores_of(lake, ids, since=since, user=user)


def _restore_context(preview: Run) -> dict[str, Any]:
    run = restore_run_of(preview)
    # A preview that failed has no result, or one that says nothing of items.
    shown = preview.result if isinstance(preview.result, dict) else {}
    result = shown if shown.keys() >= _SHOWN else {}
    undo = undo_runs(run).first() if run is not None else None
    states = [one.state if one else "none" for one in (preview, run, undo)]
    step = "-".join(states)
    lives = any(one is not None and not one.is_final for one in (preview, run, undo))
    done = (run.result or {}) if run is not None and isinstance(run.result, dict) else {}
    undone = (undo.result or {}) if undo is not None and isinstance(undo.result, dict) else {}
    waits = run_waits(undo or run or preview, now=timezone.now())
    return {
        "waits": waits,
        "preview": preview,
        "result": result,
        "rows": result.get("rows", [])[:ROWS_SHOWN],
        "run": run,
        "done": done,
        "n_standing": n_standing(run) if run is not None else 0,
        "undo": undo,
        "undone": undone,
        "can_go_back": not lives and may_undo(run),
        "step": step,
        "lives": lives,
        "may_go": preview.is_final and run is None and bool(result.get("n_ready")),
    }
