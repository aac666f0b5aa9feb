"""Random queries give the same rows, names and types with and without a cube, in Spark."""

import json
import os
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from optimizer.rewriting.domain.answers import Answer, rewrite
from optimizer.rewriting.domain.facts import TableFacts
from optimizer.rewriting.domain.session import Session
from optimizer.rewriting.jobs import read_tables
from tests.support.iceberg_lake import IcebergLake
from tests.support.random_aggregates import RandomQueries
from tests.support.scan_spark import job_for
from tests.support.written_cubes import StarSchema, write_cube

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
N_QUERIES = int(os.environ.get("LW_CUBE_QUERIES", "15"))
"""For each state of a cube."""


def facts_of(schema: StarSchema) -> dict[str, TableFacts]:
    """Read what is known as the run does, through JSON as it is kept."""
    lake = schema.lake
    params = {"tables": [schema.fact, schema.part]}
    found = read_tables.run(lake.spark, job_for(lake.spark, lake.config, params, now=NOW))
    kept = json.loads(json.dumps(found["tables"]))
    return {name: TableFacts.from_json(one) for name, one in kept.items()}


def result(schema: StarSchema, sql: str) -> tuple[list[tuple[str, str]], Counter[str]]:
    frame = schema.lake.spark.sql(sql)
    return frame.dtypes, Counter(repr(tuple(row)) for row in frame.collect())


def check(schema: StarSchema, facts: dict[str, TableFacts], sql: str) -> Answer:
    written = sql.format(fact=f"lake.{schema.fact}", part=f"lake.{schema.part}")
    answer = rewrite(written, Session("spark"), facts)
    if answer.is_rewritten:
        assert result(schema, answer.sql) == result(schema, written), f"{written}\n{answer.sql}"
    return answer


def compare(schema: StarSchema, seed: int) -> float:
    """Compare random queries; gives the share of those that a cube answered."""
    facts, queries = facts_of(schema), RandomQueries(seed, "spark")
    used = [check(schema, facts, queries.query()).is_rewritten for _ in range(N_QUERIES)]
    return sum(used) / len(used)


@pytest.fixture
def schema(iceberg_lake: IcebergLake, request: pytest.FixtureRequest) -> StarSchema:
    name = f"s_{abs(hash(request.node.name)) % 10**8}"
    return StarSchema(iceberg_lake, name).make(4)


def test_a_whole_cube_gives_the_same_rows(schema: StarSchema) -> None:
    write_cube(schema)
    (cube,) = facts_of(schema)[schema.fact].cubes
    assert (cube.problem, cube.n_uncovered, cube.units) == ("", 0, None)
    assert compare(schema, seed=1) > 0.9


def test_a_cube_of_most_files_with_rows_of_a_dead_build_gives_the_same_rows(
    schema: StarSchema,
) -> None:
    write_cube(schema, covered=0.75, stray=True)
    (cube,) = facts_of(schema)[schema.fact].cubes
    assert (cube.n_uncovered, cube.units) == (1, ((0, 2),))
    assert compare(schema, seed=2) > 0.9


def test_later_rows_are_read_from_their_files(schema: StarSchema) -> None:
    write_cube(schema)
    schema.append(9, n_rows=20)
    facts = facts_of(schema)
    (cube,) = facts[schema.fact].cubes
    assert (cube.n_uncovered, cube.uncovered_rows, cube.covered_rows) == (1, 20, 240)
    assert compare(schema, seed=3) > 0.9


def test_a_file_with_new_deletes_is_read_beside_the_cube(schema: StarSchema) -> None:
    write_cube(schema)
    (row,) = schema.lake.spark.sql(f"SELECT big FROM lake.{schema.fact} LIMIT 1").collect()
    schema.sql(f"DELETE FROM {{fact}} WHERE big = {row.big}")
    (cube,) = facts_of(schema)[schema.fact].cubes
    assert (cube.n_uncovered, cube.uncovered_rows, cube.covered_rows) == (1, 60, 180)
    assert compare(schema, seed=4) > 0.9


def test_a_cube_that_covers_nothing_is_not_used(schema: StarSchema) -> None:
    write_cube(schema, covered=0)
    answer = check(schema, facts_of(schema), "SELECT count(*) AS n FROM {fact}")
    assert not answer.is_rewritten
    (block,) = answer.blocks
    assert block.cubes[0].rule == "coverage"


def test_a_renamed_column_is_found_and_a_new_one_of_its_name_is_another(schema: StarSchema) -> None:
    write_cube(schema)
    schema.sql("ALTER TABLE {fact} RENAME COLUMN qty TO quantity")
    schema.sql("ALTER TABLE {fact} ADD COLUMN qty string")
    sql = "SELECT quantity AS q, sum(rev) AS r FROM {fact} GROUP BY quantity"
    assert check(schema, facts_of(schema), sql).is_rewritten
    other = "SELECT qty AS q, sum(rev) AS r FROM {fact} GROUP BY qty"
    assert not check(schema, facts_of(schema), other).is_rewritten


def test_a_new_snapshot_of_a_joined_table_puts_the_cube_aside(schema: StarSchema) -> None:
    write_cube(schema)
    schema.sql("INSERT INTO {part} VALUES (9, 'late')")
    answer = check(schema, facts_of(schema), "SELECT count(*) AS n FROM {fact}")
    (block,) = answer.blocks
    assert "has another snapshot" in block.cubes[0].reason


def test_a_damaged_coverage_puts_the_cube_aside_with_the_reason(schema: StarSchema) -> None:
    name = write_cube(schema)
    for value, words in (("file:/etc/passwd", "outside of its own folder"), ("", "not been built")):
        schema.sql(
            f"ALTER TABLE lake.{name} SET TBLPROPERTIES ('lakewarden.cube.coverage' = '{value}')"
        )
        (cube,) = facts_of(schema)[schema.fact].cubes
        assert words in cube.problem
    schema.sql(f"DROP TABLE lake.{name}")
    (cube,) = facts_of(schema)[schema.fact].cubes
    assert cube.problem


def expected_rows(schema: StarSchema, sql: str) -> Any:
    return result(schema, sql)[1]


def test_an_empty_answer_is_an_empty_answer(schema: StarSchema) -> None:
    write_cube(schema)
    sql = "SELECT count(*) AS n, sum(rev) AS r, avg(price) AS a FROM {fact} WHERE qty = 99"
    answer = check(schema, facts_of(schema), sql)
    assert expected_rows(schema, answer.sql) == Counter({"(0, None, None)": 1})
