"""Meaning of a notification for a table, and the changes pending for one.

Order is forgotten on purpose: notifications come late, twice and out of order, so what is done
about a name is decided by what the metastore has when it is done, not by the last event heard.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from refresh.core.domain.names import ExternalTable


class Cause(StrEnum):
    """Who asked for a refresh."""

    EVENT = "EVENT"
    HOOK = "HOOK"
    SWEEP = "SWEEP"
    PERSON = "PERSON"


class PartitionChange(StrEnum):
    """What happened to a partition; UPDATED ones are answered wrongly until they are refreshed.

    UNREADY: its data is not complete, so nobody owes it anything before its flag says that it is.
    """

    ADDED = "ADDED"
    UPDATED = "UPDATED"
    DROPPED = "DROPPED"
    UNREADY = "UNREADY"


@dataclass(frozen=True, slots=True)
class Pending:
    """Everything that waits for one table; `whole` means the table itself, not only partitions."""

    table: ExternalTable
    first_at: datetime
    last_at: datetime
    causes: frozenset[Cause]
    whole: bool = False
    partitions: Mapping[str, PartitionChange] = field(default_factory=dict)

    @property
    def is_urgent(self) -> bool:
        """Whether queries may be answered wrongly now, not merely without what is new."""
        return PartitionChange.UPDATED in self.partitions.values()


_PARTITION_EVENTS = {
    "ADD_PARTITION": PartitionChange.ADDED,
    "ALTER_PARTITION": PartitionChange.UPDATED,
    "INSERT": PartitionChange.UPDATED,
    "DROP_PARTITION": PartitionChange.DROPPED,
}
_TABLE_EVENTS = frozenset({"CREATE_TABLE", "ALTER_TABLE", "DROP_TABLE"})
EVENT_TYPES = _TABLE_EVENTS | _PARTITION_EVENTS.keys()


def heard(kind: str, partitions: Iterable[str]) -> tuple[bool, dict[str, PartitionChange]]:
    """Return what one notification means: whether the table itself changed, and which partitions.

    A partition event without names, such as an INSERT into an unpartitioned table, means the
    table. Types that change nothing a front end caches mean nothing.
    """
    if kind not in EVENT_TYPES:
        return False, {}
    touch = _PARTITION_EVENTS.get(kind)
    touched = dict.fromkeys(partitions, touch) if touch is not None else {}
    return not touched, touched
