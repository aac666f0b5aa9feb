"""Looks at dropped items again: late data at the old place, a damaged backup, a name without data.

Looked at once, after an hour, after a day and before a purge. Late data is registered again, since
its writer believes that it is, unless the metastore's database names its place for something else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from lifecycle.backup.engine.extras import Extras, with_accuracy
from lifecycle.backup.engine.facts import DDL_TIME, being_written
from lifecycle.backup.engine.files.file_refusal import shown
from lifecycle.backup.engine.journal.reading import (
    DirectoryNames,
    JournalBatch,
    has_purge_begun,
    items_left,
)
from lifecycle.backup.engine.journal.records import FileFact, ItemIntent, files_of, shortfall
from lifecycle.backup.engine.metastore.extras_return import return_again
from lifecycle.backup.engine.metastore.registry import add_again, is_same_life, structs_of
from lifecycle.backup.engine.metastore.tags import is_due, mark_due, without_due
from lifecycle.backup.engine.settle.batches import SettleTools, name_of
from portal.lake.errors import StaleState
from portal.lake.paths import LakePath

# Returns, for those of the places that have one, a registered location at or under it.
Occupied = Callable[[Sequence[LakePath]], Mapping[LakePath, str]]


class Probed(StrEnum):
    """What a probe found about one item."""

    CLEAN = "CLEAN"
    LATE_COMMIT = "LATE_COMMIT"
    DAMAGED = "DAMAGED"
    STRANDED = "STRANDED"
    """Its name was never dropped: readers find an empty place, and the data is in the backup."""
    GREW = "GREW"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One item's probe; `is_registered` says that late data was registered again by us."""

    item: str
    partition: str
    found: Probed
    detail: str = ""
    is_registered: bool = False

    def as_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return {**asdict(self), "found": str(self.found)}


# Parameters that describe data which is not there any more.
_STATISTICS = frozenset(
    {DDL_TIME, "numRows", "rawDataSize", "numFiles", "totalSize", "COLUMN_STATS_ACCURATE"}
)


def judge_probe(
    manifest: tuple[FileFact, ...],
    *,
    live: tuple[FileFact, ...],
    backup: tuple[FileFact, ...],
    is_named: bool = False,
) -> tuple[Probed, str]:
    """Decide from three listings; damage weighs more than late data. Pure.

    `is_named`: the object that was dropped is registered at its old place as if it never was.
    """
    lacking = shortfall(manifest, backup)
    if lacking:
        return Probed.DAMAGED, f"the backup lacks {lacking[0]} ({len(lacking)} in all)"
    late = [fact.path for fact in live if not fact.is_dir and being_written([fact.path]) is None]
    if late:
        return (
            Probed.LATE_COMMIT,
            f"{shown(late[0])} was written to the old place ({len(late)} in all)",
        )
    if is_named:
        return Probed.STRANDED, "its name is registered at its old, empty place; restore its data"
    if backup != manifest:
        return Probed.GREW, "files in the backup changed after the drop: a writer had them open"
    return Probed.CLEAN, ""


def probe_batch(
    batch: JournalBatch, tools: SettleTools, *, occupied: Occupied, names: DirectoryNames
) -> list[ProbeResult]:
    """Probe every item of a batch that lies in the backup; register late data where it is free.

    Probing again gives the same answer and registers nothing twice. `names` are of the directories
    that the caller reads batches of; another set of names = somebody works on the batch.

    Raises:
        NotVisible, StaleState: a restore or purge took the backup while it was looked at; what was
            seen means nothing.
    """
    if has_purge_begun(tools.fs, batch):
        return []
    told = names.of(tools.fs, batch.directory, batch.intent.batch)
    items = items_left(tools.fs, batch, names=told)
    homes = {item.item: batch.directory.child(item.item) for item in items}
    lives = {item.item: LakePath.parse(item.source) for item in items}
    listings = tools.lister([*homes.values(), *lives.values()])
    if names.of(tools.fs, batch.directory, batch.intent.batch) != told:
        raise StaleState("act.claimed", "A restore or purge worked on the backup meanwhile.")

    def listed(path: LakePath) -> tuple[FileFact, ...]:
        return files_of(listings.get(path, ()), root=path)

    table = tools.metastore.table_or_none(name_of(batch.intent))
    partitions = [item.partition for item in items]
    structs = structs_of(tools.metastore, name_of(batch.intent), table, partitions)
    judged = [
        (
            item,
            *judge_probe(
                item.files,
                live=listed(lives[item.item]),
                backup=listed(homes[item.item]),
                is_named=item.partition in structs and is_same_life(structs[item.partition], item),
            ),
        )
        for item in items
    ]
    late = [item for item, found, _ in judged if found is Probed.LATE_COMMIT]
    free = [item for item in late if item.partition not in structs]
    others = occupied([lives[item.item] for item in free]) if free else {}
    mine = [item for item in free if lives[item.item] not in others]
    # A probe that ended early may have registered these without what belonged to them.
    due = [item for item in items if is_due(structs.get(item.partition), batch.intent, item)]
    said = _register(batch, mine, tools, due=due, table=table)
    registered = frozenset(item.partition for item in (*mine, *due))
    return [
        _result(
            item,
            found,
            _with(detail, others.get(lives[item.item]), said.get(item.item)),
            registered,
        )
        for item, found, detail in judged
    ]


def _register(
    batch: JournalBatch,
    items: Sequence[ItemIntent],
    tools: SettleTools,
    *,
    due: Sequence[ItemIntent],
    table: Any,
) -> dict[str, str]:
    """Register late data with the grants and constraints of the old; `due` waits for them alone.

    Returns by item what did not come back.
    """
    if not items and not due:
        return {}
    of_table = _table_extras(batch, table) if (items or due)[0].partition else None

    def changed(struct: Any, item: ItemIntent) -> Any:
        made = without_statistics(struct, item)
        waits = item.extras is not None and (of_table is not None or item.extras.is_any)
        return mark_due(made, batch.intent, item) if waits else made

    def changed_table(struct: Any) -> Any:
        made = _no_column_right(struct)
        return mark_due(made, batch.intent, items[0]) if of_table is not None else made

    add_again(
        tools.metastore,
        batch.intent,
        items,
        change=changed,
        change_table=changed_table,
        keep_statistics=False,
    )
    return return_again(
        tools.metastore,
        name_of(batch.intent),
        [*items, *due],
        parameters={},
        table_extras=of_table,
    )


def _table_extras(batch: JournalBatch, table: Any) -> Extras | None:
    """Return what belongs to a table that is made again, now or by a probe that ended early."""
    extras = batch.intent.table_extras
    is_made = table is None or any(is_due(table, batch.intent, one) for one in batch.intent.items)
    return extras if is_made and extras is not None and extras.is_any else None


def _no_column_right(table: Any) -> Any:
    table.parameters = with_accuracy(without_due(table.parameters), ())
    return table


def without_statistics(struct: Any, _intent: ItemIntent) -> Any:
    """Take away what described the old data; the metastore sets a fresh DDL time by itself."""
    struct.parameters = {
        key: value
        for key, value in without_due(struct.parameters).items()
        if key not in _STATISTICS and not key.startswith("spark.sql.statistics.")
    }
    return struct


def _with(detail: str, other: str | None, said: str | None) -> str:
    if other:
        return f"{detail}; it is not registered again, because {other} is there"
    return f"{detail}; {said}" if said else detail


def _result(
    item: ItemIntent, found: Probed, detail: str, registered: frozenset[str]
) -> ProbeResult:
    return ProbeResult(
        item=item.item,
        partition=item.partition,
        found=found,
        detail=detail,
        is_registered=found is Probed.LATE_COMMIT and item.partition in registered,
    )
