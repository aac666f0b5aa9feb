"""The pages of clusters: all of them, one with its front ends, and its declared tables."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from portal.ui.frame.context import person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column, Table
from refresh.clusters.selectors.clusters import (
    CLUSTER_ORDERS,
    DECLARED_ORDERS,
    ClusterFilter,
    ClusterRow,
    DeclaredFilter,
    catalogs_of,
    cluster_row,
    clusters_for,
    declared_counts,
    declared_of,
    front_ends_of,
    get_cluster_for_user,
    has_worker,
    state_of_cluster,
)
from refresh.clusters.selectors.fe_cache_settings import judged_settings, setting_rows
from refresh.clusters.services.clusters import MOST_AT_ONCE
from refresh.core.domain.versions import Dialect, oldest
from refresh.models import Cluster
from refresh.worker.domain.lanes import Lane


def cluster_url(cluster: Cluster) -> str:
    """Return the page of a cluster."""
    return reverse("refresh:cluster", args=[cluster.name])


def _row_url(row: ClusterRow) -> str:
    return cluster_url(row.cluster)


CLUSTERS = (
    Column(key="cluster.name", title="Cluster", kind="code", url=_row_url, sort="name"),
    Column(key="state", title="State", kind="state"),
    Column(key="front_ends", title="Front ends"),
    Column(key="n_catalogs", title="Catalogs", kind="count"),
    Column(key="n_declared", title="Tables on resources", kind="count"),
    Column(key="n_drifted", title="Drifted", kind="count"),
    Column(key="cluster.read_at", title="Last read", kind="ago"),
    Column(key="cluster.problem", title="Problem", is_wide=True),
)
DECLARED = (
    Column(key="__str__", title="Table", kind="code", sort="name"),
    Column(key="resource", title="Resource", kind="code"),
    Column(key="lake", title="Lake"),
    Column(key="hive", title="Hive table", kind="code"),
    Column(key="state", title="Columns", kind="state"),
    Column(key="drift", title="What differs", is_wide=True),
    Column(key="drift_at", title="Compared", kind="ago"),
)


@require_GET
def clusters(request: HttpRequest) -> HttpResponseBase:
    """List the clusters, also as CSV."""
    chosen = ClusterFilter(request.GET, queryset=clusters_for(person(request)))
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        shown = (cluster_row(row) for row in rows.order_by("name"))
        return stream_csv(shown, CLUSTERS, filename="clusters.csv")
    page = keyset_page(rows, request.GET, orders=CLUSTER_ORDERS)
    found = [cluster_row(row) for row in page.rows]
    table = Table(CLUSTERS, found, "Clusters", tuple(CLUSTER_ORDERS), page.sort)
    context = {"filter": chosen, "page": page, "table": table}
    return render(request, "refresh/clusters.html", context)


@require_GET
def cluster(request: HttpRequest, name: str) -> HttpResponse:
    """Show one cluster: its front ends, what it stands for, and what it does by itself."""
    user, now = person(request), timezone.now()
    found = get_cluster_for_user(name, user=user)
    rows = front_ends_of(found, now=now)
    front_ends = [row.fe for row in rows]
    context: dict[str, Any] = {
        "found": found,
        "state": state_of_cluster(found, [fe.state for fe in front_ends]),
        "front_ends": rows,
        "catalogs": catalogs_of(found),
        "declared": declared_counts(found),
        "judged": judged_settings(front_ends),
        "settings": setting_rows(front_ends),
        "has_worker": has_worker(found, now=now),
        "is_admin": user.is_portal_admin,
        "has_one_lock": oldest(fe.dialect for fe in front_ends) is Dialect.RESOURCES,
        "least": len(Lane),
        "most": MOST_AT_ONCE,
    }
    return render(request, "refresh/cluster.html", context)


@require_GET
def reading(request: HttpRequest, name: str) -> HttpResponse:
    """Say how far the reading is that somebody asked for; once it is over, load the page again."""
    found = get_cluster_for_user(name, user=person(request))
    if found.read_requested_at is None:
        return HttpResponse(headers={"HX-Refresh": "true"})
    context = {"found": found, "has_worker": has_worker(found, now=timezone.now())}
    return render(request, "refresh/_cluster_reading.html", context)


@require_GET
def declared(request: HttpRequest, name: str) -> HttpResponseBase:
    """List a cluster's tables on resources with the drift of their columns, also as CSV."""
    found = get_cluster_for_user(name, user=person(request))
    chosen = DeclaredFilter(request.GET, queryset=declared_of(found))
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        ordered = rows.order_by("db", "table", "pk").iterator(chunk_size=2_000)
        return stream_csv(ordered, DECLARED, filename=f"{found.name}-tables.csv")
    page = keyset_page(rows, request.GET, orders=DECLARED_ORDERS)
    table = Table(DECLARED, page.rows, "Tables on resources", tuple(DECLARED_ORDERS), page.sort)
    context = {"found": found, "filter": chosen, "page": page, "table": table}
    return render(request, "refresh/cluster_tables.html", context)
