"""What the JVM reads in the golden files; Iceberg's own Java reads the Puffin file alike."""

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from py4j.java_gateway import get_field
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from optimizer.indexes.domain.values import ColumnType, ValueClass, column_type
from tests.support.index_values import Plain
from tests.support.indexed_tables import IndexedTables
from tests.support.jvm_indexes import JvmReader

GOLDEN = Path(__file__).parents[3] / "golden" / "indexes"
_COMPARED = ("=", "in", "<", "<=", ">", ">=")


def _plain(kind: ColumnType, value: Any) -> Plain:
    """Return a value of expected.json as Python has it."""
    match kind.value_class:
        case ValueClass.FLOAT:
            return float(value)
        case ValueClass.DECIMAL:
            return Decimal(value).scaleb(-kind.scale)
        case ValueClass.UUID:
            return UUID(value)
        case ValueClass.BINARY:
            return bytes.fromhex(value)
        case _:
            return value  # type: ignore[no-any-return]  # JSON has the others as they are


class Golden:
    """The golden files as the JVM opens them."""

    def __init__(self, reader: JvmReader) -> None:
        self.reader = reader
        self.expected = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
        self.data = (GOLDEN / self.expected["puffin"]).read_bytes()
        self.rows = self.expected["data_file"]["records"]
        self.columns = {one["name"]: one for one in self.expected["columns"]}
        self.blobs = {one["name"]: one for one in self.expected["blobs"]}
        self.indexes = {name: self._opened(one) for name, one in self.blobs.items()}

    def _opened(self, one: Mapping[str, Any]) -> Any:
        return self.reader.read_as(
            self.data[one["offset"] : one["offset"] + one["length"]],
            table=UUID(self.expected["table_uuid"]),
            field=one["field_id"],
            location=self.expected["data_file"]["location"],
            rows=self.rows,
            kind=self.kind(one["type"]),
        )

    def kind(self, type_: str) -> ColumnType:
        found = column_type(type_)
        assert found is not None
        return found

    def leaf(self, said: Mapping[str, Any], kind: ColumnType, field: int) -> Any:
        given = said.get("values", [said["value"]] if "value" in said else [])
        op = f"lower {said['op']}" if said.get("lower") else said["op"]
        return self.reader.leaf(kind, field, op, [_plain(kind, value) for value in given])

    def condition(self, said: Mapping[str, Any]) -> Any:
        """Return a tree of expected.json as the JVM's condition."""
        jvm: Any = self.reader.spark._jvm
        java = jvm.lakewarden.indexes.format.Condition
        if said["op"] == "unknown":
            return java.UNKNOWN
        if said["op"] == "not":
            return getattr(java, "not")(self.condition(said["part"]))
        if said["op"] in {"and", "or"}:
            parts = jvm.java.util.ArrayList()
            for part in said["parts"]:
                parts.add(self.condition(part))
            return java.all(parts) if said["op"] == "and" else java.any(parts)
        column = self.columns[said["column"]]
        return self.leaf(said, self.kind(column["type"]), column["field_id"])

    def nan_rows(self) -> set[int]:
        return {
            row
            for one in self.expected["columns"]
            for row, value in enumerate(one["values"])
            if value == "NaN" and self.kind(one["type"]).value_class == ValueClass.FLOAT
        }


class Asking:
    """What a plan does for each leaf: narrow the answer by every index of its column."""

    def __init__(self, golden: Golden, names: list[str]) -> None:
        self.golden, self.names = golden, names

    def apply(self, leaf: Any) -> Any:
        jvm: Any = self.golden.reader.spark._jvm
        answer = jvm.lakewarden.indexes.format.Answer.UNKNOWN
        for name in self.names:
            if self.golden.blobs[name]["field_id"] == get_field(leaf, "field"):
                answer = answer.narrowedBy(self.golden.indexes[name].ask(leaf))
        return answer

    class Java:
        implements = ("java.util.function.Function",)


@pytest.fixture(scope="module")
def golden(spark: SparkSession) -> Golden:
    # It stays up, as PySpark leaves it: one that was shut down is not started again.
    start: Any = ensure_callback_server_started
    start(spark.sparkContext._gateway)
    return Golden(JvmReader(spark))


def test_values_of_the_golden_files_have_the_same_bytes_and_order(golden: Golden) -> None:
    for one in golden.expected["values"]:
        kind = golden.kind(golden.columns[one["column"]]["type"])
        value = golden.reader.value(kind, _plain(kind, one["value"]))
        assert bytes(get_field(value, "bytes")).hex() == one["bytes"], one
        if one["order"] is not None:
            assert get_field(value, "order") & (1 << 64) - 1 == int(one["order"], 16), one


def test_the_golden_blobs_answer_as_they_must(golden: Golden) -> None:
    wrong = []
    for probe in golden.expected["probes"]:
        blob = golden.blobs[probe["blob"]]
        leaf = golden.leaf(probe, golden.kind(blob["type"]), blob["field_id"])
        kept, found = golden.reader.ask(golden.indexes[probe["blob"]], leaf)
        # All rows and unknown rows are one thing.
        rows = None if found is not None and len(found) == golden.rows else found
        if kept != (probe["answer"] == "keep") or (probe["rows"] or None) != (rows or None):
            wrong.append((probe, rows))
    assert wrong == []


def test_the_golden_trees_answer_as_they_must(golden: Golden) -> None:
    nan = golden.nan_rows()
    for tree in golden.expected["trees"]:
        answer = golden.condition(tree["predicate"]).answer(Asking(golden, tree["blobs"]))
        found = answer.rows()
        rows = set(range(golden.rows) if found is None else found.toArray())
        expected = set(range(golden.rows) if tree["rows"] is None else tree["rows"])
        if tree["answer"] == "drop":
            assert answer.excludesFile(), tree
            continue
        assert not answer.excludesFile(), tree
        inner = tree["predicate"].get("part", {}).get("op")
        if inner == "is_nan":
            # `isnan` of a null is false; the JVM says nothing of where its negation is true.
            assert rows >= expected, tree
        elif inner in _COMPARED:
            # NaN is above all numbers in Spark, for which the JVM reads; engines differ.
            assert rows <= expected, tree
            assert expected - rows <= nan, tree
        else:
            assert rows == expected, tree


def _blobs(spark: SparkSession, path: Path) -> list[tuple[str, list[int], int, int, bytes]]:
    """Return type, fields, place and bytes of each blob, as Iceberg's own Java reads them."""
    jvm: Any = spark._jvm
    opened = jvm.org.apache.iceberg.Files.localInput(str(path))
    reader = jvm.org.apache.iceberg.puffin.Puffin.read(opened).build()
    found = []
    pairs = reader.readAll(reader.fileMetadata().blobs()).iterator()
    while pairs.hasNext():
        pair = pairs.next()
        blob, data = pair.first(), pair.second()
        # A buffer's bytes come over as one value; the buffer itself would come by the byte.
        raw = jvm.org.apache.iceberg.util.ByteBuffers.toByteArray(data)
        fields = list(blob.inputFields())
        found.append((blob.type(), fields, blob.offset(), blob.length(), bytes(raw)))
    reader.close()
    return found


def test_icebergs_own_reader_of_puffin_files_reads_the_golden_one(
    golden: Golden, spark: SparkSession
) -> None:
    found = _blobs(spark, GOLDEN / golden.expected["puffin"])
    assert [(fields, offset, len(data)) for _, fields, offset, _, data in found] == [
        ([one["field_id"]], one["offset"], one["length"]) for one in golden.blobs.values()
    ]
    for (type_, _, offset, length, data), one in zip(found, golden.blobs.values(), strict=True):
        assert type_ == f"lakewarden-{one['kind']}-v1"
        assert data == golden.data[offset : offset + length]


def test_icebergs_own_reader_of_puffin_files_reads_what_was_built(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = IndexedTables.under(spark, tmp_path)
    lake.sql("CREATE TABLE {t} (id INT, word STRING) USING iceberg", table="own.puffin")
    lake.sql("INSERT INTO {t} VALUES (1, 'a'), (2, NULL)", table="own.puffin")
    table = lake.table("own.puffin").index({"id": ["bloom"], "word": ["bitmap", "ngram_bloom"]})
    (path,) = table.puffins()
    whole = path.read_bytes()
    places = {
        (place.offset, place.length)
        for covered in table.published.values()
        for place in covered.blobs.values()
    }
    found = _blobs(spark, path)
    assert {(offset, length) for _, _, offset, length, _ in found} == places
    assert all(data == whole[at : at + length] for _, _, at, length, data in found)
