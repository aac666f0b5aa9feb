"""Queries of what runs, what waits in which lane and how long, and what is retried when."""

from dataclasses import dataclass
from datetime import datetime

import django_filters as filters
from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from portal.access.models import User
from portal.ui.lists.filters import ListFilter
from refresh.changes.domain.pressure import Pressure
from refresh.core.selectors.addresses import addresses
from refresh.core.selectors.filters import cluster_choices
from refresh.freshness.selectors.tables import targets_of
from refresh.models import Cluster, ClusterCatalog, RefreshTarget
from refresh.worker.domain.lanes import Lane

# `choose` counts what is urgent as older; a person wants to see it first.
QUEUE_ORDERS = {
    "urgent": ("-is_urgent", "waits_since"),
    "since": ("waits_since",),
    "-since": ("-waits_since",),
}
SHOWN_AT_MOST = 50
UNPLANNED = "NEW"
LANES = [
    (UNPLANNED, "Not planned yet"),
    *(
        (lane.name, "Large tables" if lane is Lane.GIANT else lane.name.capitalize())
        for lane in Lane
    ),
]


class QueueFilter(ListFilter):
    """What waits, by cluster, lane, urgency and whether it failed before."""

    cluster = filters.ChoiceFilter(
        field_name="cluster__name", choices=cluster_choices, label="Cluster", empty_label="Any"
    )
    lane = filters.ChoiceFilter(
        choices=LANES, label="Lane", empty_label="Any", method="filter_lane"
    )
    show = filters.ChoiceFilter(
        choices=[("urgent", "Urgent"), ("retry", "Failed before")],
        label="Only",
        empty_label="Any",
        method="filter_show",
    )

    class Meta:
        model = RefreshTarget
        fields: list[str] = []

    def filter_lane(
        self, rows: QuerySet[RefreshTarget], name: str, value: str
    ) -> QuerySet[RefreshTarget]:
        """Keep one lane; what is not planned yet has none."""
        return rows.filter(lane=None if value == UNPLANNED else Lane[value])

    def filter_show(
        self, rows: QuerySet[RefreshTarget], name: str, value: str
    ) -> QuerySet[RefreshTarget]:
        """Keep what is urgent, or what failed before."""
        return rows.filter(Q(is_urgent=True) if value == "urgent" else Q(n_tries__gt=0))


@dataclass(frozen=True)
class LaneCount:
    """What waits in a lane: how many, how many urgent or failed before, the oldest since when."""

    lane: str
    title: str
    n_waiting: int = 0
    n_urgent: int = 0
    n_retries: int = 0
    oldest: datetime | None = None


@dataclass(frozen=True)
class QueueNow:
    """The queue at an instant."""

    clusters: list[Cluster]
    lanes: list[LaneCount]
    running: list[RefreshTarget]

    @property
    def n_waiting(self) -> int:
        """How many wait."""
        return sum(lane.n_waiting for lane in self.lanes)

    @property
    def n_retries(self) -> int:
        """How many of them failed before."""
        return sum(lane.n_retries for lane in self.lanes)

    @property
    def is_busy(self) -> bool:
        """Whether anything moves."""
        return bool(self.running or self.n_waiting)


def waiting_visible(lake: str, user: User) -> QuerySet[RefreshTarget]:
    """Return what waits of what the person may see."""
    # Said so, the database takes the index on what is due, not the one on what runs.
    return _mine(lake, user).filter(due_at__isnull=False).exclude(running_since__isnull=False)


def running_visible(lake: str, user: User) -> QuerySet[RefreshTarget]:
    """Return what runs of what the person may see, longest first."""
    return _mine(lake, user).filter(running_since__isnull=False).order_by("running_since", "pk")


def queue_now(lake: str, user: User) -> QueueNow:
    """Return the picture of the queue; of what runs only the first."""
    return QueueNow(
        clusters=hindered_clusters(lake),
        lanes=lane_counts(lake, user),
        running=list(running_visible(lake, user)[:SHOWN_AT_MOST]),
    )


def hindered_clusters(lake: str) -> list[Cluster]:
    """Return the clusters with a catalog of the lake that are paused or under pressure."""
    rows = Cluster.objects.filter(Q(is_paused=True) | ~Q(pressure=Pressure.NONE))
    catalogs = ClusterCatalog.objects.filter(cluster=OuterRef("pk"), lake=lake)
    return list(rows.filter(Exists(catalogs)).order_by("name"))


def lane_counts(lake: str, user: User) -> list[LaneCount]:
    """Count what waits by lane, in one question; every lane is there."""
    rows = waiting_visible(lake, user).order_by().values("lane")
    found = {
        row["lane"]: row
        for row in rows.annotate(
            n=Count("pk"),
            urgent=Count("pk", filter=Q(is_urgent=True)),
            retries=Count("pk", filter=Q(n_tries__gt=0)),
            oldest=Min("waits_since"),
        )
    }
    return [
        LaneCount(name, title, row["n"], row["urgent"], row["retries"], row["oldest"])
        if (row := found.get(None if name == UNPLANNED else Lane[name]))
        else LaneCount(name, title)
        for name, title in LANES
    ]


def _mine(lake: str, user: User) -> QuerySet[RefreshTarget]:
    # By cluster, because what waits and what runs is found in each cluster's own index.
    rows = targets_of(lake, user).filter(cluster__in=Cluster.objects.order_by().values("pk"))
    return rows.select_related("cluster", "watched").prefetch_related(addresses())
