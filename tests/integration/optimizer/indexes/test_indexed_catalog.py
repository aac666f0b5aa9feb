"""Queries through the indexed catalog of Spark: the plain catalog's rows, from fewer data files."""

import pytest
from pyspark.sql import SparkSession

from tests.support.indexed_tables import IndexedTable, IndexedTables

FILES = 20
KINDS = {
    "id": ["bloom", "bloomrf"],
    "name": ["bloom", "ngram_bloom"],
    "level": ["bitmap"],
    "price": ["bitmap sliced"],
    "message": ["ngram_bitmap", "token_bloom"],
    "place.shop": ["bitmap"],
}


def write_rows(lake: IndexedTables, table: str, *, rows: int = 2000, **properties: str) -> None:
    """Make a table of 20 files whose least and greatest values exclude nothing."""
    given = {
        # Each file is a task of its own, so that tasks count files.
        "read.split.open-file-cost": str(128 << 20),
        "write.distribution-mode": "none",
        **{key.replace("__", "."): value for key, value in properties.items()},
    }
    said = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    lake.sql(
        "CREATE TABLE {t} (id BIGINT, name STRING, level STRING, price DECIMAL(12,2), "
        "message STRING, place STRUCT<shop: INT>, part INT) "
        "USING iceberg TBLPROPERTIES ({said})",
        table=table,
        said=said,
    )
    per_file = rows // FILES
    frame = lake.spark.range(0, rows, 1, FILES).selectExpr(
        f"(id * 7919) % {rows} AS id",
        f"concat('u', (id * 7919) % {rows}) AS name",
        "CASE WHEN id % 7 = 0 THEN NULL ELSE concat('L', id % 5) END AS level",
        f"CAST((id * 7919) % {rows} / 4 AS DECIMAL(12,2)) AS price",
        f"concat('GET /item ', id % 9, ' by w', id DIV {per_file}, ' took ', id, 'ms') AS message",
        "CASE WHEN id % 11 = 0 THEN NULL ELSE "
        "named_struct('shop', CAST(CASE id % 10 WHEN 1 THEN -1 WHEN 2 THEN 99 "
        f"ELSE id DIV {per_file} END AS INT)) END AS place",
        "CAST(id % 2 AS INT) AS part",
    )
    frame.writeTo(f"plain.{table}").append()


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> IndexedTables:
    return IndexedTables.under(spark, tmp_path_factory.mktemp("indexed"))


@pytest.fixture(scope="module")
def logs(lake: IndexedTables) -> IndexedTable:
    write_rows(lake, "shop.logs")
    return lake.table("shop.logs").index(KINDS)


@pytest.mark.parametrize(
    ("where", "most"),
    [
        ("id = 77", 2),
        ("id IN (77, 78)", 3),
        ("id BETWEEN 100 AND 101", 3),
        ("name = 'u77'", 2),
        ("name = 'u77' OR name = 'u78'", 3),
        ("name = 'u77' AND level = 'L2'", 1),
        ("level = 'L12'", 0),
        ("level IN ('L12', 'L13')", 0),
        ("level <=> 'L12'", 0),
        ("price = 19.25", 1),
        ("price > 100 AND price <= 100.5", 2),
        ("NOT (price <= 100 OR price > 100.5)", 2),
        ("price NOT IN (3.25) AND id = 13", 2),
        ("message LIKE '%w13 took%'", 4),
        ("message LIKE '%nowhere%'", 0),
        ("message LIKE '%1998ms'", 4),
        ("message LIKE 'GET%1999ms'", 4),
        ("lower(message) LIKE '%get /item 3 by w7 %'", 1),
        ("place.shop = 12", 1),
        ("place.shop = 12 OR id = 77", 3),
        ("place.shop IN (12, 13) AND name LIKE 'u%'", 2),
        ("part = 1 AND place.shop = 4", 1),
    ],
)
def test_a_query_reads_fewer_files_and_gives_the_same_rows(
    lake: IndexedTables, logs: IndexedTable, where: str, most: int
) -> None:
    before, now = lake.same("SELECT * FROM {t} WHERE {where}", table=logs.name, where=where)
    assert now <= most < before
