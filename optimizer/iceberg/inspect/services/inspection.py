"""Selects tables to inspect, and turns what was found into what readers see.

A table's partitions are loaded beside those that are shown, a chunk a transaction; the table's row
flips last, then the old rows go. Taken in twice it is the same. A look is done with only when
nothing newer was heard since it was asked for: otherwise the table stays due.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q

from optimizer.core.domain.health import Health
from optimizer.core.domain.trend import Point, is_told
from optimizer.iceberg.inspect.domain.health import LoginTally
from optimizer.iceberg.inspect.domain.stats import TableStats
from optimizer.iceberg.inspect.services.health_rows import (
    commit_rows,
    digest_of,
    newest_of,
    partition_health_row,
    stats_of,
)
from optimizer.iceberg.tables.services.layout_cleanup import writes_settle, writes_to_search
from optimizer.iceberg.tables.services.record_changes import record_deleted
from optimizer.models import Commit, HealthPoint, IcebergTable, LayoutWrite, PartitionHealth
from optimizer.policies.selectors.policies import policies_of
from portal.access.lakes import get_lake
from portal.runs.models import Run
from portal.runs.results.parquet import CHUNK, result_rows

RETRY = timedelta(minutes=10)
_GONE = frozenset({"iceberg.gone", "iceberg.replaced", "iceberg.not_iceberg"})

Row = dict[str, Any]
Decide = Callable[..., object]
"""Told that tables of a lake were looked at: `decide(lake, now=now)`."""


def inspections_due(lake: str, *, now: datetime) -> list[int]:
    """Return the tables whose look is due, longest due first; few enough for one run."""
    due = IcebergTable.objects.filter(lake=lake, is_deleted=False, inspect_due_at__lte=now)
    most = settings.LAKEWARDEN_OPTIMIZER_INSPECTIONS_A_RUN
    return list(due.order_by("inspect_due_at", "pk").values_list("pk", flat=True)[:most])


def inspections_request(lake: str, keys: list[int], *, now: datetime) -> list[Row]:
    """Return what the job must know of each table: its name, identity, and what it is held to."""
    policies = policies_of(lake)
    tables = list(
        IcebergTable.objects.filter(lake=lake, is_deleted=False, pk__in=keys).order_by("pk")
    )
    asked = {row.pk: policies.of(row.db, row.table).policy for row in tables}
    writes = _writes({key: str(policy.layout) for key, policy in asked.items() if policy.layout})
    old_writes = writes_to_search(asked, now=now)
    return [
        {
            "table_id": row.pk,
            "db": row.db,
            "table": row.table,
            "uuid": row.uuid,
            "looked_snapshot_id": row.looked_snapshot_id,
            "target_bytes": asked[row.pk].target_bytes,
            "layout": str(asked[row.pk].layout),
            "write_ids": writes.get(row.pk, []),
            "old_writes": old_writes.get(row.pk, []),
        }
        for row in tables
    ]


def inspections_ingest(
    run: Run, manifest: Mapping[str, Any], *, now: datetime, decide: Decide | None = None
) -> None:
    """Take in what a run found; tables that it did not come to are tried again later."""
    result = manifest.get("result") or {}
    keys = {int(key) for key in run.params.get("tables", ())}
    seen: set[int] = set()
    if manifest["outcome"] == "done":
        look = Look(run, datetime.fromisoformat(result["requested_at"]), now)
        for row in look.rows("tables"):
            seen.add(row["table_id"])
            look.take_in(row)
        look.take_in_commits(seen)
        writes_settle(look.rows("writes"), now=now)
        seen |= _failed(run.lake, result["failed"], requested_at=look.requested_at, now=now)
    rest = IcebergTable.objects.filter(pk__in=keys - seen, inspect_due_at__lte=now)
    rest.update(inspect_due_at=now + RETRY)
    if seen and decide is not None:
        decide(run.lake, now=now)


@dataclass(frozen=True)
class Look:
    """The results of one run."""

    run: Run
    requested_at: datetime
    now: datetime

    def rows(self, part: str, below: str = "results") -> Iterator[Row]:
        """Yield the rows of one kind of result."""
        uri = f"{self.run.spool.rstrip('/')}/{below}"
        for chunk in result_rows(get_lake(self.run.lake), uri, part):
            yield from chunk

    def take_in(self, row: Row) -> None:
        """Show what was found of one table, unless it is not known any more."""
        table_id, snapshot_id = row["table_id"], row["snapshot_id"]
        if not IcebergTable.objects.filter(pk=table_id, lake=self.run.lake).exists():
            return
        tally = LoginTally(row["target_bytes"], wants_layout=bool(row["layout"]))
        if snapshot_id is not None:
            uri = f"{self.run.spool.rstrip('/')}/results/partitions"
            for chunk in result_rows(get_lake(self.run.lake), uri, str(table_id)):
                _partitions_load(row, chunk, tally)
        if tally.n_partitions != row["n_partitions"]:
            IcebergTable.objects.filter(pk=table_id).update(
                inspection_error=f"The run {self.run.pk} found {row['n_partitions']} partitions, "
                f"and {tally.n_partitions} of them could be read; it is inspected again.",
                inspect_due_at=self.now + RETRY,
            )
            return
        self._flip(row, tally)
        old = PartitionHealth.objects.filter(table_id=table_id)
        old = old if snapshot_id is None else old.exclude(snapshot_id=snapshot_id)
        while keys := list(old.values_list("pk", flat=True)[:CHUNK]):
            PartitionHealth.objects.filter(pk__in=keys).delete()

    def take_in_commits(self, tables: set[int]) -> None:
        """Add the commits that nobody told of, and say of the others what only a look can."""
        uri = f"{self.run.spool.rstrip('/')}/results"
        for chunk in result_rows(get_lake(self.run.lake), uri, "commits"):
            found = [one for one in chunk if one["table_id"] in tables]
            rows = {
                (one.table_id, one.snapshot_id): one for one in commit_rows(found, now=self.now)
            }
            with transaction.atomic():
                known = Commit.objects.select_for_update().filter(
                    table_id__in={table_id for table_id, _ in rows},
                    snapshot_id__in={snapshot_id for _, snapshot_id in rows},
                )
                told = list(known.filter(Q(sequence=None) | Q(operation="")).order_by("pk"))
                for commit in told:
                    one = rows.get((commit.table_id, commit.snapshot_id), commit)
                    commit.sequence, commit.parent_id = one.sequence, one.parent_id
                    commit.operation = one.operation
                Commit.objects.bulk_update(told, ["sequence", "parent_id", "operation"])
                Commit.objects.bulk_create(rows.values(), ignore_conflicts=True)

    @transaction.atomic
    def _flip(self, row: Row, tally: LoginTally) -> None:
        """Point the table at the new rows, and write its point of the trend."""
        health, total = _health(row, tally), tally.total
        totals = {
            "n_files": total.n_files,
            "n_bytes": total.n_bytes,
            "n_delete_files": total.n_delete_files,
        }
        table = IcebergTable.objects.filter(pk=row["table_id"])
        table.update(
            inspected_at=self.now,
            looked_snapshot_id=row["snapshot_id"],
            inspection_error="",
            format_version=row["format_version"],
            n_manifests=row["n_manifests"],
            n_snapshots=row["n_snapshots"],
            n_partitions=tally.n_partitions,
            health=health.score,
            deductions=health.as_list(),
            n_small=tally.n_to_pack,
            small_bytes=total.small_bytes,
        )
        if row.get("n_outside"):
            # It stays so: older snapshots may name those files for a long time.
            table.update(uses_outside=True)
        is_newest = Q(event_at__lte=self.requested_at) | Q(snapshot_id=row["snapshot_id"])
        table.filter(is_newest).update(inspect_due_at=None, n_rows=total.n_rows, **totals)
        _point(row, health, n_small=tally.n_to_pack, at=self.requested_at, totals=totals)


def _partitions_load(row: Row, chunk: list[Row], tally: LoginTally) -> None:
    """Put rows of a chunk in place of those that stand there from the same snapshot."""
    table_id, snapshot_id = row["table_id"], row["snapshot_id"]
    digests = [digest_of(one["spec_id"], one["partition"]) for one in chunk]
    with transaction.atomic():
        known = PartitionHealth.objects.filter(table_id=table_id, digest__in=digests)
        newest = dict(known.order_by().values_list("digest").annotate(at=Max("newest_commit_at")))
        known.filter(snapshot_id=snapshot_id).delete()
        made = []
        for digest, one in zip(digests, chunk, strict=True):
            at = newest_of(one, before=newest.get(digest), oldest_at=row["oldest_at"])
            stats = stats_of(one, newest_commit_at=at)
            health = tally.add(stats)
            made.append(
                partition_health_row(
                    stats, health, table_id=table_id, snapshot_id=snapshot_id, sizes=one["sizes"]
                )
            )
        PartitionHealth.objects.bulk_create(made)


def _health(row: Row, tally: LoginTally) -> Health:
    total = tally.total
    return tally.health(
        TableStats(
            n_files=total.n_files,
            n_bytes=total.n_bytes,
            n_rows=total.n_rows,
            n_delete_files=total.n_delete_files,
            n_manifests=row["n_manifests"],
            n_snapshots=row["n_snapshots"],
            n_partitions=tally.n_partitions,
            format_version=row["format_version"],
        )
    )


def _point(
    row: Row, health: Health, *, n_small: int, at: datetime, totals: Mapping[str, int]
) -> None:
    """Write a point of the trend; it takes the place of one that tells nothing beside it."""
    points = HealthPoint.objects.filter(table_id=row["table_id"])
    _, is_new = points.update_or_create(
        table_id=row["table_id"],
        at=at,
        defaults={
            "snapshot_id": row["snapshot_id"],
            "health": health.score,
            "n_small": n_small,
            **totals,
        },
    )
    last = list(points.filter(at__lt=at).order_by("-at")[:2])
    if is_new and len(last) == 2:
        between, before = (Point(one.at, one.health) for one in last)
        if is_told(before, between, Point(at, health.score)):
            points.filter(pk=last[0].pk).delete()


def _failed(
    lake: str, failed: list[Mapping[str, Any]], *, requested_at: datetime, now: datetime
) -> set[int]:
    """Say at each table why it could not be looked at; one that is gone is gone."""
    gone = [int(one["table_id"]) for one in failed if one["code"] in _GONE]
    record_deleted(lake, gone, read_at=requested_at, now=now)
    for one in failed:
        table = IcebergTable.objects.filter(pk=one["table_id"], lake=lake)
        table.update(inspection_error=one["reason"])
        table.filter(is_deleted=False).update(inspect_due_at=now + RETRY)
    return {int(one["table_id"]) for one in failed}


def _writes(layouts: Mapping[int, str]) -> dict[int, list[str]]:
    """Return the writes of ours whose files lie as each table's policy asks."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    rows = LayoutWrite.objects.filter(table_id__in=layouts, layout__in=set(layouts.values()))
    for table_id, layout, write_id in rows.values_list("table_id", "layout", "write_id"):
        if layouts[table_id] == layout:
            found[table_id].append(write_id)
    return found
