"""A table of the demo whose partitions are expected: one is ready, one still in time, one late.

A partner delivers two files a day and each day's partition is ready with both, at the latest two
days after its day. The newest day is whole and its rule says so, of the day before one file came,
and the day before that never came. That is so at every hour of the day.
"""

from datetime import date, timedelta
from pathlib import Path

from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import PartitionName, TableName
from stack.lake.text_table import text_partition, text_table_make
from stack.stack import LAKE

FEED = TableName(LakeId(LAKE), "web", "partner_feed")
OWNER = "bob"
DAYS_DECLARED = 3
"""The rule is declared as of so many days ago, so the first of these days is expected too."""
DECLARED = ("--key", "dt", "--sla-minutes", "2880", "--min-files", "2")
_UNREADY = {"commit": "false"}


def make_feed(metastore: Metastore, *, today: date) -> None:
    """Make the table with the last two whole days, none of them said to be ready."""
    columns = {"id": "bigint", "value": "double"}
    storage = text_table_make(metastore, FEED, columns=columns, key="dt", owner=OWNER)
    made = []
    for age, names in ((2, ("first",)), (1, ("first", "second"))):
        day = str(today - timedelta(days=age))
        place = f"{storage.location}/{PartitionName(('dt',), (day,))}"
        _write(place, names)
        partition = text_partition(FEED, day, like=storage, location=place)
        partition.parameters = {**_UNREADY, "numFiles": str(len(names))}
        made.append(partition)
    metastore.add_partitions(made, if_not_exists=True)


def is_there(metastore: Metastore) -> bool:
    """Whether the lake has the table; one that was made by an earlier version has none."""
    return metastore.table_or_none(FEED) is not None


def _write(location: str, names: tuple[str, ...]) -> None:
    directory = Path("/" + location.split(":", 1)[1].lstrip("/"))
    directory.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{number}\x01{number / 8}\n" for number in range(100))
    for name in names:
        (directory / name).write_text(rows, encoding="utf-8")
