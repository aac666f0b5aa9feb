"""A settled backup of a few partitions on the local file system, made without a metastore."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from lifecycle.backup.domain.layout import done_name, intent_name, item_name
from lifecycle.backup.engine.facts import list_here
from lifecycle.backup.engine.journal.records import (
    BatchDone,
    BatchIntent,
    Generation,
    ItemDone,
    ItemIntent,
    Outcome,
    files_of,
)
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.paths import LakePath

DROPPED_AT = datetime(2026, 11, 1, tzinfo=UTC)
N_BATCHES = 5


class NoTables:
    """A metastore in which no table is left."""

    def table_or_none(self, name: object) -> Any:
        return None


def intent_of(items: Sequence[ItemIntent], **changed: Any) -> BatchIntent:
    """Return what a drop of `sales.orders` meant to do with these items."""
    plain: dict[str, Any] = {
        "run": "run",
        "epoch": 1,
        "batch": 1,
        "lake": "main",
        "db": "sales",
        "table": "orders",
        "table_owner": "alice",
        "plan": "",
        "digest": "d",
        "at": DROPPED_AT.isoformat(),
        "keep_days": 15,
        "table_metadata": "{}",
    }
    return BatchIntent(**{**plain, **changed, "items": tuple(items)})


def write_backup(directory: LakePath, live: LakePath) -> None:
    """Write settled batches of one partition each."""
    fs = LocalFileSystem()
    for number in range(1, N_BATCHES + 1):
        name, partition = item_name(number, 0), f"dt={number}"
        home = directory.child(name)
        fs.make_directories(home, mode=0o755)
        fs.write_new(home.child("part-0"), b"data")
        item = ItemIntent(
            item=name,
            partition=partition,
            source=str(live.child(partition)),
            generation=Generation(1, 1, str(live.child(partition))),
            metadata="{}",
            files=files_of(list_here(fs)([home])[home], root=home),
            parents=(),
        )
        intent = intent_of([item], batch=number)
        done = BatchDone(
            "run",
            1,
            number,
            DROPPED_AT.isoformat(),
            "driver",
            (ItemDone(name, partition, Outcome.DROPPED),),
        )
        fs.write_new(directory.child(intent_name(number)), intent.to_bytes())
        fs.write_new(directory.child(done_name(number)), done.to_bytes())
