"""What a restore would do to each item, before it does anything: the preview's decisions.

Pure: the caller says what the backup holds and what is live now. Identity is the generation
(TBL_ID), never the name alone.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class RestoreChoice(StrEnum):
    """What happens to one item of a backup when it is restored."""

    RESTORE = "RESTORE"
    RESTORE_WITH_TABLE = "RESTORE_WITH_TABLE"
    ALREADY_RESTORED = "ALREADY_RESTORED"
    NAME_TAKEN = "NAME_TAKEN"
    TABLE_REPLACED = "TABLE_REPLACED"
    LOCATION_TAKEN = "LOCATION_TAKEN"
    PURGED = "PURGED"

    @property
    def goes_ahead(self) -> bool:
        """Whether the item is restored to its own name and place."""
        return self in {RestoreChoice.RESTORE, RestoreChoice.RESTORE_WITH_TABLE}

    @property
    def is_conflict(self) -> bool:
        """Whether a person must choose: leave it out, or restore under another name."""
        return self in {
            RestoreChoice.NAME_TAKEN,
            RestoreChoice.TABLE_REPLACED,
            RestoreChoice.LOCATION_TAKEN,
        }


@dataclass(frozen=True, slots=True)
class BackupItem:
    """One dropped item: its generation, and whether its backup is still there or already back."""

    db: str
    table: str
    tbl_id: int
    partition: str
    restored: bool = False
    purged: bool = False

    @property
    def name(self) -> str:
        """`db.table` or `db.table/k=v`."""
        return f"{self.db}.{self.table}" + (f"/{self.partition}" if self.partition else "")


@dataclass(frozen=True, slots=True)
class LiveState:
    """What stands under the item's name and place now.

    `same_table` is True when the live table is the item's own generation, or one that our restore
    rebuilt from it; it says nothing when `table_registered` is False.
    """

    table_registered: bool
    same_table: bool
    partition_registered: bool
    location_exists: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """The decision for one item and the sentence shown with it."""

    item: BackupItem
    choice: RestoreChoice
    why: str


def preview(item: BackupItem, live: LiveState) -> Preview:
    """Decide one item; a second restore of the same item changes nothing."""
    choice = _choice(item, live)
    return Preview(item, choice, _WHY[choice])


def summary(previews: Iterable[Preview]) -> dict[RestoreChoice, int]:
    """Count the decisions, for the line above the list."""
    return dict(Counter(entry.choice for entry in previews))


def _choice(item: BackupItem, live: LiveState) -> RestoreChoice:
    registered = live.partition_registered if item.partition else live.table_registered
    if item.restored:
        return RestoreChoice.ALREADY_RESTORED
    if item.purged:
        return RestoreChoice.PURGED
    if item.partition and live.table_registered and not live.same_table:
        return RestoreChoice.TABLE_REPLACED
    if registered:
        return RestoreChoice.NAME_TAKEN
    if live.location_exists:
        return RestoreChoice.LOCATION_TAKEN
    if item.partition and not live.table_registered:
        return RestoreChoice.RESTORE_WITH_TABLE
    return RestoreChoice.RESTORE


_WHY = {
    RestoreChoice.RESTORE: "Name and place are free: data and metadata go back.",
    RestoreChoice.RESTORE_WITH_TABLE: (
        "The table is gone too: it is rebuilt from the backup's metadata first."
    ),
    RestoreChoice.ALREADY_RESTORED: "Already restored; nothing to do.",
    RestoreChoice.NAME_TAKEN: (
        "Something newer is registered under this name. It stays; the backup can come back under "
        "another name."
    ),
    RestoreChoice.TABLE_REPLACED: (
        "Another table was made under this name since. The backup can come back under another name."
    ),
    RestoreChoice.LOCATION_TAKEN: (
        "New data stands in the old directory. It stays; the backup can come back under another "
        "name."
    ),
    RestoreChoice.PURGED: "The backup was purged and cannot come back.",
}
