"""A query narrowed by the job gives Trino's own rows of the whole query, from fewer bytes."""

import random
from typing import Any

import pytest

from optimizer.pruning.jobs import prune
from tests.support.iceberg_lake import IcebergLake, WrittenTable
from tests.support.scan_spark import job_for
from tests.support.trino_client import Answer, TrinoClient

N_FILES, ROWS_A_FILE = 24, 250
LEVELS = ("INFO", "WARN", "ERROR")
COLUMNS = ["id:bloomrf", "word:ngram_bloom", "code:bitmap", "price:bitmap"]


def lines_of(file: int) -> list[tuple[Any, ...]]:
    chance = random.Random(file)
    n = N_FILES * ROWS_A_FILE
    return [
        (
            (file + k * N_FILES) * 7919 % n,
            None if k % 41 == 0 else f"{chance.choice(LEVELS)} it's {file:02}-{k:03} 100%_\\ é",
            chance.randrange(300) if k % 37 else None,
            f"{chance.randrange(500) / 4:.2f}",
        )
        for k in range(ROWS_A_FILE)
    ]


def write(table: WrittenTable, rows: list[tuple[Any, ...]]) -> None:
    frame = table.lake.spark.createDataFrame(rows, "id BIGINT, word STRING, code INT, price STRING")
    priced = frame.withColumn("price", frame["price"].cast("decimal(10,2)"))
    priced.coalesce(1).writeTo(table.sql).append()


def make(lake: IcebergLake, name: str, n_files: int = N_FILES) -> WrittenTable:
    table = WrittenTable(lake, name)
    lake.spark.sql(
        f"CREATE TABLE {table.sql} (id BIGINT, word STRING, code INT, price DECIMAL(10,2)) USING "
        "iceberg TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')"
    )
    for file in range(n_files):
        write(table, lines_of(file))
    index(table)
    return table


def index(table: WrittenTable) -> None:
    task = table.lake.task(table, kind="INDEX", index_columns=COLUMNS)
    (result,) = table.lake.optimize(task)
    assert result["outcome"] in ("DONE", "NOTHING"), result


@pytest.fixture(scope="module")
def logs(lake: IcebergLake) -> WrittenTable:
    """Files that are alike to least and greatest values, with their indexes."""
    return make(lake, "logs")


def narrowed(lake: IcebergLake, sql: str, **params: Any) -> dict[str, Any]:
    given = {"sql": sql, "dialect": "trino", "max_files": 500, "catalog": "lake", **params}
    return prune.run(lake.spark, job_for(lake.spark, lake.config, given))


def told(answer: Answer) -> tuple[list[str], list[str]]:
    return answer.columns, sorted(map(repr, answer.rows))


def same(lake: IcebergLake, trino: TrinoClient, sql: str) -> dict[str, Any]:
    """Check that Trino gives the same rows and names of columns; return what was planned."""
    found = narrowed(lake, sql)
    assert told(trino.run(found["sql"])) == told(trino.run(sql)), found
    return found


def leaf(chance: random.Random, alias: str) -> str:
    n = N_FILES * ROWS_A_FILE
    low, code = chance.randrange(n), chance.randrange(300)
    return alias + chance.choice(
        [
            f"id = {low}",
            f"id IN ({low}, {chance.randrange(n)}, -1)",
            f"id BETWEEN {low} AND {low + chance.choice((0, 3, 40))}",
            f"id >= {n - 3}",
            f"code = {code}",
            f"code NOT IN ({code}, 7)",
            "code IS NULL",
            f"price = {chance.randrange(500) / 4:.2f}",
            f"price > {chance.randrange(480, 500) / 4}",
            f"word LIKE '%it''s {chance.randrange(N_FILES):02}-{chance.randrange(250):03}%'",
            f"word LIKE 'ERROR it''s {chance.randrange(N_FILES):02}%'",
            "word LIKE '%100!%!_\\ é' ESCAPE '!'",
            "word IS NOT NULL",
        ]
    )


def condition(chance: random.Random, alias: str = "", depth: int = 2) -> str:
    if depth == 0 or chance.random() < 0.4:
        return leaf(chance, alias)
    word = chance.choice((" AND ", " AND ", " OR "))
    joined = word.join(condition(chance, alias, depth - 1) for _ in range(2))
    return f"NOT ({joined})" if chance.random() < 0.15 else f"({joined})"


def test_random_conditions_give_the_rows_of_the_whole_query(
    logs: WrittenTable, trino: TrinoClient
) -> None:
    chance = random.Random(18)
    n_narrowed = 0
    for _ in range(60):
        found = same(logs.lake, trino, f"SELECT * FROM {logs.sql} WHERE {condition(chance)}")
        n_narrowed += not found["tables"][0]["whole"]
    assert n_narrowed >= 20


def test_fewer_bytes_and_splits_are_read(logs: WrittenTable, trino: TrinoClient) -> None:
    (row,) = trino.run(f"SELECT id, word FROM {logs.sql} WHERE word LIKE '%07-011%'").rows
    for where in (f"id = {row[0]}", "word LIKE '%it''s 07-011%'"):
        sql = f"SELECT count(*), max(price) FROM {logs.sql} WHERE {where}"
        found = same(logs.lake, trino, sql)
        (planned,) = found["tables"]
        assert planned["n_files"] == N_FILES
        assert planned["n_kept"] <= 3, planned
        whole, less = trino.run(sql), trino.run(found["sql"])
        assert less.rows == whole.rows == [[1, whole.rows[0][1]]]
        assert less.physical_bytes < whole.physical_bytes / 4, (less, whole)
        assert less.splits < whole.splits, (less, whole)


SHAPES = (
    "SELECT a.id, b.code FROM {t} a JOIN {t} b ON a.id = b.code WHERE {a} AND {b}",
    "SELECT logs.id, word FROM {t} WHERE {u} ORDER BY 1 LIMIT 100000",
    "WITH e AS (SELECT * FROM {t} WHERE {u}) SELECT code, count(*) c FROM e GROUP BY code",
    "SELECT count(*) FROM (SELECT * FROM {t} x WHERE {u}) y WHERE y.code > 10",
    "SELECT id FROM {t} WHERE {u} UNION ALL SELECT code FROM {t} a WHERE {a}",
    "SELECT id FROM {t} EXCEPT SELECT code FROM {t} a WHERE {a}",
    "SELECT a.id, b.id FROM {t} a LEFT JOIN {t} b ON a.id = b.code AND {b} WHERE {a}",
    "SELECT * FROM {t} a WHERE {a} AND id IN (SELECT code FROM {t} b WHERE {b})",
    "SELECT * FROM {t} a WHERE {a} AND EXISTS (SELECT 1 FROM {t} b WHERE b.code = a.id AND {b})",
    "SELECT a.id, n FROM {t} a CROSS JOIN UNNEST(ARRAY[1, 2]) AS u (n) WHERE {a}",
    'SELECT "A"."ID", lower(word) FROM lake."shop".LOGS AS "a" WHERE {a}',
    "SELECT a.id FROM {t} a, {t} b WHERE a.id = b.code AND {a} AND {b}",
    "SELECT count(*) FROM {t} FOR VERSION AS OF {snapshot} AS a WHERE {a}",
    "SELECT x.k FROM {t} AS x (k, v, c, p) WHERE x.k = 5",
    'SELECT count(DISTINCT "$path") FROM {t} a WHERE {a}',
    "SELECT shop.logs.id FROM {t} WHERE {u}",
    "SELECT avg(price) FILTER (WHERE code < 9), 1E0, DECIMAL '1.10' FROM {t} a WHERE {a} -- é'",
)


@pytest.mark.parametrize("shape", SHAPES)
def test_queries_of_every_shape_give_the_rows_of_the_whole_query(
    logs: WrittenTable, trino: TrinoClient, shape: str
) -> None:
    chance = random.Random(shape)
    for _ in range(3):
        said = shape.format(
            t=logs.sql,
            a=condition(chance, "a.", 0),
            b=condition(chance, "b.", 0),
            u=condition(chance),
            snapshot=logs.opened.snapshot_id,
        )
        same(logs.lake, trino, said)


def test_other_catalogs_tables_are_left_alone(logs: WrittenTable, trino: TrinoClient) -> None:
    sql = (
        f"SELECT count(*) FROM {logs.sql} a, system.metadata.catalogs c WHERE a.id = 5 "
        "AND c.catalog_name = 'lake'"
    )
    found = same(logs.lake, trino, sql)
    assert [one["table"] for one in found["tables"]] == ["shop.logs"]
    assert found["sql"] != sql


def test_a_long_list_changes_nothing(logs: WrittenTable) -> None:
    sql = f"SELECT * FROM {logs.sql} WHERE code = 5"
    found = narrowed(logs.lake, sql, max_files=1)
    assert found["sql"] == sql
    assert "the limit is 1" in found["tables"][0]["whole"]


def test_rows_of_the_snapshot_stay_whatever_comes_later(
    lake: IcebergLake, trino: TrinoClient
) -> None:
    table = make(lake, "pinned", 6)
    sql = f"SELECT * FROM {table.sql} WHERE id = 5 OR id BETWEEN 100 AND 110"
    before = trino.run(sql)
    found = narrowed(lake, sql)
    assert f"FOR VERSION AS OF {table.opened.snapshot_id} " in found["sql"]
    write(table, [(5, "later", 1, "1.00")])
    assert told(trino.run(found["sql"])) == told(before)
    again = same(lake, trino, sql)
    (planned,) = again["tables"]
    assert planned["unused"], "the new file has no index, and is kept"
    assert len(trino.run(again["sql"]).rows) == len(before.rows) + 1


def test_deleted_rows_stay_away_and_compaction_changes_nothing(
    lake: IcebergLake, trino: TrinoClient
) -> None:
    table = make(lake, "changed", 8)
    chance = random.Random(4)

    def check() -> int:
        queries = [f"SELECT * FROM {table.sql} WHERE {condition(chance)}" for _ in range(8)]
        queries.append(f"SELECT * FROM {table.sql} WHERE id BETWEEN 0 AND 60")
        found = [same(lake, trino, sql) for sql in queries]
        return sum(not one["tables"][0]["whole"] for one in found)

    table.say("DELETE FROM {t} WHERE id % 5 = 0 OR word LIKE 'WARN%'")
    assert len(table.files("delete_files")) > 0
    assert check() > 0
    trino.run(f"DELETE FROM {table.sql} WHERE id % 7 = 0")
    trino.run(f"INSERT INTO {table.sql} VALUES (15, 'of Trino', 3, DECIMAL '1.25')")
    assert check() > 0
    (result,) = lake.optimize(lake.task(table, kind="MINOR"))
    assert result["outcome"] == "DONE", result
    assert check() >= 0
    index(table)
    check()


def test_columns_that_changed_after_the_last_commit_leave_the_query_alone(
    lake: IcebergLake, trino: TrinoClient
) -> None:
    table = make(lake, "evolved", 4)
    for change in ("ADD COLUMN more INT", "RENAME COLUMN code TO status"):
        table.say("ALTER TABLE {t} " + change)
        sql = f"SELECT * FROM {table.sql} WHERE id = 5"
        found = same(lake, trino, sql)
        assert found["sql"] == sql
        assert "changed after its last commit" in found["tables"][0]["whole"]
    write_more = "INSERT INTO {t} VALUES (5, 'w', 6, 7.25, 8)"
    table.say(write_more)
    found = same(lake, trino, f"SELECT * FROM {table.sql} WHERE id = 5 AND status IN (6, 7)")
    assert found["tables"][0]["whole"] == ""
    assert len(trino.run(found["sql"]).rows) >= 1
