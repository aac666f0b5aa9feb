"""What if a zombie's DROP reaches the metastore after the item was restored? It is added again.

A client frozen between its last look and its send cannot be fenced. Its DROP arrives as an event;
if it hits what a restore brought back a short while ago, and the data still stands, the item is
registered again. An owner's own later DROP is left alone.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from portal.access.lakes import get_lake
from portal.act.facts import list_here
from portal.act.journal import JournalBatch, RestoreStep, read_batch, restore_steps
from portal.act.models import BackupBatch
from portal.act.records import Outcome, files_of, shortfall
from portal.act.registry import names_registered
from portal.act.restore import register
from portal.act.states import BackupState
from portal.audit.services import AuditEntry, audit_record_many
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath

REPAIR_WINDOW = timedelta(hours=1)


def drop_repair(
    lake: str, *, db: str, table: str, partitions: list[str], now: datetime
) -> list[str]:
    """Add again what a DROP event took although a restore had brought it back; gives their names.

    `partitions` is empty for a DROP TABLE. Safe to call for any DROP event and more than once: only
    items restored within the last hour, whose data is whole at the live place and whose name is
    free, are added.
    """
    rows = BackupBatch.objects.filter(
        lake=lake, state__in=(BackupState.RESTORED, BackupState.PARTLY_RESTORED), db=db, table=table
    )
    config = get_lake(lake)
    wanted = frozenset(partitions or [""])
    repaired: list[str] = []
    for row in rows.iterator(chunk_size=500):
        directory = config.path(row.path)
        fs = open_file_system(directory, config=config)
        if fs.status(directory) is None:
            continue
        steps = _recent(restore_steps(fs, directory, row.batch), db, table, now=now)
        if not steps:
            continue
        batch = read_batch(fs, directory, row.batch)
        with Metastore.connect(config) as metastore:
            for step in steps:
                repaired += _repair(batch, step, wanted, fs=fs, metastore=metastore)
    entries = [
        AuditEntry("item.repaired", "system", lake, "item", f"{db}.{table}/{name}".rstrip("/"), {})
        for name in repaired
    ]
    audit_record_many(entries, now=now)
    return repaired


def _recent(
    steps: Iterable[RestoreStep], db: str, table: str, *, now: datetime
) -> list[RestoreStep]:
    return [
        step
        for step in steps
        if step.done is not None
        and (step.intent.db, step.intent.table) == (db, table)
        and now - datetime.fromisoformat(step.done.at) < REPAIR_WINDOW
    ]


def _repair(
    batch: JournalBatch,
    step: RestoreStep,
    wanted: frozenset[str],
    *,
    fs: FileSystem,
    metastore: Metastore,
) -> list[str]:
    restored = {
        done.item
        for done in (step.done.items if step.done else ())
        if done.outcome is Outcome.RESTORED and done.partition in wanted
    }
    targets = [target for target in step.intent.items if target.item in restored]
    name = TableName(LakeId(batch.intent.lake), step.intent.db, step.intent.table)
    taken = names_registered(metastore, name, [target.partition for target in targets])
    files = {item.item: item.files for item in batch.intent.items}
    lister = list_here(fs)
    whole = []
    for target in targets:
        live = LakePath.parse(target.target)
        found = files_of(lister([live]).get(live, ()), root=live)
        if target.partition not in taken and not shortfall(files[target.item], found):
            whole.append(target)
    if whole:
        register(metastore, batch, step.intent, only=frozenset(target.item for target in whole))
    return [target.partition for target in whole]
