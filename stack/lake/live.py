"""A table that never rests: python -m stack.lake.live LAKES_JSON LAKE writes it until it is ended.

Every beat adds a partition and drops the oldest, or writes the newest once more, over the
metastore's Thrift; so events never stop and front ends always have something to take in. The table
never grows, has neither LEVEL nor TTL, and has its database to itself: no other figure moves.
"""

import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from portal.connectors.lake_config import load_lakes
from portal.connectors.metastore import Metastore
from portal.lake.errors import PortalError
from portal.lake.ids import LakeId
from portal.lake.names import PartitionName, TableName
from stack.lake.text_table import text_partition, text_table_make

DB, TABLE = "live", "readings"
OWNER = "bob"
KEPT = 12
SECONDS = 25.0
_KEY = "at"
# Every third beat writes into a partition that front ends know already: the dangerous case.
_REWRITTEN = 3


def live_of(lake: str) -> TableName:
    """Return the name of a lake's table."""
    return TableName(LakeId(lake), DB, TABLE)


def make_live(metastore: Metastore, live: TableName, *, now: datetime) -> None:
    """Make the table in its database, as full as it will ever be."""
    columns = {"id": "bigint", "reading": "double"}
    text_table_make(metastore, live, columns=columns, key=_KEY, owner=OWNER)
    second = int(now.timestamp())
    for number in range(KEPT):
        _add(metastore, live, datetime.fromtimestamp(second - KEPT + number, UTC))


def is_there(metastore: Metastore, live: TableName) -> bool:
    """Whether the lake has the table; one that was made by an earlier version has none."""
    return metastore.table_or_none(live) is not None


def beat(metastore: Metastore, live: TableName, number: int, *, now: datetime) -> None:
    """Write the table once; whatever an earlier writer left over is dropped."""
    names = sorted(metastore.partition_names(live))
    if number % _REWRITTEN == _REWRITTEN - 1 and names:
        _write_again(metastore, live, names[-1], now=now)
        return
    _drop(metastore, live, names[: max(0, len(names) - KEPT + 1)])
    _add(metastore, live, now)


def main() -> None:
    """Beat until ended; a metastore that is away costs one beat."""
    live = live_of(sys.argv[2])
    config = load_lakes(Path(sys.argv[1]))[str(live.lake)]
    number = 0
    while True:
        try:
            with Metastore.connect(config) as metastore:
                beat(metastore, live, number, now=datetime.now(UTC))
        except PortalError as error:
            print(error.message, flush=True)
        number += 1
        time.sleep(SECONDS)


def _drop(metastore: Metastore, live: TableName, names: Sequence[str]) -> None:
    if names:
        metastore.drop_partitions(live, names, delete_data=True)


def _add(metastore: Metastore, live: TableName, at: datetime) -> None:
    value = f"{at:%Y-%m-%dT%H-%M-%S}"
    like = metastore.table(live).sd
    place = f"{like.location}/{PartitionName((_KEY,), (value,))}"
    _write_file(place, "first")
    made = text_partition(live, value, like=like, location=place)
    metastore.add_partitions([made], if_not_exists=True)


def _write_again(metastore: Metastore, live: TableName, name: str, *, now: datetime) -> None:
    for partition in metastore.partitions_by_names(live, [name]):
        _write_file(partition.sd.location, "again")
        partition.parameters["transient_lastDdlTime"] = str(int(now.timestamp()))
        metastore.alter_partitions(live, [partition])


def _write_file(location: str, name: str) -> None:
    """Write a small file; that of a second beat into the same partition replaces the first's."""
    directory = Path("/" + location.split(":", 1)[1].lstrip("/"))
    directory.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{number}\x01{number / 8}\n" for number in range(100))
    (directory / name).write_text(rows, encoding="utf-8")


if __name__ == "__main__":
    main()
