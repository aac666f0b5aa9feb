"""The pages of tables: how each stands in each cluster, and one of them on every front end."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from portal.access.models import User
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column
from portal.ui.tables.addresses import moved_to_tab, tab_or
from portal.ui.tables.addresses import table_url as tab_url
from refresh.core.selectors.addresses import read_addresses
from refresh.freshness.selectors.table_health import CACHE
from refresh.freshness.selectors.tables import (
    COUNTED_AT_MOST,
    TARGET_ORDERS,
    TargetFilter,
    changes_of,
    checks_of,
    get_target_for_user,
    n_changes_of,
    n_wrong,
    on_front_ends,
    targets_visible,
)
from refresh.freshness.ui.charts import table_charts
from refresh.freshness.ui.forms import AskForm
from refresh.history.selectors import recent_activity_of
from refresh.models import RefreshTarget

CHANGES_SHOWN = 50
HISTORY_SHOWN = 20


def table_url(row: RefreshTarget) -> str:
    """Return the page of a table at its tab Cache, in this cluster.

    Of a table that is gone it is the former address: the table's page has no cache any more.
    """
    if row.watched.is_deleted:
        return reverse("refresh:table", args=[row.pk])
    watched = row.watched
    return tab_url(watched.lake, watched.db, watched.table, CACHE, target=str(row.pk))


def page_after(row: RefreshTarget, user: User) -> str:
    """Return where a person goes after something was done: the tab, where the catalog has it."""
    watched, own = row.watched, reverse("refresh:table", args=[row.pk])
    if watched.is_deleted:
        return own
    name, target = (watched.lake, watched.db, watched.table), str(row.pk)
    return tab_or(name, CACHE, user=user, otherwise=own, target=target)


def _cell(title: str, name: str, **options: Any) -> Column:
    template = f"refresh/_cell_{name}.html"
    return Column(key="", title=title, kind="template", template=template, **options)


TABLES = ListSpec(
    template="refresh/tables.html",
    caption="Tables and their status",
    columns=(
        _cell("Table", "table"),
        Column(key="cluster.name", title="Cluster"),
        _cell("Query result status", "standing", sort="danger", is_wide=True),
        _cell("Front ends", "fes"),
        Column(key="refreshed_at", title="Refreshed", kind="ago", help="When all that live had it"),
        Column(key="stale_since", title="Stale since", kind="ago"),
        _cell("In progress", "waits", is_wide=True),
    ),
    orders=TARGET_ORDERS,
    filename="refresh-tables.csv",
    exports=(
        "cluster.name", "catalog", "db", "table", "watched.lake", "watched.db", "watched.table",
        "watched.owner", "danger", "freshness", "reason", "refreshed_at", "stale_since",
        "due_at", "waits_since", "is_urgent", "not_before", "n_tries", "running_since",
        "running_on_address", "problem", "watched.is_opted_out", "watched.opted_out_by",
        "watched.opted_out_reason",
    ),
)  # fmt: skip


@require_GET
def tables(request: HttpRequest) -> HttpResponseBase:
    """List the tables that the person may see, what may be answered wrongly now first."""
    lake, user = current_lake(request), person(request)
    filterset = TargetFilter(request.GET, queryset=targets_visible(lake, user))
    context = {"n_wrong": n_wrong(lake, user)}
    return list_response(
        request, TABLES, filterset=filterset, context=context, complete=read_addresses
    )


@require_GET
def table(request: HttpRequest, target_id: int) -> HttpResponse:
    """Lead to the tab of the table's page; show it here where the catalog has no such table."""
    target = get_target_for_user(target_id, person(request))
    hive = target.watched
    moved = None
    if not hive.is_deleted:
        moved = moved_to_tab(
            request, hive.db, hive.table, "cache", lake=hive.lake, target=str(target.pk)
        )
    return moved or table_page(request, target, AskForm())


def table_page(
    request: HttpRequest,
    target: RefreshTarget,
    form: AskForm,
    *,
    status: int = 200,
    others: Sequence[RefreshTarget] = (),
) -> HttpResponse:
    """Show a table on every front end, what is owed, its past, and what may be done.

    `form` may hold what was asked and refused; `others` are the same table in other clusters.
    """
    lately = recent_activity_of(target)
    n_changes = n_changes_of(target)
    context = {
        "target": target,
        "others": others,
        "on_fes": on_front_ends(target),
        "checks": checks_of(target),
        "changes": changes_of(target).order_by("id")[:CHANGES_SHOWN],
        "n_changes": min(n_changes, COUNTED_AT_MOST),
        "more_changes": "+" if n_changes > COUNTED_AT_MOST else "",
        "charts": table_charts(lately),
        "lately": lately[:HISTORY_SHOWN],
        "form": form,
        "may_keep": person(request).is_lake_staff_of(target.watched.lake),
        "now": timezone.now(),
    }
    return render(request, "refresh/table.html", context, status=status)
