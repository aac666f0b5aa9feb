"""Backup batches with their files on disk, written by the act protocol's own records."""

import hashlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from pymetastore.hive_metastore import ttypes

from lifecycle.backup.domain.layout import done_name, intent_name
from lifecycle.backup.engine.journal.records import (
    BatchDone,
    BatchIntent,
    FileFact,
    Generation,
    ItemDone,
    ItemIntent,
    Outcome,
)
from lifecycle.backup.models import BackupBatch, BackupProbe
from lifecycle.backup.services.totals import backup_totals_refresh
from portal.connectors.metastore import to_json
from tests.component.lifecycle.plan_world import LAKE, NOW


def file_fact(path: str, size: int, *, is_dir: bool = False) -> FileFact:
    """Return one file of a manifest."""
    return FileFact(path, is_dir, size, 1, "alice", "alice", 0o755 if is_dir else 0o644)


def storage(location: str) -> ttypes.StorageDescriptor:
    """Return where and how data is stored."""
    columns = [ttypes.FieldSchema(name="id", type="bigint", comment="the <id>")]
    serde = ttypes.SerDeInfo(serializationLib="parquet", parameters={})
    return ttypes.StorageDescriptor(
        cols=columns, location=location, inputFormat="parquet", serdeInfo=serde
    )


def table() -> ttypes.Table:
    """Return the table as the metastore had it."""
    return ttypes.Table(
        dbName="sales",
        tableName="orders",
        owner="alice",
        createTime=1,
        sd=storage("file:///lake/sales/orders"),
        partitionKeys=[ttypes.FieldSchema(name="dt", type="string")],
        parameters={"LEVEL": "1", "TTL": "60"},
        tableType="MANAGED_TABLE",
    )


def item(number: int, partition: str) -> ItemIntent:
    """Return one item with two files."""
    return ItemIntent(
        item=f"b0000001-i{number:03d}",
        partition=partition,
        source=f"file:///lake/sales/orders/{partition}",
        generation=Generation(1, 1, f"file:///lake/sales/orders/{partition}"),
        metadata=to_json(
            ttypes.Partition(
                values=[partition.partition("=")[2]],
                dbName="sales",
                tableName="orders",
                sd=storage(f"file:///lake/sales/orders/{partition}"),
                parameters={},
            )
        ),
        files=(
            file_fact("", 0, is_dir=True),
            file_fact("a.parquet", 100),
            file_fact("b.parquet", 50),
        ),
        parents=(),
    )


def backup(root: Path, *, dropped_at: datetime = NOW, **changes: Any) -> BackupBatch:
    """Make a batch of two dropped partitions and one that was skipped: files and row."""
    run = uuid4()
    directory = root / "backup" / str(dropped_at.date()) / "sealed" / str(run) / "1"
    directory.mkdir(parents=True)
    items = tuple(item(n, f"dt=2026-01-0{n}") for n in (1, 2, 3))
    intent = BatchIntent(
        run=str(run),
        epoch=1,
        batch=1,
        lake=LAKE,
        db="sales",
        table="orders",
        table_owner="alice",
        plan="",
        digest="d",
        at=dropped_at.isoformat(),
        keep_days=15,
        table_metadata=to_json(table()),
        items=items,
    )
    outcomes = (Outcome.DROPPED, Outcome.DROPPED, Outcome.SKIPPED)
    done = BatchDone(
        run=str(run),
        epoch=1,
        batch=1,
        at=dropped_at.isoformat(),
        writer="driver",
        items=tuple(
            ItemDone(one.item, one.partition, outcome)
            for one, outcome in zip(items, outcomes, strict=True)
        ),
    )
    (directory / intent_name(1)).write_bytes(intent.to_bytes())
    (directory / done_name(1)).write_bytes(done.to_bytes())
    values: dict[str, Any] = {
        "lake": LAKE,
        "run_id": run,
        "epoch": 1,
        "db": "sales",
        "table": "orders",
        "batch": 1,
        "day": dropped_at.date(),
        "root": (root / "backup").as_uri(),
        "path": directory.as_uri(),
        "state": "DROPPED",
        "is_table": False,
        "table_owner": "alice",
        "n_items": 2,
        "n_bytes": 300,
        "n_files": 4,
        "first_partition": "dt=2026-01-01",
        "last_partition": "dt=2026-01-02",
        "manifest_sha256": hashlib.sha256(intent.to_bytes()).hexdigest(),
        "dropped_at": dropped_at,
        "purge_after": dropped_at + timedelta(days=15),
    }
    batch = BackupBatch.objects.create(**(values | changes))
    BackupProbe.objects.create(batch=batch, delay_seconds=0, due_at=dropped_at, state="CLEAN")
    backup_totals_refresh(batch.lake, [batch.day])
    return batch
