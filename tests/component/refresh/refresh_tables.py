"""Tables of a cluster in every state, and statements that were sent, as pages show them."""

from datetime import datetime, timedelta
from typing import Any

from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import digest_of
from refresh.freshness.domain.freshness import Danger, Freshness, rank_of
from refresh.models import (
    ChangedPartition,
    Cluster,
    Refresh,
    RefreshOutcome,
    RefreshTarget,
    TargetFrontEnd,
    WatchedTable,
)
from refresh.worker.domain.lanes import Lane
from refresh.worker.domain.steps import StepKind


def target(
    row: Cluster,
    table: str,
    *,
    now: datetime,
    freshness: Freshness = Freshness.FRESH,
    danger: Danger = Danger.NONE,
    owner: str = "olga",
    **values: Any,
) -> RefreshTarget:
    """A table that stands so on every front end of its cluster."""
    watched, _ = WatchedTable.objects.get_or_create(
        lake="main",
        db="shop",
        table=table,
        defaults={
            "owner": owner,
            "tracked_since": now - timedelta(days=3),
            "changed_at": now - timedelta(minutes=5),
            "is_partitioned": True,
            "n_partitions": 1234,
        },
    )
    made = RefreshTarget.objects.create(
        cluster=row,
        catalog="hive",
        db="shop",
        table=table,
        watched=watched,
        freshness=freshness,
        danger=danger,
        rank=rank_of(freshness, danger),
        reason=values.pop("reason", "Every known change was refreshed."),
        **values,
    )
    TargetFrontEnd.objects.bulk_create(
        TargetFrontEnd(
            target=made,
            fe=fe,
            freshness=freshness,
            danger=danger,
            reason=made.reason,
            done_at=now - timedelta(minutes=4),
        )
        for fe in row.front_ends.all()
    )
    return made


def wrong(row: Cluster, table: str, *, now: datetime, **values: Any) -> RefreshTarget:
    """A table of which a partition was written again and is not refreshed."""
    made = target(
        row,
        table,
        now=now,
        freshness=Freshness.STALE,
        danger=Danger.WRONG,
        reason="Changed and not refreshed since: dt=2026-11-21.",
        stale_since=now - timedelta(minutes=7),
        **values,
    )
    name = "dt=2026-11-21"
    ChangedPartition.objects.create(
        table=made.watched,
        digest=digest_of(name),
        name=name,
        at=now - timedelta(minutes=7),
        touch=PartitionChange.UPDATED,
    )
    return made


def waiting(
    row: Cluster, table: str, *, now: datetime, lane: Lane | None = Lane.FAST, **values: Any
) -> RefreshTarget:
    """A table that waits for its turn since a minute."""
    since = now - timedelta(minutes=1)
    return wrong(row, table, now=now, due_at=since, waits_since=since, lane=lane, **values)


def running(row: Cluster, table: str, *, now: datetime, **values: Any) -> RefreshTarget:
    """A table whose statement was sent ten seconds ago."""
    return waiting(
        row,
        table,
        now=now,
        running_since=now - timedelta(seconds=10),
        running_on=f"{row.name}-fe0",
        expected_seconds=12.5,
        **values,
    )


def statement(
    of: RefreshTarget,
    *,
    began: datetime,
    ending: RefreshOutcome = RefreshOutcome.DONE,
    causes: tuple[Cause, ...] = (Cause.EVENT,),
    seconds: float = 2.5,
    **values: Any,
) -> Refresh:
    """A statement that waited four seconds before it was sent."""
    return Refresh.objects.create(
        cluster=of.cluster,
        target=of,
        coordinator=f"{of.cluster.name}-fe0",
        kind=StepKind.PARTITIONS,
        n_partitions=2,
        examples=["dt=2026-11-20", "dt=2026-11-21"],
        causes=[cause.value for cause in causes],
        lane=Lane.FAST,
        waited_since=began - timedelta(seconds=4),
        began_at=began,
        ended_at=None if ending is RefreshOutcome.RUNNING else began + timedelta(seconds=seconds),
        epoch=1,
        ending=ending,
        on_fes=values.pop(
            "on_fes",
            {
                f"{of.cluster.name}-fe0": ["DONE", ""],
                f"{of.cluster.name}-fe1": ["FAILED", "java.net.ConnectException: refused"],
            },
        ),
        **values,
    )
