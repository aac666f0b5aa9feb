"""Reads the rows of a table on its front ends as objects of the domain.

Everything that judges (the worker, the pages, the wait) reads it here, for one table or for many
with a fixed number of queries.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from refresh.changes.domain.changes import PartitionChange
from refresh.freshness.domain.coverage import read_done
from refresh.freshness.domain.pending_refresh import TableChanges
from refresh.freshness.domain.visibility import Divergence, FeRecord
from refresh.models import (
    ChangedPartition,
    ClusterFrontEnd,
    RefreshTarget,
    TargetFrontEnd,
    WatchedTable,
)


def changes_of(watched: WatchedTable) -> TableChanges:
    """Return what changed in a table and is not settled."""
    return changes_of_all([watched])[watched.pk]


def changes_of_all(watched: Iterable[WatchedTable]) -> dict[int, TableChanges]:
    """Return what changed, by the table's key; one query.

    A table that nobody looked at yet counts as partitioned, which asks for more.
    """
    rows = {one.pk: one for one in watched}
    touched: defaultdict[int, dict[str, tuple[datetime, PartitionChange]]] = defaultdict(dict)
    changed = ChangedPartition.objects.filter(table__in=rows).order_by("pk")
    for pk, name, at, touch in changed.values_list("table_id", "name", "at", "touch"):
        touched[pk][name] = (at, PartitionChange(touch))
    return {
        pk: TableChanges(
            row.tracked_since, row.is_partitioned is not False, row.table_changed_at, touched[pk]
        )
        for pk, row in rows.items()
    }


def has_unready(watched: WatchedTable) -> bool:
    """Whether partitions of a table wait for their flag, so that front ends may lack them."""
    return watched.changed.filter(touch=PartitionChange.UNREADY).exists()


def records_of(target: RefreshTarget) -> list[FeRecord]:
    """Give what is known of a table on every front end of its cluster, in order of their names."""
    return [record for _, record in records_of_all([target])[target.pk]]


def records_of_all(
    targets: Sequence[RefreshTarget],
) -> dict[int, list[tuple[ClusterFrontEnd, FeRecord]]]:
    """Return each target's front ends and what is known of it there, by its key; two queries.

    A front end on which nothing was done yet is there too, with nothing done.
    """
    clusters = {target.cluster_id for target in targets}
    fes: defaultdict[int, list[ClusterFrontEnd]] = defaultdict(list)
    for fe in ClusterFrontEnd.objects.filter(cluster__in=clusters).order_by("name", "pk"):
        fes[fe.cluster_id].append(fe)
    known = {
        (row.target_id, row.fe_id): row
        for row in TargetFrontEnd.objects.filter(target__in=[target.pk for target in targets])
    }
    return {
        target.pk: [
            (fe, _record(fe, known.get((target.pk, fe.pk)))) for fe in fes[target.cluster_id]
        ]
        for target in targets
    }


def _record(fe: ClusterFrontEnd, row: TargetFrontEnd | None) -> FeRecord:
    divergence = None
    if row is not None and row.diverged_at is not None:
        divergence = Divergence(row.diverged_at, row.divergence_reason)
    return FeRecord(
        fe.name,
        fe.state,
        fe.dialect,
        read_done(row.done) if row is not None else (),
        fe.empty_after,
        divergence,
    )
