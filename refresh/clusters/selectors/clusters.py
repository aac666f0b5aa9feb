"""Status of each cluster: its front ends, catalogs, declared tables and own settings.

Clusters are the business of admins and operators; for others there are none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import django_filters as filters
from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Value, When

from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.runs.models import Lease
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import ListFilter, prefix
from refresh.clusters.domain.frontends import FeState
from refresh.models import Cluster, ClusterCatalog, ClusterFrontEnd, DeclaredTable, TargetFrontEnd

CLUSTER_ORDERS = {"name": ("name",), "-name": ("-name",)}
DECLARED_ORDERS = {"name": ("db", "table"), "-name": ("-db", "-table")}


class ClusterState(StrEnum):
    """How a cluster stands as a whole."""

    KEPT = "CLUSTER_KEPT"
    PAUSED = "CLUSTER_PAUSED"
    TROUBLED = "CLUSTER_TROUBLED"
    UNREAD = "CLUSTER_UNREAD"


class DeclaredState(StrEnum):
    """How a table on a resource stands beside its Hive table."""

    AS_HIVE = "AS_HIVE"
    DRIFTED = "COLUMNS_DRIFTED"
    NOT_COMPARED = "NOT_COMPARED"
    NO_LAKE = "NO_LAKE"


@dataclass(frozen=True, slots=True)
class FrontEndRow:
    """A front end with its state in one word, and its breaker's.

    `COLD` began again and is empty; `NOT_STARTED` is registered and has not answered yet.
    """

    fe: ClusterFrontEnd
    state: str
    breaker: str

    @property
    def place(self) -> str:
        """Where it is."""
        return self.fe.place


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A cluster in a list."""

    cluster: Cluster
    state: ClusterState
    front_ends: str
    n_catalogs: int
    n_declared: int
    n_drifted: int


class ClusterFilter(ListFilter):
    """Clusters by name, and by whether they are paused."""

    name = prefix("name", "Name")
    paused = filters.ChoiceFilter(
        field_name="is_paused",
        choices=[("True", "Paused"), ("False", "Not paused")],
        label="Paused",
        empty_label="Any",
    )


class DeclaredFilter(ListFilter):
    """Declared tables by database, Hive table and how they stand."""

    db = prefix("db", "Database")
    hive_table = prefix("hive_table", "Hive table")
    state = filters.ChoiceFilter(
        choices=lambda: [(one.value, badge_for(one.value).word) for one in DeclaredState],
        label="Columns",
        empty_label="Any",
    )


def check_lake_staff(user: User) -> None:
    """Let admins and operators of all lakes in; for others there is no such page.

    A cluster may have catalogs of several lakes.
    """
    if not user.is_portal_staff:
        raise NotVisible("page.missing", "There is nothing at this address for you.")


def clusters_for(user: User) -> QuerySet[Cluster]:
    """Return the clusters, with what a list says of them."""
    check_lake_staff(user)
    return Cluster.objects.prefetch_related("front_ends").annotate(
        n_catalogs=Count("catalogs", distinct=True),
        n_declared=Count("declared", distinct=True),
        n_drifted=Count("declared", filter=~Q(declared__drift=""), distinct=True),
    )


def get_cluster_for_user(name: str, *, user: User) -> Cluster:
    """Return one cluster; NotVisible for those who keep none, and where there is none."""
    check_lake_staff(user)
    found = Cluster.objects.filter(name=name).first()
    if found is None:
        raise NotVisible("cluster.unknown", "There is no such cluster.", name=name)
    return found


def has_worker(cluster: Cluster, *, now: datetime) -> bool:
    """Whether a worker leads a cluster now, so that what is asked of it is done."""
    return Lease.objects.filter(name=cluster.lease_name, until__gt=now).exists()


def cluster_row(cluster: Cluster) -> ClusterRow:
    """Say how a cluster of `clusters_for` stands."""
    states = [fe.state for fe in cluster.front_ends.all()]
    counted = [(state, states.count(state)) for state in FeState]
    counts: Mapping[str, int] = vars(cluster)  # annotated
    return ClusterRow(
        cluster=cluster,
        state=state_of_cluster(cluster, states),
        front_ends=", ".join(f"{n} {state.lower()}" for state, n in counted if n),
        n_catalogs=counts["n_catalogs"],
        n_declared=counts["n_declared"],
        n_drifted=counts["n_drifted"],
    )


def state_of_cluster(cluster: Cluster, states: Iterable[FeState]) -> ClusterState:
    """Say in one word how a cluster stands."""
    if cluster.is_paused:
        return ClusterState.PAUSED
    if cluster.problem or any(state is not FeState.ALIVE for state in states):
        return ClusterState.TROUBLED
    return ClusterState.KEPT if cluster.read_at else ClusterState.UNREAD


def front_ends_of(cluster: Cluster, *, now: datetime) -> list[FrontEndRow]:
    """Return the front ends of a cluster, the leader first."""
    warmed = TargetFrontEnd.objects.filter(fe=OuterRef("pk"), done_at__gte=OuterRef("empty_after"))
    rows = cluster.front_ends.annotate(is_warm=Exists(warmed)).order_by("-is_leader", "name")
    return [
        FrontEndRow(
            fe,
            _state_word(fe, is_warm=fe.is_warm),
            f"BREAKER_{fe.breaker.state(now)}",
        )
        for fe in rows
    ]


def _state_word(fe: ClusterFrontEnd, *, is_warm: bool) -> str:
    if fe.unstarted_at is not None:
        return "NOT_STARTED"
    return "COLD" if _is_cold(fe, is_warm=is_warm) else fe.state.value


def _is_cold(fe: ClusterFrontEnd, *, is_warm: bool) -> bool:
    return fe.state is FeState.ALIVE and fe.empty_after is not None and not is_warm


def catalogs_of(cluster: Cluster) -> QuerySet[ClusterCatalog]:
    """Return the catalogs of a cluster by name."""
    return ClusterCatalog.objects.filter(cluster=cluster).order_by("name")


def declared_of(cluster: Cluster) -> QuerySet[DeclaredTable]:
    """Return the tables on resources, each with how it stands beside its Hive table."""
    return DeclaredTable.objects.filter(cluster=cluster).annotate(state=_declared_state())


def declared_counts(cluster: Cluster) -> Mapping[str, int]:
    """Count a cluster's declared tables by how they stand."""
    rows = DeclaredTable.objects.filter(cluster=cluster).annotate(state=_declared_state())
    counted = rows.values("state").order_by("state").annotate(n=Count("pk"))
    return {row["state"]: row["n"] for row in counted}


def _declared_state() -> Case:
    return Case(
        When(lake="", then=Value(DeclaredState.NO_LAKE.value)),
        When(~Q(drift=""), then=Value(DeclaredState.DRIFTED.value)),
        When(drift_at__isnull=True, then=Value(DeclaredState.NOT_COMPARED.value)),
        default=Value(DeclaredState.AS_HIVE.value),
    )
