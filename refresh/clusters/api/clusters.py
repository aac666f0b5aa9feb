"""API of clusters for admins and operators. It does all that their pages do."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request

from portal.access.fresh import check_fresh, is_fresh
from portal.access.roles.domain import ALL_LAKES
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer
from portal.ui.frame.context import person
from refresh.clusters.api.serializers import (
    ClusterAddSerializer,
    ClusterDetailSerializer,
    ClusterEditSerializer,
    ClusterLimitsSerializer,
    ClusterParamsSerializer,
    ClusterRowSerializer,
    ClusterSerializer,
    DeclaredSerializer,
    RemoveSerializer,
    TrialSerializer,
)
from refresh.clusters.selectors.clusters import (
    CLUSTER_ORDERS,
    DECLARED_ORDERS,
    ClusterFilter,
    DeclaredFilter,
    catalogs_of,
    check_lake_staff,
    cluster_row,
    clusters_for,
    declared_counts,
    declared_of,
    front_ends_of,
    get_cluster_for_user,
    state_of_cluster,
)
from refresh.clusters.selectors.fe_cache_settings import judged_settings
from refresh.clusters.services.clusters import (
    Actor,
    cluster_add,
    cluster_limits,
    cluster_pause,
    cluster_read_ask,
    cluster_remove,
    cluster_resume,
)
from refresh.clusters.services.editing import cluster_edit
from refresh.clusters.services.fe_client import BRIEF
from refresh.clusters.services.trial import ClusterParams, cluster_test
from refresh.models import Cluster
from refresh.worker.domain.scheduling import Limits


class ClusterList(KeysetList):
    """Clusters."""

    operation_id = "refresh_clusters_list"
    page_name = "RefreshCluster"
    serializer_class = ClusterRowSerializer
    filterset_class = ClusterFilter
    orders = CLUSTER_ORDERS

    def get_queryset(self) -> Rows:
        """List the clusters (admins and operators)."""
        return clusters_for(self.user)

    def completed(self, rows: list[Any]) -> list[Any]:
        """Say of each cluster how it stands."""
        for row in rows:
            row.stands = cluster_row(row)
        return rows

    @operation(
        "refresh_clusters_add", body=ClusterAddSerializer, answer=ClusterSerializer, status=201
    )
    def post(self) -> object:
        """Try a cluster out and take it in (admins and operators)."""
        check_lake_staff(self.user)
        data = self.data
        by, now = _actor(self.request), timezone.now()
        return cluster_add(data["name"], _wish(data), by=by, now=now, budget=BRIEF)


class ClusterTest(ApiView):
    """Trying a cluster out."""

    @operation("refresh_clusters_test", body=ClusterParamsSerializer, answer=TrialSerializer)
    def post(self) -> object:
        """Try a cluster out; nothing is stored or refreshed (admins and operators)."""
        check_lake_staff(self.user)
        wish = _wish(self.data)
        return cluster_test(wish, reach=_actor(self.request).reach, budget=BRIEF)


class ClusterDetail(ApiView):
    """One cluster."""

    @operation("refresh_clusters_get", answer=ClusterDetailSerializer)
    def get(self, name: str) -> object:
        """Return a cluster with its front ends, catalogs and settings to change."""
        found = get_cluster_for_user(name, user=self.user)
        rows = front_ends_of(found, now=timezone.now())
        front_ends = [row.fe for row in rows]
        return {
            "cluster": found,
            "state": state_of_cluster(found, [fe.state for fe in front_ends]),
            "front_ends": rows,
            "catalogs": catalogs_of(found),
            "declared": declared_counts(found),
            "settings": judged_settings(front_ends),
        }


class ClusterTables(KeysetList):
    """Tables on resources."""

    operation_id = "refresh_clusters_tables"
    page_name = "RefreshDeclaredTable"
    serializer_class = DeclaredSerializer
    filterset_class = DeclaredFilter
    orders = DECLARED_ORDERS

    def get_queryset(self) -> Rows:
        """List a cluster's tables on resources with the drift of their columns."""
        return declared_of(get_cluster_for_user(self.kwargs["name"], user=self.user))


class ClusterEdit(ApiView):
    """Changing how a cluster is reached."""

    @operation("refresh_clusters_edit", body=ClusterEditSerializer, answer=ClusterSerializer)
    def post(self, name: str) -> object:
        """Try other addresses or another login out and keep them; 409 = it was changed since."""
        found, by = _to_change(self.request, name)
        data = self.data
        version, now = data["version"], timezone.now()
        cluster_edit(found, _wish(data), version=version, by=by, now=now, budget=BRIEF)
        return _as_it_is(found)


class ClusterRead(ApiView):
    """Reading a cluster again."""

    @operation("refresh_clusters_read", answer=ClusterSerializer, status=202)
    def post(self, name: str) -> object:
        """Have the worker read it all; once `read_asked_at` is null `problem` says what failed."""
        found, by = _to_change(self.request, name)
        cluster_read_ask(found, by=by, now=timezone.now())
        return _as_it_is(found)


class ClusterPause(ApiView):
    """Pausing a cluster."""

    @operation("refresh_clusters_pause", body=ReasonSerializer, answer=ClusterSerializer)
    def post(self, name: str) -> object:
        """Send nothing to it any more; changes are kept."""
        found, by = _to_change(self.request, name)
        cluster_pause(found, by=by, reason=self.data["reason"], now=timezone.now())
        return _as_it_is(found)


class ClusterResume(ApiView):
    """Going on with a cluster."""

    @operation("refresh_clusters_resume", body=ReasonSerializer, answer=ClusterSerializer)
    def post(self, name: str) -> object:
        """Go on; what waits is sent."""
        found, by = _to_change(self.request, name)
        cluster_resume(found, by=by, reason=self.data["reason"], now=timezone.now())
        return _as_it_is(found)


class ClusterLimits(ApiView):
    """Bounding a cluster."""

    @operation("refresh_clusters_limits", body=ClusterLimitsSerializer, answer=ClusterSerializer)
    def post(self, name: str) -> object:
        """Say how many statements may run at once."""
        found, by = _to_change(self.request, name)
        data = self.data
        limits = Limits(data["per_fe"], data["per_catalog"])
        cluster_limits(found, limits, hours=data["large_table_window"], by=by, now=timezone.now())
        return _as_it_is(found)


class ClusterRemove(ApiView):
    """Giving a cluster up."""

    @operation("refresh_clusters_remove", body=RemoveSerializer, status=204)
    def post(self, name: str) -> None:
        """Remove it with its queue and history (admins, with a fresh log-in)."""
        found, by = _to_change(self.request, name)
        now = timezone.now()
        check_fresh(self.request._request, now)
        data = self.data
        cluster_remove(found, by=by, typed=data["typed"], reason=data["reason"], now=now)


def _to_change(request: Request, name: str) -> tuple[Cluster, Actor]:
    return get_cluster_for_user(name, user=person(request)), _actor(request)


def _actor(request: Request) -> Actor:
    is_proven = is_fresh(request._request, timezone.now())
    return Actor.of(person(request), lake=ALL_LAKES, is_fresh=is_proven)


def _said(request: Request, serializer: type[serializers.Serializer[object]]) -> dict[str, Any]:
    body = serializer(data=request.data)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)


def _wish(data: dict[str, Any]) -> ClusterParams:
    return ClusterParams(tuple(data["addresses"]), data["user"], data["password_file"])


def _as_it_is(cluster: Cluster) -> Cluster:
    cluster.refresh_from_db()
    return cluster
