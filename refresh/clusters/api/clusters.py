"""API of clusters for admins and operators. It does all that their pages do."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.access.fresh import check_fresh, is_fresh
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import person
from refresh.clusters.api.serializers import (
    ClusterAddSerializer,
    ClusterDetailSerializer,
    ClusterEditSerializer,
    ClusterLimitsSerializer,
    ClusterRowSerializer,
    ClusterSerializer,
    ClusterWishSerializer,
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
    check_keeper,
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
from refresh.clusters.services.trial import ClusterWish, cluster_test
from refresh.models import Cluster
from refresh.worker.domain.scheduling import Limits


class ClusterList(APIView):
    """Clusters."""

    @extend_schema(
        operation_id="refresh_clusters_list",
        responses=page_of("RefreshCluster", ClusterRowSerializer),
        parameters=list_parameters("name", "paused"),
    )
    def get(self, request: Request) -> Response:
        """List the clusters (admins and operators)."""
        return keyset_response(
            request,
            clusters_for(person(request)),
            filter_class=ClusterFilter,
            orders=CLUSTER_ORDERS,
            show=_row,
        )

    @extend_schema(
        operation_id="refresh_clusters_add",
        request=ClusterAddSerializer,
        responses={201: ClusterSerializer},
    )
    def post(self, request: Request) -> Response:
        """Try a cluster out and take it in (admins and operators)."""
        user = person(request)
        check_keeper(user)
        said = _said(request, ClusterAddSerializer)
        by, now = _actor(request), timezone.now()
        made = cluster_add(said["name"], _wish(said), by=by, now=now, budget=BRIEF)
        return Response(ClusterSerializer(made).data, status=201)


class ClusterTest(APIView):
    """Trying a cluster out."""

    @extend_schema(
        operation_id="refresh_clusters_test",
        request=ClusterWishSerializer,
        responses=TrialSerializer,
    )
    def post(self, request: Request) -> Response:
        """Try a cluster out; nothing is stored or refreshed (admins and operators)."""
        check_keeper(person(request))
        wish = _wish(_said(request, ClusterWishSerializer))
        report = cluster_test(wish, reach=_actor(request).reach, budget=BRIEF)
        return Response(TrialSerializer(report).data)


class ClusterDetail(APIView):
    """One cluster."""

    @extend_schema(operation_id="refresh_clusters_get", responses=ClusterDetailSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Return a cluster with its front ends, catalogs and settings to change."""
        found = get_cluster_for_user(name, user=person(request))
        rows = front_ends_of(found, now=timezone.now())
        front_ends = [row.fe for row in rows]
        shown = {
            "cluster": found,
            "state": state_of_cluster(found, [fe.state for fe in front_ends]),
            "front_ends": rows,
            "catalogs": catalogs_of(found),
            "declared": declared_counts(found),
            "settings": judged_settings(front_ends),
        }
        return Response(ClusterDetailSerializer(shown).data)


class ClusterTables(APIView):
    """Tables on resources."""

    @extend_schema(
        operation_id="refresh_clusters_tables",
        responses=page_of("RefreshDeclaredTable", DeclaredSerializer),
        parameters=list_parameters("db", "hive_table", "state"),
    )
    def get(self, request: Request, name: str) -> Response:
        """List a cluster's tables on resources with the drift of their columns."""
        return keyset_response(
            request,
            declared_of(get_cluster_for_user(name, user=person(request))),
            filter_class=DeclaredFilter,
            orders=DECLARED_ORDERS,
            show=lambda row: dict(DeclaredSerializer(row).data),
        )


class ClusterEdit(APIView):
    """Changing how a cluster is reached."""

    @extend_schema(
        operation_id="refresh_clusters_edit",
        request=ClusterEditSerializer,
        responses=ClusterSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        """Try other addresses or another login out and keep them; 409 = it was changed since."""
        found, by = _to_change(request, name)
        said = _said(request, ClusterEditSerializer)
        version, now = said["version"], timezone.now()
        cluster_edit(found, _wish(said), version=version, by=by, now=now, budget=BRIEF)
        return _as_it_is(found)


class ClusterRead(APIView):
    """Reading a cluster anew."""

    @extend_schema(
        operation_id="refresh_clusters_read", request=None, responses={202: ClusterSerializer}
    )
    def post(self, request: Request, name: str) -> Response:
        """Have the worker read it all; once `read_asked_at` is null `problem` says what failed."""
        found, by = _to_change(request, name)
        cluster_read_ask(found, by=by, now=timezone.now())
        return _as_it_is(found, status=202)


class ClusterPause(APIView):
    """Pausing a cluster."""

    @extend_schema(
        operation_id="refresh_clusters_pause",
        request=ReasonSerializer,
        responses=ClusterSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        """Send nothing to it any more; changes are kept."""
        found, by = _to_change(request, name)
        cluster_pause(found, by=by, reason=said_reason(request), now=timezone.now())
        return _as_it_is(found)


class ClusterResume(APIView):
    """Going on with a cluster."""

    @extend_schema(
        operation_id="refresh_clusters_resume",
        request=ReasonSerializer,
        responses=ClusterSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        """Go on; what waits is sent."""
        found, by = _to_change(request, name)
        cluster_resume(found, by=by, reason=said_reason(request), now=timezone.now())
        return _as_it_is(found)


class ClusterLimits(APIView):
    """Bounding a cluster."""

    @extend_schema(
        operation_id="refresh_clusters_limits",
        request=ClusterLimitsSerializer,
        responses=ClusterSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        """Say how many statements may run at once."""
        found, by = _to_change(request, name)
        said = _said(request, ClusterLimitsSerializer)
        limits = Limits(said["per_fe"], said["per_catalog"])
        cluster_limits(found, limits, hours=said["giants_hours"], by=by, now=timezone.now())
        return _as_it_is(found)


class ClusterRemove(APIView):
    """Giving a cluster up."""

    @extend_schema(
        operation_id="refresh_clusters_remove", request=RemoveSerializer, responses={204: None}
    )
    def post(self, request: Request, name: str) -> Response:
        """Remove it with its queue and history (admins, with a fresh log-in)."""
        found, by = _to_change(request, name)
        now = timezone.now()
        check_fresh(request._request, now)
        said = _said(request, RemoveSerializer)
        cluster_remove(found, by=by, typed=said["typed"], reason=said["reason"], now=now)
        return Response(status=204)


def _row(cluster: Cluster) -> dict[str, Any]:
    row = cluster_row(cluster)
    return {
        **ClusterSerializer(cluster).data,
        "state": row.state,
        "front_ends": row.front_ends,
        "n_catalogs": row.n_catalogs,
        "n_declared": row.n_declared,
        "n_drifted": row.n_drifted,
    }


def _to_change(request: Request, name: str) -> tuple[Cluster, Actor]:
    return get_cluster_for_user(name, user=person(request)), _actor(request)


def _actor(request: Request) -> Actor:
    return Actor.of(person(request), is_fresh=is_fresh(request._request, timezone.now()))


def _said(request: Request, serializer: type[serializers.Serializer[object]]) -> dict[str, Any]:
    body = serializer(data=request.data)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)


def _wish(said: dict[str, Any]) -> ClusterWish:
    return ClusterWish(tuple(said["addresses"]), said["user"], said["password_file"])


def _as_it_is(cluster: Cluster, *, status: int = 200) -> Response:
    cluster.refresh_from_db()
    return Response(ClusterSerializer(cluster).data, status=status)
