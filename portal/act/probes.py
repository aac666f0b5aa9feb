"""Did a job that was planned before our drop write to the old place, or did a backup get damaged?

Looked at once, after an hour, after a day and before a purge. Late data is registered again: its
writer believes that it is.
"""

from dataclasses import asdict, dataclass
from enum import StrEnum

from portal.act.journal import JournalBatch, has_purge_begun, items_left, journal_names
from portal.act.records import FileFact, ItemIntent, files_of, shortfall
from portal.act.settle import SettleTools, register_new_data
from portal.lake.errors import StaleState
from portal.lake.paths import LakePath


class Probed(StrEnum):
    """What a probe found about one item."""

    CLEAN = "CLEAN"
    LATE_COMMIT = "LATE_COMMIT"
    DAMAGED = "DAMAGED"
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
        """Give the JSON form."""
        return {**asdict(self), "found": str(self.found)}


def judge_probe(
    manifest: tuple[FileFact, ...], *, live: tuple[FileFact, ...], backup: tuple[FileFact, ...]
) -> tuple[Probed, str]:
    """Decide from three listings; damage weighs more than late data. Pure."""
    lacking = shortfall(manifest, backup)
    if lacking:
        return Probed.DAMAGED, f"the backup lacks {lacking[0]} ({len(lacking)} in all)"
    late = [fact.path for fact in live if not fact.is_dir]
    if late:
        return Probed.LATE_COMMIT, f"{late[0]} was written to the old place ({len(late)} in all)"
    if backup != manifest:
        return Probed.GREW, "files in the backup changed after the drop: a writer had them open"
    return Probed.CLEAN, ""


def probe_batch(batch: JournalBatch, tools: SettleTools) -> list[ProbeResult]:
    """Probe every item of a batch that lies in the backup; register late data where it is free.

    Probing again gives the same answer and registers nothing twice.

    Raises:
        NotVisible, StaleState: a restore or purge took the backup while it was looked at; what was
            seen means nothing.
    """
    if has_purge_begun(tools.fs, batch):
        return []
    names = journal_names(tools.fs, batch)
    items = items_left(tools.fs, batch)
    homes = {item.item: batch.directory.child(item.item) for item in items}
    lives = {item.item: LakePath.parse(item.source) for item in items}
    listings = tools.lister([*homes.values(), *lives.values()])
    if journal_names(tools.fs, batch) != names:
        raise StaleState("act.claimed", "A restore or purge worked on the backup meanwhile.")

    def listed(path: LakePath) -> tuple[FileFact, ...]:
        return files_of(listings.get(path, ()), root=path)

    judged = [
        (
            item,
            *judge_probe(
                item.files, live=listed(lives[item.item]), backup=listed(homes[item.item])
            ),
        )
        for item in items
    ]
    late = [item for item, found, _ in judged if found is Probed.LATE_COMMIT]
    registered = register_new_data(batch.intent, late, tools)
    return [_result(item, found, detail, registered) for item, found, detail in judged]


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
