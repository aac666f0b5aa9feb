"""Partitions and former names in Hive's messages, as Thrift's own JSON writes them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymetastore.hive_metastore import ttypes

from portal.connectors.metastore import to_json
from portal.events.names import former_name, partitions_named
from portal.lake.errors import RuleViolation
from portal.lake.names import DEFAULT_PARTITION, PartitionName

odd = st.one_of(
    st.text(st.one_of(st.sampled_from("%=/:'\"\\{}[]^ \n\t"), st.characters(codec="utf-8"))),
    st.sampled_from([DEFAULT_PARTITION, "", "größe=1/2", "2026-11-21", "%3D", "\U0001f600"]),
)
columns = st.lists(st.text("abcxyz_0", min_size=1, max_size=6), min_size=1, max_size=4, unique=True)


def table(keys: list[str], *, db: str = "sales", name: str = "orders") -> str:
    fields = [ttypes.FieldSchema(key, "string", "a 'comment' \u00fc") for key in keys]
    return to_json(ttypes.Table(tableName=name, dbName=db, partitionKeys=fields))


def partition(values: list[str]) -> str:
    storage = ttypes.StorageDescriptor(location="file:///lake/x", parameters={"8": "lst"})
    return to_json(ttypes.Partition(values=values, dbName="sales", tableName="orders", sd=storage))


def hive_name(keys: list[str], values: list[str]) -> str:
    read = tuple(None if value in ("", DEFAULT_PARTITION) else value for value in values)
    return str(PartitionName(tuple(keys), read))


@given(st.data())
def test_every_partition_is_named_in_the_order_of_the_tables_keys(data: st.DataObject) -> None:
    keys = data.draw(columns)
    rows = st.lists(odd, min_size=len(keys), max_size=len(keys))
    before, after = data.draw(rows), data.draw(rows)
    # As it goes over the wire; a map's own order is not trusted where the table is at hand.
    message = {
        "keyValues": dict(sorted(zip(keys, before, strict=True))),
        "tableObjJson": table(keys),
        "partitionObjBeforeJson": partition(before),
        "partitionObjAfterJson": partition(after),
    }
    told = json.loads(json.dumps(message))
    names = [hive_name(keys, before), hive_name(keys, after)]
    assert partitions_named(told) == tuple(dict.fromkeys(names))
    insert = {"tableObjJson": table(keys), "ptnObjJson": partition(after), "files": []}
    assert partitions_named(insert) == (names[1],)
    listed = {"partitions": [dict(zip(keys, row, strict=True)) for row in (before, after)]}
    assert partitions_named(listed) == partitions_named(told)


def test_a_changed_partition_is_named_once_and_an_unpartitioned_insert_names_none() -> None:
    same = partition(["2026-11-21", DEFAULT_PARTITION])
    message = {
        "tableObjJson": table(["dt", "city"]),
        "partitionObjBeforeJson": same,
        "partitionObjAfterJson": same,
    }
    assert partitions_named(message) == (f"dt=2026-11-21/city={DEFAULT_PARTITION}",)
    assert partitions_named({"tableObjJson": table([]), "ptnObjJson": None}) == ()
    assert partitions_named({"tableObjJson": table(["dt"])}) == ()
    assert partitions_named({}) == ()


@pytest.mark.parametrize(
    ("before", "after", "former"),
    [
        (("sales", "orders"), ("sales", "orders"), None),
        (("sales", "orders"), ("sales", "bills"), ("sales", "orders")),
        (("sales", "orders"), ("attic", "orders"), ("sales", "orders")),
    ],
)
def test_a_renamed_table_tells_its_former_name(
    before: tuple[str, str], after: tuple[str, str], former: tuple[str, str] | None
) -> None:
    message = {
        "tableObjBeforeJson": table(["dt"], db=before[0], name=before[1]),
        "tableObjAfterJson": table(["dt"], db=after[0], name=after[1]),
    }
    assert former_name(message) == former
    assert former_name({"tableObjBeforeJson": table(["dt"])}) is None


@pytest.mark.parametrize(
    "message",
    [
        {"ptnObjJson": partition(["1"])},
        {"tableObjJson": table(["dt", "h"]), "ptnObjJson": partition(["1"])},
        {"tableObjJson": table(["dt"]), "ptnObjJson": "{}"},
        {"tableObjJson": table(["dt"]), "ptnObjJson": "[1]"},
        {"tableObjJson": table(["dt"]), "ptnObjJson": '{"1":{"lst":["i32",1,5]}}'},
        {"tableObjJson": "not JSON", "ptnObjJson": partition(["1"])},
        {"tableObjJson": table(["dt"]), "ptnObjJson": 5},
        {"tableObjBeforeJson": "{}", "tableObjAfterJson": "{}"},
        {"tableObjBeforeJson": '{"2":{"str":"a"}}', "tableObjAfterJson": "[]"},
    ],
)
def test_another_form_is_not_guessed_at(message: dict[str, Any]) -> None:
    with pytest.raises((RuleViolation, LookupError, TypeError, ValueError, AttributeError)):
        assert (partitions_named(message), former_name(message)) is None
