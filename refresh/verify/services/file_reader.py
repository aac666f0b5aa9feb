"""Reads a table's present state in the metastore and the file system.

Read-only, without any conclusion.

The metastore is asked first: of each partition that it gives, the directory is listed once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from portal.access.lakes import get_lake
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from portal.lake.names import PartitionName, TableName
from refresh.core.domain.clock import Clock
from refresh.core.services.metastore_reader import hive_of
from refresh.core.services.rate_limit import metastore_answered
from refresh.freshness.domain.pending_refresh import TABLE_ITSELF
from refresh.models import WatchedTable
from refresh.verify.connectors import stamps_of
from refresh.verify.domain.sweeping import Stamp, SweepLimits, chosen


@dataclass(frozen=True, slots=True)
class FilesSeen:
    """All names in the metastore, from which on all were looked at, and the stamps of those."""

    names: tuple[str, ...]
    scanned_from: str
    is_partitioned: bool
    stamps: Mapping[str, Stamp] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Registered:
    names: tuple[str, ...]
    scanned_from: str
    locations: Mapping[str, str]
    is_partitioned: bool


def files_read(
    watched: WatchedTable, lately: Sequence[str], *, limits: SweepLimits, clock: Clock
) -> FilesSeen | None:
    """Look at the newest partitions and those of `lately`; None if the table is there no more.

    Raises:
        ExternalFailure: the metastore or the file system does not answer; nothing is known then.
        RuleViolation: the table lies where the portal reads nothing.
    """
    config = get_lake(watched.lake)
    hive = hive_of(watched)
    try:
        with Metastore.connect(config) as metastore:
            found = _registered(metastore, hive, lately, limits=limits)
    except ExternalFailure:
        metastore_answered(watched.lake, is_well=False, now=clock())
        raise
    metastore_answered(watched.lake, is_well=True, now=clock())
    if found is None:
        return None
    stamps = stamps_of(found.locations, config=config)
    return FilesSeen(found.names, found.scanned_from, found.is_partitioned, stamps)


def _registered(
    metastore: Metastore, hive: TableName, lately: Sequence[str], *, limits: SweepLimits
) -> _Registered | None:
    table = metastore.table_or_none(hive)
    if table is None:
        return None
    keys = tuple(key.name for key in table.partitionKeys or ())
    if not keys:
        whole = {TABLE_ITSELF: table}
        return _Registered((TABLE_ITSELF,), "", _locations(whole), is_partitioned=False)
    names = metastore.partition_names(hive)
    wanted, scanned_from = chosen(names, lately, limits=limits)
    found = metastore.partitions_by_names(hive, wanted) if wanted else []
    named = {str(PartitionName.stored(keys, one.values)): one for one in found}
    return _Registered(tuple(names), scanned_from, _locations(named), is_partitioned=True)


def _locations(structs: Mapping[str, object]) -> dict[str, str]:
    """Return where each lies; a view lies nowhere."""
    found = {
        name: getattr(getattr(struct, "sd", None), "location", None)
        for name, struct in structs.items()
    }
    return {name: str(location) for name, location in found.items() if location}
