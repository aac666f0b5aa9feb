"""Star-trees of advised cubes: estimated from real groups, taken where queries read much less."""

from typing import Any

import pytest

from optimizer.advice.domain.stars import trees
from optimizer.advice.jobs.cube_options import cube_options
from optimizer.cubes.domain.drafts import Draft, parse_draft
from optimizer.iceberg.rewrite.jobs.boundary_sample import use_arrow
from tests.support.iceberg_lake import IcebergLake, WrittenTable

N_FILES, ROWS = 2, 20_000
N_GROUPS = 20 * 15 * 7


@pytest.fixture
def fact(iceberg_lake: IcebergLake) -> WrittenTable:
    """Two files, each with every combination of 20 cities, 15 kinds and 7 shops."""
    use_arrow(iceberg_lake.spark)
    table = iceberg_lake.table(by="", write__distribution__mode="none")
    table.say("ALTER TABLE {t} ADD COLUMNS (city int, kind int, shop int)")
    rows = iceberg_lake.spark.range(0, N_FILES * ROWS, 1, N_FILES).selectExpr(
        "id",
        "'d' dt",
        "'x' word",
        "cast(id % 20 AS int) city",
        "cast(id div 20 % 15 AS int) kind",
        "cast(id div 300 % 7 AS int) shop",
    )
    rows.writeTo(table.sql).append()
    return table


def option(table: WrittenTable, *asked: tuple[list[str], int]) -> dict[str, Any]:
    draft = Draft("c", dimensions="city\nkind\nshop", measures="id: sum")
    definition = parse_draft(draft, f"{table.lake.db}.{table.name}")
    queries = [{"dimensions": names, "n_queries": n} for names, n in asked]
    (found,) = cube_options(table.opened, [{"definition": definition, "asked": queries}])
    assert found["problem"] == ""
    assert found["cube_rows"] == N_FILES * N_GROUPS
    return found


def test_queries_of_few_dimensions_have_a_tree_and_others_none(
    fact: WrittenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = option(fact, (["shop"], 30))
    assert "star_rows" not in small, "the cube is too small for one"
    monkeypatch.setattr(trees, "SMALL_BYTES", 1)
    narrow = option(fact, (["shop"], 30), (["city"], 10))
    assert narrow["definition"]["star_tree"] == {"max_leaf": 100, "budget": 1.5}
    assert narrow["cube_rows"] < narrow["star_rows"] <= 1.5 * narrow["cube_rows"]
    assert 7 / N_GROUPS <= narrow["star_read"] < 0.2
    wide = option(fact, (["city", "kind", "shop"], 30), (["shop"], 1))
    assert "star_tree" not in wide["definition"]
    assert "star_rows" not in wide
    unasked = option(fact)
    assert "star_tree" not in unasked["definition"]
