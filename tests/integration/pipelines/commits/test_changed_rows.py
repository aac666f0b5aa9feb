"""Rows as they were, and the changes since, give the rows as they are."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from pipelines.commits.domain.positions import Kind, Position
from pipelines.commits.jobs.changes import Source
from pipelines.commits.jobs.hudi_source import HudiSource
from pipelines.commits.jobs.tables import open_source
from pipelines.commits.jobs.target import REPLACE, Target
from portal.lake.errors import RuleViolation
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from tests.support.changed_tables import ChangedHudi, some_rows
from tests.support.iceberg_lake import IcebergLake

pytestmark = pytest.mark.spark
IMAGED = ("id", "dt", "city", "qty")


def counted(frame: DataFrame, columns: tuple[str, ...] | None) -> Counter[Any]:
    return Counter(map(tuple, frame.select(*(columns or frame.columns)).collect()))


def assert_told(
    source: Source, after: Position, upto: Position, columns: tuple[str, ...] | None = None
) -> Kind:
    """Assert that what was plus what is told is what is; returns how it is told."""
    with source.changes(after, upto, columns) as found:
        rows = counted(source.read_at(after), columns)
        if found.rows is not None:
            for *row, weight in found.rows.collect():
                rows[tuple(row)] += weight
        if found.kind is not Kind.FULL:
            assert {row: n for row, n in rows.items() if n} == dict(
                counted(source.read_at(upto), columns)
            )
        return found.kind


@pytest.mark.parametrize(
    ("kind", "is_logged"),
    [
        ("COPY_ON_WRITE", False),
        ("MERGE_ON_READ", True),
        pytest.param("COPY_ON_WRITE", True, marks=pytest.mark.long),
        pytest.param("MERGE_ON_READ", False, marks=pytest.mark.long),
    ],
)
def test_changes_of_hudi(spark: SparkSession, tmp_path: Path, kind: str, is_logged: bool) -> None:
    random = Random(7)
    table = ChangedHudi(spark, tmp_path / "rows", kind, is_logged)
    table.write(some_rows(random, 20))
    table.write(some_rows(random, 8))
    table.delete([1, 2, 3, 4, 5])
    table.write([row for row in some_rows(random, 9) if row[1] == "d1"], "insert_overwrite")
    table.cluster(some_rows(random, 5))
    if kind == "MERGE_ON_READ":
        table.compact(some_rows(random, 5))
    table.delete_partition("d2")
    table.write(some_rows(random, 8))
    source = HudiSource.open(spark, "t", table.location)
    end = source.position()
    instants = table.instants()
    assert end.commit == instants[-1]
    positions = [Position(end.table, one) for one in instants]
    kinds = [assert_told(source, one, end) for one in positions[:-1]]
    kinds += [
        assert_told(source, one, other, columns)
        for one, other in pairwise(positions)
        for columns in (IMAGED, None)
    ]
    assert Kind.FULL not in kinds
    assert Kind.NOTHING in kinds  # the clustering alone


def test_what_is_gone_is_read_in_full(spark: SparkSession, tmp_path: Path) -> None:
    random = Random(3)
    table = ChangedHudi(spark, tmp_path / "rows")
    for _ in range(3):
        table.write(some_rows(random, 10))
    source = HudiSource.open(spark, "t", table.location)
    first, last = Position(source.location, table.instants()[0]), source.position()
    table.roll_back()
    upto = source.position()
    with source.changes(last, upto) as found:
        assert "rolled back" in found.meaning.reason
    assert assert_told(source, first, upto) is Kind.CHANGES

    table.clean(some_rows(random, 10), keeping=1)
    table.clean(some_rows(random, 10), keeping=1)
    with source.changes(first, source.position()) as found:
        assert "were cleaned" in found.meaning.reason


def test_changes_of_iceberg(iceberg_lake: IcebergLake) -> None:
    table = iceberg_lake.table()
    name = TableName(LakeId("main"), table.lake.db, table.name)
    source = open_source(table.lake.spark, table.lake.config, name)
    assert source.position().commit == ""
    for statement in (
        "INSERT INTO {t} VALUES (1, 'd0', 'a'), (2, 'd0', 'b'), (3, 'd1', NULL), (4, 'd1', 'd')",
        "UPDATE {t} SET word = 'zz' WHERE id = 2",
        "DELETE FROM {t} WHERE id = 3",
        "INSERT OVERWRITE {t} VALUES (5, 'd0', 'x')",
        "INSERT INTO {t} VALUES (6, 'd0', 'y'), (7, 'd2', 'y')",
    ):
        table.say(statement)
    compacted = table.lake.optimize(table.lake.task(table, kind="FULL", min_files=1))
    assert compacted
    table.say("DELETE FROM {t} WHERE dt = 'd0'")
    end = source.position()
    line = [Position(end.table, str(one["snapshot_id"])) for one in table.snapshots()]
    kinds = [assert_told(source, one, end) for one in line[:-1]]
    kinds += [assert_told(source, *pair) for pair in pairwise(line)]
    assert set(kinds) == {Kind.CHANGES, Kind.NOTHING}
    assert source.n_bytes(end) > 0

    table.opened.java.manageSnapshots().rollbackTo(int(line[0].commit)).commit()
    with source.changes(end, source.position()) as found:
        assert "rolled back" in found.meaning.reason


def test_an_iceberg_column_that_was_added_again_is_another_one(iceberg_lake: IcebergLake) -> None:
    table = iceberg_lake.table()
    name = TableName(LakeId("main"), table.lake.db, table.name)
    source = open_source(table.lake.spark, table.lake.config, name)
    table.say("INSERT INTO {t} VALUES (1, 'd0', 'a'), (2, 'd0', 'b')")
    first = source.position()
    table.say("ALTER TABLE {t} DROP COLUMN word")
    table.say("ALTER TABLE {t} ADD COLUMN word STRING")
    table.say("ALTER TABLE {t} ADD COLUMN more STRING")
    table.say("INSERT INTO {t} VALUES (3, 'd0', 'c', 'x')")
    last = source.position()
    for columns in (("id", "word"), ("id", "more"), None):
        with source.changes(first, last, columns) as found:
            assert found.kind is Kind.FULL
            assert "another column" in found.meaning.reason
    assert assert_told(source, first, last, ("id", "dt")) is Kind.CHANGES


def test_a_target_says_with_its_rows_how_far_it_has_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    def target(owner: str = "me") -> Target:
        return Target(
            spark, "db", "t", f"file:{tmp_path}/target", owner, "k", deleted_by=("n", "0")
        )

    def rows(*values: tuple[str, int]) -> DataFrame:
        return spark.createDataFrame(list(values), "k STRING, n BIGINT")

    def content() -> list[tuple[str, int]]:
        return sorted(map(tuple, target().read().select("k", "n").collect()))

    first, second = ({"src": Position("t", str(n))} for n in (1, 2))
    assert target().written() is None
    target().write(rows(("a", 1), ("b", 2)), first, note="x")
    target().write(rows(("a", 0), ("c", 3)), second)
    said = target().written()
    assert said is not None
    assert (said.positions, said.owner, said.note) == (second, "me", "")
    assert content() == [("b", 2), ("c", 3)]
    with pytest.raises(RuleViolation, match="target of something else"):
        target("you").written()

    rows(("d", 1)).write.format("hudi").mode("append").options(
        **{"hoodie.table.name": "t", "hoodie.metadata.enable": "false"}
    ).save(target().location)
    with pytest.raises(RuleViolation, match="somebody else") as caught:
        target().written()
    assert caught.value.code == "commits.foreign_write"
    assert target().written(may_be_foreign=True) == said
    target().write(rows(("e", 5)), first, operation=REPLACE)
    assert content() == [("e", 5)]
    assert target().written() is not None

    other = Target(spark, "db", "o", f"file:{tmp_path}/other", "me", "k")
    (tmp_path / "other").mkdir()
    assert other.written() is None
    (tmp_path / "other" / "file").write_text("x")
    with pytest.raises(RuleViolation, match="has files"):
        other.written()
