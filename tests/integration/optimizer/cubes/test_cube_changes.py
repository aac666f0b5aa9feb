"""Cubes while their tables change: files not covered are read afresh, wrong cubes not used."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.support.cube_star import SOLD, Star
from tests.support.cube_tables import SqlCube

S = f"lake.{SOLD}"
PROBES = (
    f"SELECT channel, count(*), sum(qty), avg(price), count(DISTINCT channel) FROM {S} "
    "GROUP BY channel",
    f"SELECT p_brand, s_city, count(*), max(price), count(DISTINCT cost) FROM {S} s "
    "JOIN lake.shop.product p ON s.item = p.p_id JOIN lake.shop.store t ON t.s_id = s.shop "
    "WHERE s_city <> 'c1' AND month(trunc(day, 'MM')) < 3 GROUP BY p_brand, s_city",
    f"SELECT count(*), sum(cost), min(qty) FROM {S} WHERE shop = 77",
)


@pytest.fixture
def changing(spark: SparkSession, tmp_path: Path) -> Star:
    """A star of its own, whose tables a test may change."""
    return Star(spark, tmp_path).fill()


def some(star: Star, files: int) -> SqlCube:
    """A cube of so many of the ten files."""
    live = star.live()
    return star.cube().build({1: live[:2], **{i: [live[i]] for i in range(2, files)}}).publish()


def used(star: Star) -> int:
    return sum(star.same(query) for query in PROBES)


def test_uncovered_files_are_read_afresh_up_to_a_limit(changing: Star) -> None:
    some(changing, 7)
    assert used(changing) == 3
    assert "900 rows of 3 files afresh" in changing.why(PROBES[0])[0]
    setting = "spark.sql.catalog.lake.lakewarden.cubes.most-uncovered"
    changing.spark.conf.set(setting, "0.2")
    assert "30 % of the rows are not covered, at most 20 % may be" in changing.why(PROBES[0])[0]
    changing.spark.conf.unset(setting)


def test_deletes_compaction_and_appends_leave_units_dead(changing: Star) -> None:
    cube = some(changing, 10)
    changing.sql(
        f"ALTER TABLE plain.{SOLD} SET TBLPROPERTIES ('format-version' = '2', "
        "'write.delete.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read')"
    )
    changing.sql(f"DELETE FROM plain.{SOLD} WHERE id IN (5, 1000)")
    assert used(changing) == 3
    # A file with other deletes than the cube read is not covered; built again, it is.
    files = [path for path, (_, deletes) in cube.files().items() if deletes]
    assert files
    cube.coverage = {}
    dead = {n for n, paths in cube.units.items() if set(paths) & set(files)}
    again = [path for n in dead for path in cube.units.pop(n)]
    cube.build({50 + i: [path] for i, path in enumerate(again)}).publish(exact=False)
    assert used(changing) == 3
    assert "0 rows of 0 files afresh" in changing.why(PROBES[0])[0]
    changing.append(3000, 3200)
    assert used(changing) == 3
    changing.sql(
        f"MERGE INTO plain.{SOLD} t USING (SELECT 3001L AS id) u ON t.id = u.id "
        "WHEN MATCHED THEN UPDATE SET qty = 99"
    )
    assert used(changing) == 3
    jvm: Any = changing.spark._jvm
    actions = jvm.org.apache.iceberg.spark.actions.SparkActions
    rewrite = actions.get().rewriteDataFiles(cube.java(SOLD)).option("rewrite-all", "true")
    rewrite.execute()
    assert used(changing) == 0


def test_time_travel_and_branches_are_judged_by_what_they_read(changing: Star) -> None:
    table = some(changing, 10).java(SOLD)
    before = table.currentSnapshot().snapshotId()
    table.manageSnapshots().createBranch("old").commit()
    changing.append(3000, 4000)
    query = PROBES[0]
    for of in (S, f"{S} VERSION AS OF {before}", f"{S} VERSION AS OF 'old'"):
        assert changing.same(query.replace(S, of)), of
    frame = changing.spark.read.option("snapshot-id", before).table(S)
    assert frame.groupBy("channel").count().collect()
    table.refresh()
    table.manageSnapshots().rollbackTo(before).commit()
    assert changing.same(query)


def test_a_joined_table_that_moved_makes_the_cube_unusable_for_its_joins(changing: Star) -> None:
    cube = some(changing, 8)
    changing.sql("UPDATE plain.shop.product SET p_brand = 'b9' WHERE p_id = 1")
    assert [changing.same(query) for query in PROBES] == [True, False, True]
    assert "was not built with snapshot" in changing.why(PROBES[1])[0]
    old = changing.sql("SELECT min_by(snapshot_id, committed_at) FROM plain.shop.product.snapshots")
    travelled = PROBES[1].replace("product p", f"product VERSION AS OF {old.collect()[0][0]} p")
    assert changing.same(travelled)
    cube.publish()
    assert "Cube" in changing.why(PROBES[1])[0]


def damaged(change: Callable[[dict[str, Any]], object]) -> Callable[[SqlCube], object]:
    def write(cube: SqlCube) -> object:
        data = json.loads(json.dumps(cube.coverage))
        change(data)
        return cube.name_coverage(gzip.compress(json.dumps(data).encode()))

    return write


def test_coverage_and_definitions_that_are_not_right_are_not_used(changing: Star) -> None:
    cube = some(changing, 10)
    other = "00000000-0000-0000-0000-000000000000"
    wrong: list[tuple[Callable[[SqlCube], object], str]] = [
        (lambda one: one.name_coverage(b"nothing"), "cannot be read"),
        (lambda one: one.name_coverage(gzip.compress(b"{}")[:-9]), "cannot be read"),
        (damaged(lambda data: data.pop("units")), "cannot be read"),
        (damaged(lambda data: data["units"][0].__setitem__(1, [99])), "cannot be read"),
        (damaged(lambda data: data.update(version=2)), "does not know"),
        (damaged(lambda data: data.update(format="x")), "does not know"),
        (damaged(lambda data: data.update(table_uuid=other)), "of another table"),
        (damaged(lambda data: data.update(definition_version=2)), "version 2 of its definition"),
        (damaged(lambda data: data.update(cube_snapshot_id=7)), "has expired"),
    ]
    for write, reason in wrong:
        write(cube)
        assert reason in changing.why(PROBES[0])[0]
    cube.definition["version"] = 2
    cube.publish()
    assert "does not know" in changing.why(PROBES[0])[0]
    cube.definition["version"] = 1
    cube.publish()
    changing.sql(f"DROP TABLE plain.{cube.table}")
    assert "no such table" in changing.why(PROBES[0])[0]
    assert not changing.same(PROBES[0])


def test_a_renamed_column_is_found_and_one_of_another_type_is_not_used(changing: Star) -> None:
    some(changing, 8)
    renamed = PROBES[0].replace("qty", "pieces")
    changing.sql(f"ALTER TABLE plain.{SOLD} RENAME COLUMN qty TO pieces")
    # The snapshot still has the old name: files that are not covered cannot be pinned to it.
    assert not changing.same(renamed)
    changing.append(3000, 3010, qty="pieces")
    assert changing.same(renamed)
    changing.sql(f"ALTER TABLE plain.{SOLD} ALTER COLUMN pieces TYPE BIGINT")
    changing.append(3010, 3020, qty="pieces")
    assert not changing.same(renamed)
    assert "the type of qty is bigint now" in changing.why(renamed)[0]
    changing.sql(f"ALTER TABLE plain.{SOLD} DROP COLUMN pieces")
    assert "is gone" in changing.why(f"SELECT count(*) FROM {S}")[0]


def test_a_cube_of_zoned_expressions_is_used_in_its_zone_only(changing: Star) -> None:
    cube = changing.cube(
        dimensions={"hour": "hour(CAST(fact.day AS TIMESTAMP))", "weight": "fact.weight"},
        joins=(),
        stars=(),
        used=["fact.day", "fact.weight", "fact.qty"],
        measures={"qty": ("fact.qty", ["sum"])},
    )
    cube.build({1: changing.live()}).publish()
    query = f"SELECT hour(CAST(day AS TIMESTAMP)) AS h, sum(qty) FROM {S} GROUP BY h"
    assert changing.same(query)
    assert changing.same(f"SELECT weight, sum(qty) FROM {S} WHERE weight > 2 GROUP BY weight")
    assert "tell -0 from 0" in changing.why(f"SELECT sum(qty) FROM {S} WHERE 1 / weight > 0")[0]
    changing.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        assert "in the time zone UTC" in changing.why(query)[0]
    finally:
        changing.spark.conf.set("spark.sql.session.timeZone", "UTC")
