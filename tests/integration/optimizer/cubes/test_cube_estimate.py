"""What a cube would hold, from some data files, and what is wrong with its definition."""

from datetime import UTC, datetime
from typing import Any

import pytest

from optimizer.cubes.domain.drafts import Draft, parse_draft
from optimizer.cubes.jobs import estimate
from tests.support.iceberg_lake import IcebergLake, WrittenTable
from tests.support.scan_spark import job_for

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
N_FILES, ROWS = 24, 500


@pytest.fixture
def fact(iceberg_lake: IcebergLake) -> WrittenTable:
    """24 files of 500 rows: 7 shops, 3 kinds, a number of its own for each row."""
    table = iceberg_lake.table(by="", write__distribution__mode="none")
    table.say("ALTER TABLE {t} ADD COLUMNS (shop int, kind string, price decimal(9,2), x double)")
    rows = iceberg_lake.spark.range(0, N_FILES * ROWS, 1, N_FILES).selectExpr(
        "id",
        "'d' dt",
        "cast(id AS string) word",
        "cast(id % 7 AS int) shop",
        "concat('k', id % 3) kind",
        "cast(id % 100 AS decimal(9,2)) price",
        "cast(id AS double) x",
    )
    rows.writeTo(table.sql).append()
    return table


@pytest.fixture
def shops(iceberg_lake: IcebergLake) -> WrittenTable:
    table = iceberg_lake.table(by="")
    table.append([(n, "d", f"city {n % 2}") for n in range(7)])
    return table


def estimated(table: WrittenTable, draft: Draft) -> dict[str, Any]:
    lake = table.lake
    name = f"{lake.db}.{table.name}"
    params = {
        "db": lake.db,
        "table": table.name,
        "uuid": table.opened.uuid,
        "definition": parse_draft(draft, name),
    }
    return estimate.run(lake.spark, job_for(lake.spark, lake.config, params, now=NOW))


def test_a_star_schema_is_checked_and_estimated(fact: WrittenTable, shops: WrittenTable) -> None:
    draft = Draft(
        "by_city",
        joins=f"shop: {shops.lake.db}.{shops.name} on shop = id",
        dimensions="city = shop.word\nkind",
        measures="price: sum, count\nhigh = x: max\nids = id: sketch",
        max_leaf=1,
    )
    found = estimated(fact, draft)
    assert found["problems"] == []
    assert (found["n_files"], found["n_sampled"], found["n_rows"]) == (N_FILES, 16, N_FILES * ROWS)
    assert found["cube_rows"] == N_FILES * 2 * 3
    assert found["pays"]
    assert found["cube_rows"] < found["star_rows"] < 5 * found["cube_rows"]
    assert found["cube_bytes"] > 0
    assert {one["dimension"]: one["cube_rows"] for one in found["without"]} == {
        "city": pytest.approx(N_FILES * 3, rel=0.05),
        "kind": pytest.approx(N_FILES * 2, rel=0.05),
    }
    assert [(one["name"], one["n_values"]) for one in found["dimensions"]] == [
        ("city", 2), ("kind", 3),
    ]  # fmt: skip
    definition = found["definition"]
    assert definition["table"]["uuid"] == fact.opened.uuid
    assert definition["joins"][0]["uuid"] == shops.opened.uuid
    assert definition["columns"]["shop.word"] > 0
    assert [one["type"] for one in definition["measures"]] == ["decimal(9,2)", "double", "bigint"]
    assert found["joins"][0]["n_missing"] == 0


def test_a_cube_as_large_as_its_table_does_not_pay(fact: WrittenTable) -> None:
    found = estimated(fact, Draft("big", dimensions="word\nkind", measures="price: sum"))
    assert not found["pays"]
    assert "Without the dimension word" in found["reason"]
    assert found["share"] == 1


def test_keys_that_come_twice_and_rows_without_partner_are_refused(
    fact: WrittenTable, shops: WrittenTable
) -> None:
    draft = Draft(
        "c",
        joins=f"s: {shops.lake.db}.{shops.name} on shop = id",
        dimensions="s.word",
        measures="price: sum",
    )
    shops.say("DELETE FROM {t} WHERE id = 3")
    problems = estimated(fact, draft)["problems"]
    assert [one["field"] for one in problems] == ["joins"]
    assert "have no partner" in problems[0]["message"]
    shops.append([(3, "d", "a"), (3, "d", "b")])
    assert "has the key (3) 2 times" in estimated(fact, draft)["problems"][0]["message"]


@pytest.mark.parametrize(
    ("dimensions", "measures", "words"),
    [
        ("gone", "price: sum", "has no column gone"),
        ("kind", "x: sum", "order of the rows"),
        ("x", "price: sum", "not grouped by double"),
        ("kind", "word: sum", "only whole numbers and decimals"),
        ("kind", "word: distinct", "Use `sketch` instead"),
        ("y = shop + kind", "price: sum", ""),
    ],
)
def test_what_the_schema_refuses_is_said(
    fact: WrittenTable, dimensions: str, measures: str, words: str
) -> None:
    found = estimated(fact, Draft("c", dimensions=dimensions, measures=measures))
    assert any(words in one["message"] for one in found["problems"]) or not words
    if words:
        assert not found["pays"]


def test_a_table_without_rows_can_have_a_cube(iceberg_lake: IcebergLake) -> None:
    found = estimated(iceberg_lake.table(), Draft("c", dimensions="word", measures="id: max"))
    assert found["pays"]
    assert "no rows yet" in found["reason"]
