"""A fact sorted and indexed by a joined column: a query that filters it opens few files."""

from typing import Any

import pytest

from tests.integration.optimizer.iceberg.rewrite.test_joined_layouts import PART, joined
from tests.integration.optimizer.pruning.test_prune import narrowed, rows
from tests.support.iceberg_lake import IcebergLake, WrittenTable

N_BRANDS, N_PARTS, N_ROWS = 40, 4_000, 80_000
WHERE = "p.brand = 'b7'"


@pytest.fixture
def star(iceberg_lake: IcebergLake) -> tuple[WrittenTable, str]:
    """A fact put in order by the brand of its part, with an index of the foreign key."""
    lake = iceberg_lake
    lake.spark.sql(f"DROP TABLE IF EXISTS lake.{lake.db}.star_part")
    # Brands are spread over the keys, so the least and greatest key of a file say nothing.
    parts = f"SELECT id, 'b' || (id * 7919 % {N_PARTS} % {N_BRANDS}) FROM range({N_PARTS})"
    other = joined(lake, "star_part", parts)
    table = lake.table(by="")
    made = f"id * 31 % {N_PARTS} AS id, '2026-05-01' AS dt, 'w' || id AS word"
    lake.spark.range(N_ROWS).selectExpr(*made.split(", ")).repartition(4).writeTo(
        table.sql
    ).append()
    size = sum(file["file_size_in_bytes"] for file in table.files())
    task: dict[str, Any] = {"joins": [{**PART, "table": other}], "target_bytes": size // 12}
    (sorted_,) = lake.optimize(lake.task(table, kind="CLUSTER", layout="sort(part.brand)", **task))
    assert sorted_["outcome"] == "DONE", sorted_
    (indexed,) = lake.optimize(lake.task(table, kind="INDEX", index_columns=["id:bitmap"]))
    assert indexed["outcome"] == "DONE", indexed
    return table, other


def asked(table: WrittenTable, other: str, where: str = WHERE) -> str:
    words = ["SELECT f.id, f.word, p.brand FROM", table.sql, "f JOIN lake." + other, "p"]
    return " ".join([*words, "ON f.id = p.key WHERE", where])


def test_the_keys_of_a_filtered_table_leave_few_files_of_the_fact(
    star: tuple[WrittenTable, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, other = star
    n_files, whole = len(table.files()), asked(*star)
    assert n_files >= 8
    found = narrowed(table, whole)
    fact, part = found["tables"]
    assert fact["whole"] == "", found
    assert fact["keys"] == [
        f"id = p.key: {N_PARTS // N_BRANDS} keys of {other} at snapshot {part['snapshot']}"
    ]
    assert fact["n_kept"] <= 3, found
    assert f"VERSION AS OF {part['snapshot']}" in found["sql"]
    assert rows(table, found["sql"]) == rows(table, whole) != []

    # A commit to the joined table between the answer and the query: the answer stays what it was.
    before = rows(table, whole)
    lake = table.lake
    lake.spark.sql(f"UPDATE lake.{other} SET brand = 'b7'")
    assert rows(table, found["sql"]) == before
    assert rows(table, whole) != before
    again = narrowed(table, whole)
    assert rows(table, again["sql"]) == rows(table, whole)

    monkeypatch.setattr("optimizer.pruning.jobs.prune.MOST_KEYS", 5)
    many = narrowed(table, whole)
    assert "more than 5 keys fit" in many["tables"][0]["keys"][0]
    assert rows(table, many["sql"]) == rows(table, whole)
    none = narrowed(table, asked(*star, where="p.brand = 'no such brand'"))
    assert rows(table, none["sql"]) == []
    assert none["tables"][0]["n_kept"] == 0


def test_stock_spark_opens_few_files_of_the_fact(star: tuple[WrittenTable, str]) -> None:
    """The dynamic keys of the join are asked of the index by the catalog alone."""
    table, _ = star
    narrowed(table, asked(*star))  # sets the indexed catalog up
    lake = table.lake
    name = f"indexed.{lake.db}.{table.name}"
    frame = lake.spark.sql(asked(*star).replace(table.sql, name))
    assert sorted(frame.collect(), key=repr) == rows(table, asked(*star)) != []
    plan = frame._jdf.queryExecution().executedPlan().toString()
    n_files = len(table.files())
    assert "join filters: " in plan, plan
    dropped, of = plan.split("join filters: ")[1].split(" files dropped")[0].split(" of ")
    assert int(of) == n_files
    assert n_files - int(dropped) <= 3
