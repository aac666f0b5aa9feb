"""Reads a table, and those of its partitions that changed, from the metastore."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from portal.access.lakes import get_lake
from portal.connectors.metastore import Metastore
from portal.lake.errors import PortalError
from portal.lake.ids import LakeId
from portal.lake.lines import fitted
from portal.lake.names import PartitionName, TableName
from portal.lake.readiness import is_ready
from refresh.changes.models import OWNER_LENGTH
from refresh.core.domain.answers import MetastoreCheck
from refresh.models import WatchedTable
from refresh.worker.domain.steps import InMetastore


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the metastore has shown."""

    found: InMetastore
    n_partitions: int = 0
    owner: str = ""
    unready: frozenset[str] = frozenset()


def hive_of(watched: WatchedTable) -> TableName:
    """Return the name of a watched table as the platform knows it."""
    return TableName(LakeId(watched.lake), watched.db, watched.table)


def look(hive: TableName, names: Sequence[str]) -> Look:
    """Ask the metastore for a table, its number of partitions, and which of the names it has.

    Raises:
        ExternalFailure: the metastore does not answer; nothing is known then.
    """
    with Metastore.connect(get_lake(str(hive.lake))) as metastore:
        table = metastore.table_or_none(hive)
        if table is None:
            return Look(InMetastore(exists=False, is_partitioned=False))
        keys = tuple(key.name for key in table.partitionKeys or ())
        owner = fitted(str(table.owner or ""), OWNER_LENGTH)
        if not keys:
            return Look(InMetastore(exists=True, is_partitioned=False), owner=owner)
        found = metastore.partitions_by_names(hive, names) if names else []
        there = frozenset(_names(found, keys))
        return Look(
            InMetastore(exists=True, is_partitioned=True, partitions=there),
            n_partitions=metastore.n_partitions(hive),
            owner=owner,
            unready=frozenset(_names(_unready(found), keys)),
        )


def ask_again(watched: WatchedTable, names: list[str]) -> MetastoreCheck:
    """Ask the metastore about the names of a statement that failed doubtfully."""
    try:
        seen = look(hive_of(watched), names)
    except PortalError:
        return MetastoreCheck.NO_ANSWER
    if not seen.found.exists:
        return MetastoreCheck.TABLE_GONE
    is_there = set(names) <= seen.found.partitions
    return MetastoreCheck.ALL_THERE if is_there else MetastoreCheck.PARTITIONS_GONE


def _unready(found: Sequence[Any]) -> list[Any]:
    return [one for one in found if not is_ready(one.parameters or {})]


def _names(found: Sequence[object], keys: tuple[str, ...]) -> Iterator[str]:
    for partition in found:
        values = getattr(partition, "values", ())
        yield str(PartitionName.stored(keys, values))
