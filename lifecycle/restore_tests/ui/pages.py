"""The pages of restore tests.

How old each database's proof is, the restore tests, and what one found.
"""

from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.models import RestoreTest, RestoreTestItem
from lifecycle.restore_tests.selectors import (
    DRILL_ORDERS,
    ITEM_ORDERS,
    DatabaseProven,
    DrillFilter,
    DrillItemFilter,
    count_for,
    databases_proven,
    drill_run,
    drills_of,
    get_drill,
    items_visible,
    proof_lasts,
)
from lifecycle.restore_tests.services.drills import drill_every, drill_request
from portal.runs.requests.selectors import broker_problem, run_waits
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.tables import Column, Table


def drill_url(drill: RestoreTest) -> str:
    """Return the page of a restore test."""
    return reverse("lifecycle:drill", args=[drill.public_id])


def _proof_url(row: DatabaseProven) -> str | None:
    return reverse("lifecycle:drill", args=[row.last_by]) if row.last_by else None


def _batch_url(row: RestoreTestItem) -> str:
    return reverse("lifecycle:backup", args=[row.batch_id])


DATABASES = (
    Column(key="db", title="Database", kind="code"),
    Column(key="state", title="Restore", kind="state"),
    Column(key="verified_at", title="Last verified", kind="ago", url=_proof_url),
    Column(key="failed_at", title="Last failed", kind="ago"),
    Column(key="n_bytes", title="In backup", kind="bytes"),
    Column(key="backed_up_since", title="Backups since", kind="day"),
)
DATABASES_CSV = tuple(
    Column(key=key, title=key)
    for key in (
        *("db", "state", "verified_at", "proven_by", "failed_at", "failed_by", "n_bytes"),
        "backed_up_since",
    )
)

DRILLS = ListSpec(
    template="lifecycle/drills.html",
    caption="Restore tests",
    columns=(
        Column(key="started_at", title="Began", kind="ago", sort="started", url=drill_url),
        Column(key="state", title="Outcome", kind="state"),
        Column(key="n_verified", title="Proven", kind="count"),
        Column(key="n_differing", title="Differ", kind="count"),
        Column(key="n_skipped", title="Left out", kind="count"),
        Column(key="n_bytes", title="Bytes read", kind="bytes"),
        Column(key="n_rows", title="Rows read", kind="count"),
        Column(key="requested_by", title="Requested by"),
        Column(key="why", title="Reason it is inconclusive", is_wide=True),
    ),
    orders=DRILL_ORDERS,
    filename="restore-drills.csv",
    exports=(
        *("public_id", "state", "requested_by", "started_at", "finished_at", "n_items"),
        *("n_verified", "n_differing", "n_skipped", "n_bytes", "n_rows", "why", "run_id"),
    ),
)

ITEMS = ListSpec(
    template="lifecycle/drill.html",
    caption="What was restored and compared",
    columns=(
        Column(key="name", title="Item", kind="code", url=_batch_url, sort="name"),
        Column(key="outcome", title="Outcome", kind="state"),
        Column(key="format", title="Format"),
        Column(key="n_files", title="Files", kind="count"),
        Column(key="n_bytes", title="Size", kind="bytes"),
        Column(key="n_rows", title="Rows read", kind="count"),
        Column(
            key="differences",
            title="What differs",
            kind="template",
            template="lifecycle/_drill_said.html",
            is_wide=True,
        ),
    ),
    orders=ITEM_ORDERS,
    filename="restore-drill-items.csv",
    exports=(
        *("db", "table", "partition", "day", "outcome", "format", "n_files", "n_bytes"),
        *("n_rows", "content", "said", "checked_at", "batch_id"),
    ),
)


@require_GET
def drills(request: HttpRequest) -> HttpResponseBase:
    """List the databases with the age of their proof, and the restore tests."""
    lake, user = current_lake(request), person(request)
    databases = databases_proven(lake, now=timezone.now(), user=user)
    if request.GET.get("format") == "csv" and request.GET.get("of") == "databases":
        return stream_csv(iter(databases), DATABASES_CSV, filename="restores-proven.csv")
    filterset = DrillFilter(request.GET, queryset=drills_of(lake))
    context = {
        "databases": Table(DATABASES, databases, "Last verified restore, by database"),
        "proof_days": proof_lasts().days,
        "every_days": drill_every().days,
        "may_drill": user.is_lake_staff,
    }
    complete = partial(count_for, user=user)
    return list_response(request, DRILLS, filterset=filterset, context=context, complete=complete)


@require_GET
def drill(request: HttpRequest, drill_id: UUID) -> HttpResponseBase:
    """Show one restore test: how it goes, and what it compared of what this person answers for."""
    user, found = person(request), get_drill(drill_id)
    count_for([found], user=user)
    context: dict[str, Any] = {"drill": found, "may_drill": user.is_lake_staff}
    run = drill_run(found) if user.is_lake_staff else None
    if run is not None:
        context |= {
            **{"run": run, "run_lives": not run.is_final},
            "waits": "" if run.is_final else run_waits(run, now=timezone.now()),
        }
    filterset = DrillItemFilter(request.GET, queryset=items_visible(found, user))
    return list_response(request, ITEMS, filterset=filterset, context=context)


@require_POST
def drill_start(request: HttpRequest) -> HttpResponseRedirect:
    """Start a restore test, or go to the one that is under way."""
    found = drill_request(
        current_lake(request),
        user=person(request),
        reason=request.POST.get("reason", ""),
        now=timezone.now(),
    )
    if broker_problem():
        messages.warning(request, "The restore test is asked for and waits for the message broker.")
    else:
        messages.success(
            request, "The restore test is under way; what it finds is shown here at its end."
        )
    return HttpResponseRedirect(drill_url(found))
