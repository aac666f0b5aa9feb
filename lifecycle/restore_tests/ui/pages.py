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
    ITEM_ORDERS,
    RESTORE_TEST_ORDERS,
    RestoreTestFilter,
    RestoreTestItemFilter,
    VerifiedDatabase,
    count_for,
    get_restore_test,
    items_visible,
    restore_test_run,
    restore_tests_of,
    verification_lasts,
    verified_databases,
)
from lifecycle.restore_tests.services.restore_tests import restore_test_every, restore_test_request
from portal.runs.requests.selectors import broker_problem, run_waits
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.tables import Column, Table


def restore_test_url(restore_test: RestoreTest) -> str:
    """Return the page of a restore test."""
    return reverse("lifecycle:drill", args=[restore_test.public_id])


def _verification_url(row: VerifiedDatabase) -> str | None:
    return reverse("lifecycle:drill", args=[row.last_by]) if row.last_by else None


def _batch_url(row: RestoreTestItem) -> str:
    return reverse("lifecycle:backup", args=[row.batch_id])


DATABASES = (
    Column(key="db", title="Database", kind="code"),
    Column(key="state", title="Restore", kind="state"),
    Column(key="verified_at", title="Last verified", kind="ago", url=_verification_url),
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

RESTORE_TESTS = ListSpec(
    template="lifecycle/restore_tests.html",
    caption="Restore tests",
    columns=(
        Column(key="started_at", title="Began", kind="ago", sort="started", url=restore_test_url),
        Column(key="state", title="Outcome", kind="state"),
        Column(key="n_verified", title="Proven", kind="count"),
        Column(key="n_differing", title="Differ", kind="count"),
        Column(key="n_skipped", title="Left out", kind="count"),
        Column(key="n_bytes", title="Bytes read", kind="bytes"),
        Column(key="n_rows", title="Rows read", kind="count"),
        Column(key="requested_by", title="Requested by"),
        Column(key="reason", title="Reason it is inconclusive", is_wide=True),
    ),
    orders=RESTORE_TEST_ORDERS,
    filename="restore-drills.csv",
    exports=(
        *("public_id", "state", "requested_by", "started_at", "finished_at", "n_items"),
        *("n_verified", "n_differing", "n_skipped", "n_bytes", "n_rows", "reason", "run_id"),
    ),
)

ITEMS = ListSpec(
    template="lifecycle/restore_test.html",
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
            template="lifecycle/_restore_test_reported.html",
            is_wide=True,
        ),
    ),
    orders=ITEM_ORDERS,
    filename="restore-drill-items.csv",
    exports=(
        *("db", "table", "partition", "day", "outcome", "format", "n_files", "n_bytes"),
        *("n_rows", "content", "reported", "checked_at", "batch_id"),
    ),
)


@require_GET
def restore_tests(request: HttpRequest) -> HttpResponseBase:
    """List the databases with the age of their proof, and the restore tests."""
    lake, user = current_lake(request), person(request)
    databases = verified_databases(lake, now=timezone.now(), user=user)
    if request.GET.get("format") == "csv" and request.GET.get("of") == "databases":
        return stream_csv(iter(databases), DATABASES_CSV, filename="restores-proven.csv")
    filterset = RestoreTestFilter(request.GET, queryset=restore_tests_of(lake))
    context = {
        "databases": Table(DATABASES, databases, "Last verified restore, by database"),
        "proof_days": verification_lasts().days,
        "every_days": restore_test_every().days,
        "may_test": user.is_lake_staff_of(lake),
    }
    complete = partial(count_for, user=user)
    return list_response(
        request, RESTORE_TESTS, filterset=filterset, context=context, complete=complete
    )


@require_GET
def restore_test(request: HttpRequest, drill_id: UUID) -> HttpResponseBase:
    """Show one restore test: how it goes, and what it compared of what this person answers for."""
    user, found = person(request), get_restore_test(drill_id)
    count_for([found], user=user)
    context: dict[str, Any] = {"restore_test": found, "may_test": user.is_lake_staff_of(found.lake)}
    run = restore_test_run(found) if user.is_lake_staff_of(found.lake) else None
    if run is not None:
        context |= {
            **{"run": run, "run_lives": not run.is_final},
            "waits": "" if run.is_final else run_waits(run, now=timezone.now()),
        }
    filterset = RestoreTestItemFilter(request.GET, queryset=items_visible(found, user))
    return list_response(request, ITEMS, filterset=filterset, context=context)


@require_POST
def restore_test_start(request: HttpRequest) -> HttpResponseRedirect:
    """Start a restore test, or go to the one that is under way."""
    found = restore_test_request(
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
    return HttpResponseRedirect(restore_test_url(found))
