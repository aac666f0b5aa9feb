"""Checks whether a write is visible on every front end of every cluster that shows it.

The proof is `judge_wait` for each table that shows it. It counts only with a list of front ends
taken after the write: on an older one somebody who serves old data may be missing, or be called
dead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Prefetch

from portal.lake.names import TableName
from refresh.core.selectors.names import Named, named_for
from refresh.freshness.domain.coverage import Wish
from refresh.freshness.domain.visibility import FeVisibility, WaitAnswer, judge_wait
from refresh.freshness.selectors.records import records_of_all
from refresh.models import Cluster, ClusterFrontEnd, RefreshTarget, WatchedTable


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody wrote, and how long they would wait for it."""

    hive: TableName
    wish: Wish
    deadline: datetime
    is_strict: bool


@dataclass(frozen=True, slots=True)
class OnCluster:
    """How it stands in one cluster under one name; `problem` says what holds it up there."""

    cluster: str
    table: str
    problem: str
    fes: tuple[FeVisibility, ...]
    is_visible: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """The whole answer; no clusters: nobody shows the table, so nobody can see it stale."""

    is_visible: bool
    is_over: bool
    may_go_on: bool
    reason: str
    clusters: tuple[OnCluster, ...]


def look(asked: Asked, *, now: datetime) -> Seen:
    """Look once; a handful of queries, however many show it."""
    shown = named_for(asked.hive)
    if not shown:
        return _NOBODY
    watched = WatchedTable.objects.filter(
        lake=str(asked.hive.lake), db=asked.hive.db, table=asked.hive.table
    ).first()
    rows = RefreshTarget.objects.filter(watched=watched, watched__isnull=False)
    targets = {
        Named(row.cluster_id, row.catalog, row.db, row.table): row
        for row in rows.select_related("cluster")
    }
    answers = _answers(asked, [targets[one] for one in shown if one in targets], now=now)
    rows_of_clusters = Cluster.objects.prefetch_related(
        Prefetch("front_ends", ClusterFrontEnd.objects.defer("config"))
    )
    clusters = rows_of_clusters.in_bulk({one.cluster_id for one in shown})
    found = tuple(
        _on_cluster(one, clusters[one.cluster_id], answers.get(one), asked)
        for one in shown
        if one.cluster_id in clusters
    )
    if not found:
        return _NOBODY  # whoever showed it was removed while we looked
    is_visible = all(one.is_visible for one in found)
    # Asking again is of no use where it can never be proven.
    is_hopeless = any(one.is_over and not one.is_visible for one in answers.values())
    off = _off(watched)
    is_over = is_visible or is_hopeless or bool(off) or now >= asked.deadline
    may_go_on = is_visible or (is_over and not asked.is_strict)
    return Seen(is_visible, is_over, may_go_on, off, found)


_NOBODY = Seen(
    is_visible=False,
    is_over=True,
    may_go_on=True,
    reason="No cluster shows the table, so nobody can see it stale.",
    clusters=(),
)


def _answers(
    asked: Asked, targets: Sequence[RefreshTarget], *, now: datetime
) -> dict[Named, WaitAnswer]:
    records = records_of_all(targets)
    return {
        Named(row.cluster_id, row.catalog, row.db, row.table): judge_wait(
            asked.wish,
            [record for _, record in records[row.pk]],
            deadline=asked.deadline,
            is_strict=asked.is_strict,
            now=now,
        )
        for row in targets
    }


def _on_cluster(
    named: Named, cluster: Cluster, answer: WaitAnswer | None, asked: Asked
) -> OnCluster:
    if answer is None:
        problem = "It was not told of this write. Tell it (POST /api/refresh/)."
        return OnCluster(cluster.name, named.full_name, problem, fes=(), is_visible=False)
    is_listed = cluster.read_at is not None and cluster.read_at > asked.wish.written_at
    is_visible = answer.is_visible and is_listed
    problem = "" if is_visible else _problem(cluster, answer, is_listed=is_listed)
    fes = tuple(replace(fe, name=cluster.address_of(fe.name)) for fe in answer.fes)
    return OnCluster(cluster.name, named.full_name, problem, fes, is_visible=is_visible)


def _problem(cluster: Cluster, answer: WaitAnswer, *, is_listed: bool) -> str:
    if cluster.is_paused:
        return f"{cluster.paused_by or 'Somebody'} paused this cluster: {cluster.paused_reason}"
    if not is_listed:
        reason = f" ({cluster.problem})" if cluster.problem else ""
        return f"Its front ends were not listed since the write{reason}."
    if len(answer.excluded) == len(answer.fes):
        return "None of its front ends is known to live."
    return f"Not proven on {', '.join(map(cluster.address_of, answer.lacking))}."


def _off(watched: WatchedTable | None) -> str:
    if watched is None or not watched.is_opted_out:
        return ""
    return f"Nobody refreshes this table: {watched.opted_out_by or 'somebody'} opted it out."
