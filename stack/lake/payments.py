"""A table of the demo whose last day was loaded twice; a check keeps that day from its readers.

Every day but the last one is fine for the rule that blocks, and one day of the past had shops that
nobody knows. `./lakewarden demo --mend` takes the second load away again.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import PartitionName, TableName
from stack.lake.text_table import text_partition, text_table_make
from stack.stack import LAKE

PAYMENTS = TableName(LakeId(LAKE), "sales", "card_payments")
OWNER = "alice"
N_DAYS = 36
"""Five weeks: learnt bounds need 21 days, and two of the same weekday."""
DAYS_DECLARED = 3
DECLARED = ("--key", "dt", "--sla-minutes", "4320", "--min-files", "1")
BLOCKING = "paid_once"
CHECKS: Mapping[str, object] = {
    "table": f"{PAYMENTS.db}.{PAYMENTS.table}",
    "partition_key": "dt",
    "rules": [
        {
            **{"name": BLOCKING, "metric": "duplicate_rows", "column": "id", "max": 0},
            "severity": "block",
            "description": "Each payment comes once; a load that ran twice counts it twice.",
        },
        {"name": "rows_as_usual", "metric": "row_count", "learnt": {"season": "week", "floor": 10}},
        {"name": "shop_known", "metric": "null_rate", "column": "shop", "max": 0.05},
        {
            **{"name": "turnover", "metric": "sum", "column": "amount", "severity": "note"},
            "compare": {"with": "same_weekday", "periods": 4, "min": "-30%", "max": "30%"},
        },
    ],
}
_COLUMNS = {"id": "bigint", "shop": "string", "method": "string", "amount": "decimal(10,2)"}
_METHODS = ("card", "card", "phone", "voucher")
_OF_WEEK = (1.0, 1.02, 1.05, 1.08, 1.3, 0.8, 0.7)
_ROWS = 120
_UNKNOWN_AGE, _UNKNOWN_SHARE = 12, 0.15
"""How many days ago that was, and of which share of the payments nobody knew the shop."""
_FIRST, _AGAIN = "part-0", "part-0-loaded-again"


def make_payments(metastore: Metastore, *, today: date) -> None:
    """Make the table with its days up to yesterday, which is hidden until its rule says so."""
    storage = text_table_make(metastore, PAYMENTS, columns=_COLUMNS, key="dt", owner=OWNER)
    made = []
    for age in range(N_DAYS, 0, -1):
        day = today - timedelta(days=age)
        names = (_FIRST, _AGAIN) if age == 1 else (_FIRST,)
        place = f"{storage.location}/{PartitionName(('dt',), (str(day),))}"
        _write(place, names, _rows(day, unknown=_UNKNOWN_SHARE if age == _UNKNOWN_AGE else 0.01))
        partition = text_partition(PAYMENTS, str(day), like=storage, location=place)
        partition.parameters = {"numFiles": str(len(names))}
        if age == 1:
            partition.parameters["commit"] = "false"
        made.append(partition)
    metastore.add_partitions(made, if_not_exists=True)


def is_there(metastore: Metastore) -> bool:
    """Whether the lake has the table; one that was made by an earlier version has none."""
    return metastore.table_or_none(PAYMENTS) is not None


def mend(metastore: Metastore) -> list[str]:
    """Take second loads away; returns the partitions that had one, none where it was done."""
    mended = []
    names = metastore.partition_names(PAYMENTS)
    for one in metastore.partitions_by_names(PAYMENTS, names):
        second = _directory(one.sd.location) / _AGAIN
        if second.exists():
            second.unlink()
            one.parameters = {**one.parameters, "numFiles": "1"}
            metastore.alter_partitions(PAYMENTS, [one])
            mended.append(str(PartitionName(("dt",), tuple(one.values))))
    return mended


def _rows(day: date, *, unknown: float) -> Iterator[str]:
    dice = random.Random(str(day))
    n_rows = round(_ROWS * _OF_WEEK[day.weekday()] * dice.gauss(1, 0.03))
    for number in range(n_rows):
        shop = "\\N" if dice.random() < unknown else f"shop {dice.randint(1, 9)}"
        amount = f"{dice.gauss(40, 6):.2f}"
        yield f"{day:%y%m%d}{number:04}\x01{shop}\x01{dice.choice(_METHODS)}\x01{amount}\n"


def _write(location: str, names: Sequence[str], rows: Iterator[str]) -> None:
    directory = _directory(location)
    directory.mkdir(parents=True, exist_ok=True)
    text = "".join(rows)
    for name in names:
        (directory / name).write_text(text, encoding="utf-8")


def _directory(location: str) -> Path:
    return Path("/" + location.split(":", 1)[1].lstrip("/"))
