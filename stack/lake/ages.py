"""How data gets the age that its description says: in the metastore and on every file.

The metastore's DDL and creation times are set by Thrift; modification and access times on files
and directories. Nothing reads the files afterwards: one read would move their access time.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.lake.specs import Part, TableSpec
from stack.stack import LAKE

DAY = 86_400
DDL_TIME = "transient_lastDdlTime"
# Where the machine is busy with other work, one call must still end within its timeout.
_BATCH = 50


def set_file_times(root: Path, *, modified: float, read: float) -> None:
    """Give a tree its modification and access times, leaves first."""
    for folder, _, files in os.walk(root, topdown=False):
        for name in files:
            os.utime(Path(folder) / name, (read, modified))
        os.utime(folder, (modified, modified))


def _local(location: str) -> Path:
    """Return the local path of a metastore location, whose % signs are part of the name."""
    return Path("/" + location.split(":", 1)[1].lstrip("/"))


def age_table(metastore: Metastore, spec: TableSpec, *, owner: str, now: float) -> None:
    """Set the table's owner and times, and those of its partitions."""
    name = TableName(LakeId(LAKE), spec.db, spec.name)
    table = metastore.table(name)
    then = now - spec.age_days * DAY
    table.owner = owner
    table.createTime = int(then)
    table.parameters[DDL_TIME] = str(int(then))
    metastore.alter_table_keeping_times(name, table)
    if spec.keys:
        _age_partitions(metastore, name, spec.parts, now=now)
        _age_parents(_local(table.sd.location), now - DAY)
        return
    place = table.sd.serdeInfo.parameters.get("path") or table.sd.location
    read = then if spec.read_days_ago is None else now - spec.read_days_ago * DAY
    folder = _place_on_disk(place)
    if folder is not None:
        set_file_times(folder, modified=then, read=read)


def _place_on_disk(location: str) -> Path | None:
    """Find the directory of a location; Spark writes `path` URL-encoded, Hive does not."""
    for candidate in (_local(location), _local(unquote(location))):
        if candidate.is_dir():
            return candidate
    return None


def _age_partitions(
    metastore: Metastore, name: TableName, parts: Sequence[Part], *, now: float
) -> None:
    wanted: Mapping[tuple[str | None, ...], Part] = {part.values: part for part in parts}
    found = metastore.partitions_by_names(name, metastore.partition_names(name))
    for partition in found:
        values = tuple(
            None if value == "__HIVE_DEFAULT_PARTITION__" else value for value in partition.values
        )
        _age_partition(partition, wanted[values], now=now)
    for start in range(0, len(found), _BATCH):
        metastore.alter_partitions(name, found[start : start + _BATCH])


def _age_partition(partition: Any, part: Part, *, now: float) -> None:
    then = now - part.age_days * DAY
    partition.createTime = int(then)
    partition.parameters.update({DDL_TIME: str(int(then)), **part.parameters})
    read = then if part.read_days_ago is None else now - part.read_days_ago * DAY
    folder = _place_on_disk(partition.sd.location)
    if folder is not None:
        set_file_times(folder, modified=then, read=read)


def _age_parents(root: Path, modified: float) -> None:
    """Give the directories above the partitions a time of their own; they count for none."""
    for folder, names, _ in os.walk(root):
        if any("=" in name for name in names):
            os.utime(folder, (modified, modified))
