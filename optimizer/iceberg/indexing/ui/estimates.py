"""Pages of what an index would do: asking from the tab, and the answer."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from optimizer.iceberg.indexing.services.estimates import estimate_request, get_estimate
from optimizer.iceberg.indexing.ui.table_tab import INDEXES
from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from portal.ui.frame.context import person
from portal.ui.tables.addresses import table_url as tab_url


@require_POST
def ask(request: HttpRequest, table_id: int) -> HttpResponse:
    """Have columns sampled, and lead to what comes of it."""
    user = person(request)
    table = get_table_for_user(table_id, user)
    columns = request.POST.get("columns", "").split(",")
    run = estimate_request(table, columns, user=user, now=timezone.now())
    return HttpResponseRedirect(reverse("optimizer:index-estimate-shown", args=[table_id, run.pk]))


@require_GET
def show(request: HttpRequest, table_id: int, run_id: UUID) -> HttpResponse:
    """Show what was found; the page asks again while the run is under way."""
    table = get_table_for_user(table_id, person(request))
    run = get_estimate(table, run_id)
    context = {
        "iceberg": table,
        "run": run,
        "found": run.result or None,
        "indexes_url": tab_url(table.lake, table.db, table.table, INDEXES),
    }
    part = "optimizer/_index_estimate.html" if request.headers.get("HX-Request") else ""
    return render(request, part or "optimizer/index_estimate.html", context)
