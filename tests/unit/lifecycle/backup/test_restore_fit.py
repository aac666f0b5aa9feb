"""Tests whether a backup fits into an existing table.

One case per rule, and the parents that must exist above it.
"""

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymetastore.hive_metastore import ttypes

from lifecycle.backup.engine.journal.records import FileFact, Generation, ItemIntent
from lifecycle.backup.engine.restore.fit import storage_mismatch, table_mismatch
from lifecycle.backup.engine.restore.target import parents_above
from portal.lake.paths import LakePath

Columns = list[tuple[str, str]]


def fields(columns: Columns) -> list[ttypes.FieldSchema]:
    return [ttypes.FieldSchema(name=name, type=kind) for name, kind in columns]


def storage(**changes: Any) -> ttypes.StorageDescriptor:
    serde = ttypes.SerDeInfo(
        serializationLib=changes.get("serde", "parquet"),
        parameters=changes.get("options", {"path": "file:///there", "serialization.format": "1"}),
    )
    return ttypes.StorageDescriptor(
        cols=fields(changes.get("cols", [("id", "bigint"), ("note", "string")])),
        inputFormat=changes.get("input_format", "in"),
        serdeInfo=serde,
        numBuckets=changes.get("n_buckets", -1),
        bucketCols=changes.get("bucket_cols"),
    )


def table(**changes: Any) -> ttypes.Table:
    return ttypes.Table(
        sd=storage(**changes),
        partitionKeys=fields(changes.get("keys", [("dt", "string")])),
        parameters=changes.get("parameters", {}),
        tableType=changes.get("table_type", "MANAGED_TABLE"),
    )


def spark(columns: Columns, *, n_parts: int = 1) -> dict[str, str]:
    listed = [{"name": name, "type": kind, "nullable": True} for name, kind in columns]
    text = json.dumps({"type": "struct", "fields": listed})
    size = len(text) // n_parts + 1
    name = "spark.sql.sources.schema"
    if n_parts == 1:
        return {name: text}
    parts = {f"{name}.part.{n}": text[n * size : (n + 1) * size] for n in range(n_parts)}
    return {f"{name}.numParts": str(n_parts), **parts}


FITS = [
    table(),
    table(table_type="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE", "TTL": "5"}),
    table(cols=[("ID", "BIGINT"), ("note", "string"), ("newer", "int")]),
    table(options={"path": "file:///elsewhere"}),
    table(parameters={"spark.sql.sources.provider": "hive", "transactional": ""}),
]


@pytest.mark.parametrize("live", FITS)
def test_more_columns_another_place_and_other_policy_fit(live: ttypes.Table) -> None:
    assert table_mismatch(table(), live) == ""


@pytest.mark.parametrize(
    ("live", "reason"),
    [
        (table(table_type="VIRTUAL_VIEW"), "it is a view and holds no data"),
        (table(keys=[("dt", "date")]), "its partition keys are dt date, the backup's are dt s"),
        (table(keys=[]), "its partition keys are none, the backup's are dt string"),
        (table(keys=[("h", "int"), ("dt", "string")]), "its partition keys are h int, dt string"),
        (table(serde="text"), "its file format is in with text, the backup's is in with parquet"),
        (table(input_format="other"), "its file format is other with parquet"),
        (table(options={"field.delim": ";"}), "its 'field.delim' is ';', the backup's is None"),
        (table(cols=[("id", "bigint")]), "it has no column 2, which is note string in the backup"),
        (table(cols=[("note", "string"), ("id", "bigint")]), "its column 1 is note string"),
        (table(cols=[("id", "int"), ("note", "string")]), "its column 1 is id int, the backup's"),
        (table(n_buckets=8, bucket_cols=["id"]), "it is bucketed in another way"),
        (table(parameters={"transactional": "TRUE"}), "its 'transactional' is 'true'"),
        (table(parameters={"table_type": "ICEBERG"}), "its 'table_type' is 'iceberg'"),
        (table(parameters={"storage_handler": "x.Hbase"}), "its 'storage_handler' is 'x.hbase'"),
        (table(parameters={"spark.sql.sources.provider": "delta"}), "'delta', the backup's is 'h"),
    ],
)
def test_what_a_reader_would_take_for_something_else_is_refused(
    live: ttypes.Table, reason: str
) -> None:
    assert reason in table_mismatch(table(), live)


PLACEHOLDER = [("col", "array<string>")]
SPARK = [("id", "long"), ("note", "string"), ("dt", "string")]


@pytest.mark.parametrize("n_parts", [1, 3])
def test_where_spark_wrote_the_columns_down_it_goes_by_those(n_parts: int) -> None:
    before = table(cols=PLACEHOLDER, parameters=spark(SPARK))
    wider = [*SPARK[:2], ("newer", "integer"), SPARK[2]]
    for columns in (SPARK, wider):
        live = table(cols=PLACEHOLDER, parameters=spark(columns, n_parts=n_parts))
        assert table_mismatch(before, live) == ""
    for columns in (SPARK[1:], [("id", "integer"), *SPARK[1:]]):
        live = table(cols=PLACEHOLDER, parameters=spark(columns, n_parts=n_parts))
        assert "its column 1 is" in table_mismatch(before, live)
    unreadable = {"spark.sql.sources.schema.numParts": "2", "spark.sql.sources.schema.part.0": "{"}
    live = table(cols=PLACEHOLDER, parameters=unreadable)
    assert "unreadable schema" in table_mismatch(before, live)


def test_a_partition_of_another_life_of_its_table_is_judged_for_itself() -> None:
    older = storage(cols=[("id", "bigint")])
    assert storage_mismatch(older, table().sd) == ""
    other = storage(cols=[("id", "int"), ("note", "string")])
    assert storage_mismatch(other, table().sd).startswith("its column 1 is id bigint")
    assert "its file format" in storage_mismatch(storage(serde="text"), table().sd)


NAMES = st.text("abc", min_size=1, max_size=2)
COLUMNS = st.lists(
    st.tuples(NAMES, st.sampled_from(["int", "string", "map<int,int>"])), min_size=1, max_size=4
)


@given(cols=COLUMNS, keys=COLUMNS, more=COLUMNS, at=st.integers(0, 3))
def test_a_table_fits_itself_with_columns_after_its_own_and_nothing_less(
    cols: Columns, keys: Columns, more: Columns, at: int
) -> None:
    before = table(cols=cols, keys=keys)
    assert table_mismatch(before, deepcopy(before)) == ""
    assert table_mismatch(before, table(cols=cols + more, keys=keys)) == ""
    at %= len(cols)
    assert table_mismatch(before, table(cols=cols[:at], keys=keys))
    changed = [*cols[:at], (cols[at][0], "double"), *cols[at + 1 :]]
    assert table_mismatch(before, table(cols=changed, keys=keys))
    assert table_mismatch(before, table(cols=cols, keys=keys + more))


def test_directories_above_a_new_place_are_as_those_above_the_old_one() -> None:
    def parent(path: str, mode: int) -> FileFact:
        return FileFact(path, True, 0, 1, "alice", "staff", mode)

    item = ItemIntent(
        item="b0000001-i000",
        partition="dt=a/h=1",
        source="file:///lake/db/t/dt=a/h=1",
        generation=Generation(1, 1, "file:///lake/db/t/dt=a/h=1"),
        metadata="",
        files=(),
        parents=(
            parent("file:///lake/db", 0o755),
            parent("file:///lake/db/t", 0o750),
            parent("file:///lake/db/t/dt=a", 0o700),
        ),
    )
    location = LakePath.parse("file:///lake/other/t2")
    found = parents_above(item, location)
    assert [(fact.path, fact.mode, fact.owner) for fact in found] == [
        ("file:///lake/other/t2", 0o750, "alice"),
        ("file:///lake/other/t2/dt=a", 0o700, "alice"),
    ]
    assert parents_above(replace(item, partition=""), location) == ()
    assert parents_above(item, None) == item.parents
