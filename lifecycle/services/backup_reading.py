"""What lies in a backup, and what would a restore of it meet in the lake now? Runs in workers.

Reads the journal beside the data through the connectors; decisions are `lifecycle.domain.restore`.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import Any

from django.db import transaction

from lifecycle.domain.restore import BackupItem, LiveState, Preview, preview, summary
from lifecycle.models import BackupSlice
from portal.access.lakes import get_lake
from portal.act.journal import JournalBatch, read_batch
from portal.act.models import BackupBatch
from portal.act.records import IN_BACKUP, BatchDone, ItemIntent, Outcome
from portal.act.registry import structs_of
from portal.act.states import BackupState
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore, from_json
from portal.lake.errors import DataSafetyError
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath

ROWS_SHOWN = 1_000
_RESTORE_DONE = re.compile(r"restore\..+\.(\d+)\.(\d+)\.done\.json\Z")


def read_verified(batch: BackupBatch, *, config: LakeConfig, fs: FileSystem) -> JournalBatch:
    """Read a batch's files; a manifest that is not the catalogue's is a DataSafetyError."""
    journal = read_batch(fs, config.path(batch.path), batch.batch)
    if journal.sha256 != batch.manifest_sha256:
        raise DataSafetyError(
            "backup.manifest",
            f"The manifest of {batch} is not the one that was written. Do not restore from it.",
        )
    return journal


def items_in_backup(journal: JournalBatch) -> list[ItemIntent]:
    """Give the items of a batch that were dropped, in order."""
    done = journal.done
    if done is None:
        return []
    return [one for one in journal.intent.items if done.outcome_of(one.item) in IN_BACKUP]


def restored_items(fs: FileSystem, directory: LakePath, batch: int) -> set[str]:
    """Give the items of a batch that restores have brought back."""
    back: set[str] = set()
    for status in fs.children(directory):
        match = _RESTORE_DONE.match(status.path.name)
        if match and int(match.group(2)) == batch:
            done = BatchDone.from_bytes(fs.read(status.path))
            back |= {one.item for one in done.items if one.outcome is Outcome.RESTORED}
    return back


def backup_items_copy(batch: BackupBatch, *, now: datetime) -> int:
    """Copy the items of one batch into the database; copied again, the rows are the same."""
    config = get_lake(batch.lake)
    fs = open_file_system(config.path(batch.path), config=config)
    items = items_in_backup(read_verified(batch, config=config, fs=fs))
    rows = [
        BackupSlice(
            batch=batch,
            partition=item.partition,
            source=item.source,
            n_files=item.n_files,
            n_bytes=item.n_bytes,
            read_at=now,
        )
        for item in items
    ]
    with transaction.atomic():
        BackupSlice.objects.filter(batch=batch).delete()
        BackupSlice.objects.bulk_create(rows, batch_size=500)
    return len(rows)


def restore_preview(
    batches: Iterable[BackupBatch], *, lake: str, partitions: Collection[str] | None
) -> dict[str, Any]:
    """Say for every item what a restore would do now; rows of conflicts come first."""
    config = get_lake(lake)
    wanted = None if partitions is None else frozenset(partitions)
    with ExitStack() as stack:
        metastore = stack.enter_context(Metastore.connect(config))
        previews = [
            one
            for batch in batches
            for one in _previews(batch, config=config, metastore=metastore, wanted=wanted)
        ]
    counts = summary(previews)
    shown = sorted(previews, key=lambda one: (not one.choice.is_conflict, one.item.name))
    return {
        "counts": {choice.value: n for choice, n in counts.items()},
        "n_items": len(previews),
        "n_ready": sum(n for choice, n in counts.items() if choice.goes_ahead),
        "n_conflicts": sum(n for choice, n in counts.items() if choice.is_conflict),
        "rows": [_row(one) for one in shown[:ROWS_SHOWN]],
    }


def _row(one: Preview) -> dict[str, str]:
    return {"name": one.item.name, "choice": one.choice.value, "why": one.why}


def _previews(
    batch: BackupBatch,
    *,
    config: LakeConfig,
    metastore: Metastore,
    wanted: frozenset[str] | None,
) -> Iterator[Preview]:
    fs = open_file_system(config.path(batch.path), config=config)
    journal = read_verified(batch, config=config, fs=fs)
    items = [one for one in items_in_backup(journal) if wanted is None or one.partition in wanted]
    back = restored_items(fs, config.path(batch.path), batch.batch)
    name = TableName(LakeId(batch.lake), batch.db, batch.table)
    table = metastore.table_or_none(name)
    live = structs_of(metastore, name, table, [one.partition for one in items])
    same = table is not None and _is_same_table(table, journal)
    for item in items:
        yield preview(
            BackupItem(
                db=batch.db,
                table=batch.table,
                tbl_id=0,
                partition=item.partition,
                restored=item.item in back,
                purged=batch.state == BackupState.PURGED,
            ),
            LiveState(
                table_registered=table is not None,
                same_table=same,
                partition_registered=item.partition in live,
                location_exists=fs.status(config.path(item.source)) is not None,
            ),
        )


def _is_same_table(table: Any, journal: JournalBatch) -> bool:
    """Whether the live table is the one that was dropped from, or one rebuilt by a restore."""
    from pymetastore.hive_metastore import ttypes

    was = from_json(ttypes.Table, journal.intent.table_metadata)
    if int(table.createTime) == int(was.createTime):
        return True
    rebuilt = (table.parameters or {}).get("lakewarden.generation", "")
    return rebuilt == str(was.createTime)
