"""Dropping a cube takes its own table, and never another one."""

from datetime import UTC, datetime
from typing import Any

import pytest

from optimizer.cubes.domain.definition import CUBES_PROPERTY, DEFINITION_PROPERTY, parse, serialise
from optimizer.cubes.jobs import drop
from optimizer.iceberg.access.jobs.iceberg import open_table
from portal.lake.errors import RuleViolation
from tests.support.iceberg_lake import IcebergLake, WrittenTable
from tests.support.scan_spark import job_for

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def definition(fact: WrittenTable, name: str) -> str:
    return serialise(
        parse(
            {
                "name": name,
                "table": {"name": f"{fact.lake.db}.{fact.name}", "uuid": fact.opened.uuid},
                "dimensions": [{"name": "word", "expression": "fact.word", "type": "string"}],
            }
        )
    )


def cube_of(fact: WrittenTable, name: str = "c", *, said: str | None = None) -> None:
    """Make a table under the name of a cube, which its table lists."""
    sql = f"lake.{fact.lake.db}.`{fact.name}__cube_{name}`"
    text = definition(fact, name) if said is None else said
    shown = f"TBLPROPERTIES ('{DEFINITION_PROPERTY}'='{text}')" if text else ""
    spark = fact.lake.spark
    spark.sql(f"CREATE TABLE {sql} (unit bigint, word string) USING iceberg {shown}")
    spark.sql("SELECT CAST(1 AS bigint) unit, 'a' word").writeTo(sql).append()
    listed = f"a.b,{fact.lake.db}.{fact.name}__cube_{name}"
    fact.opened.java.updateProperties().set(CUBES_PROPERTY, listed).commit()


def dropped(fact: WrittenTable, name: str = "c", *, cube_uuid: str = "") -> dict[str, Any]:
    params = {
        "cube": 1,
        "name": name,
        "db": fact.lake.db,
        "table": fact.name,
        "uuid": fact.opened.uuid,
        "cube_uuid": cube_uuid,
    }
    spark = fact.lake.spark
    return drop.run(spark, job_for(spark, fact.lake.config, params, now=NOW))


def is_there(fact: WrittenTable, name: str = "c") -> bool:
    tables = fact.lake.spark.sql(f"SHOW TABLES IN lake.{fact.lake.db}").collect()
    return f"{fact.name}__cube_{name}" in {row.tableName for row in tables}


def test_a_cube_is_taken_away_with_its_files_and_its_name(iceberg_lake: IcebergLake) -> None:
    fact = iceberg_lake.table()
    cube_of(fact)
    assert "dropped" in dropped(fact)["words"]
    assert not is_there(fact)
    assert fact.opened.properties[CUBES_PROPERTY] == "a.b"
    assert "gone already" in dropped(fact)["words"]


@pytest.mark.parametrize("said", ["", "other"])
def test_a_table_that_is_not_the_cube_stays(iceberg_lake: IcebergLake, said: str) -> None:
    fact = iceberg_lake.table()
    other = iceberg_lake.table()
    cube_of(fact, said=said and definition(other, "c"))
    with pytest.raises(RuleViolation) as refused:
        dropped(fact)
    assert refused.value.code == "cube.not_ours"
    assert is_there(fact)


def test_a_table_made_under_its_name_since_stays(iceberg_lake: IcebergLake) -> None:
    fact = iceberg_lake.table()
    cube_of(fact)
    with pytest.raises(RuleViolation, match="another table was made"):
        dropped(fact, cube_uuid="4f7c2ba4-9d29-4a4b-9a0c-6a3c3e1e2222")
    assert is_there(fact)


def test_files_of_other_tables_are_not_dropped_with_it(iceberg_lake: IcebergLake) -> None:
    fact = iceberg_lake.table()
    cube_of(fact)
    root = f"{fact.opened.location}/hand_made"
    spark = fact.lake.spark
    spark.sql("SELECT CAST(7 AS bigint) unit, 'mine' word").coalesce(1).write.parquet(root)
    cube = open_table(spark, fact.lake.db, f"{fact.name}__cube_c")
    path = spark.read.parquet(root).inputFiles()[0].replace("%20", " ").replace("///", "/")
    builder = cube.jvm.org.apache.iceberg.DataFiles.builder(cube.java.spec())
    builder = builder.withPath(path).withFormat("PARQUET").withFileSizeInBytes(1_000)
    cube.java.newAppend().appendFile(builder.withRecordCount(1).build()).commit()
    with pytest.raises(RuleViolation, match="files of other folders"):
        dropped(fact)
    assert is_there(fact)
    assert spark.read.parquet(root).count() == 1
