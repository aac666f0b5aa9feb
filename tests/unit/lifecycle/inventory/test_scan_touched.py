"""Tests events of the metastore during a scan: the names by which they are judged later."""

import json
from typing import Any

import pytest
from pymetastore.hive_metastore import ttypes

from portal.connectors.metastore import to_json
from portal.events.change_log import Touched, touched_by

TABLE = ttypes.Table(
    tableName="orders",
    dbName="sales",
    partitionKeys=[ttypes.FieldSchema("dt", "string", ""), ttypes.FieldSchema("a", "string", "")],
)


def event(kind: str, message: Any, *, db: str | None = "sales") -> ttypes.NotificationEvent:
    text = message if isinstance(message, str) else json.dumps(message)
    return ttypes.NotificationEvent(7, 0, kind, db, "orders", text)


def partition(*values: str) -> str:
    return to_json(ttypes.Partition(values=list(values), dbName="sales", tableName="orders"))


def names(kind: str, message: Any) -> list[tuple[str, str, str]]:
    return [(one.db, one.table, one.partition) for one in touched_by([event(kind, message)])]


def test_a_partition_is_touched_by_all_its_names() -> None:
    same = {"tableObjJson": to_json(TABLE)}
    renamed = same | {
        "partitionObjBeforeJson": partition("1", "ü"),
        "partitionObjAfterJson": partition("a/b", ""),
    }
    assert names("ALTER_PARTITION", renamed) == [
        ("sales", "orders", "dt=1/a=ü"),
        ("sales", "orders", "dt=a%2Fb/a=__HIVE_DEFAULT_PARTITION__"),
    ]
    written = same | {"ptnObjJson": partition("1", "2")}
    assert names("INSERT", written) == [("sales", "orders", "dt=1/a=2")]
    dropped = {"partitions": [{"dt": "1", "a": "2"}, {"dt": "3", "a": "4"}]}
    assert [name for _, _, name in names("DROP_PARTITION", dropped)] == ["dt=1/a=2", "dt=3/a=4"]


def test_a_renamed_table_is_touched_by_both_names() -> None:
    old = ttypes.Table(tableName="bills", dbName="attic", partitionKeys=[])
    message = {"tableObjBeforeJson": to_json(old), "tableObjAfterJson": to_json(TABLE)}
    assert names("ALTER_TABLE", message) == [("sales", "orders", ""), ("attic", "bills", "")]


@pytest.mark.parametrize(
    "message", ["", "{", "[]", {}, {"partitions": ["dt=1"]}, {"ptnObjJson": 1}]
)
def test_what_cannot_be_read_counts_for_the_whole_table(message: Any) -> None:
    assert names("ALTER_PARTITION", message) == [("sales", "orders", "")]


def test_transactions_and_notes_touch_nothing() -> None:
    assert list(touched_by([event("OPEN_TXN", {}), event("LAKEWARDEN_DROP", {}, db=None)])) == []
    assert list(touched_by([event("DROP_TABLE", {})])) == [Touched("sales", "orders", "", 7)]
