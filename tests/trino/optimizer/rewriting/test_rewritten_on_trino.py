"""Random queries give the same rows, names and types with and without a cube, in Trino."""

import json
import os
from collections import Counter
from datetime import UTC, datetime

import pytest

from optimizer.proxy.domain.statements import Statement
from optimizer.proxy.jobs.cubes import CubeAnswers
from optimizer.proxy.jobs.forwarding import Proxy
from optimizer.proxy.jobs.rewriting import Rewriters
from optimizer.rewriting.domain.answers import Answer, rewrite
from optimizer.rewriting.domain.facts import TableFacts
from optimizer.rewriting.domain.session import Session
from optimizer.rewriting.jobs import read_tables
from stack.servers.trino import CATALOG, Trino
from tests.support.iceberg_lake import IcebergLake
from tests.support.random_aggregates import RandomQueries
from tests.support.scan_spark import job_for
from tests.support.served import served
from tests.support.trino_client import TrinoClient
from tests.support.written_cubes import StarSchema, write_cube

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
N_QUERIES = int(os.environ.get("LW_CUBE_QUERIES", "60"))
SESSION = Session("trino", catalog=CATALOG, catalogs=frozenset({CATALOG}))
TYPED = (
    "SELECT count(*) AS a, sum(rev) AS b, avg(rev) AS c, sum(price) AS d, avg(price) AS e, "
    "min(price) AS f, max(rev) AS g, sum(big) AS h, avg(big) AS i, count(DISTINCT rev) AS j, "
    "count(qty) AS k FROM {fact} WHERE qty > 0",
    "SELECT p_brand AS a, day AS b, qty AS c, year(day) AS d, date_trunc('month', day) AS e "
    "FROM {fact} JOIN {part} ON f_part = p_key GROUP BY 1, 2, 3, 4, 5",
)


def facts_of(schema: StarSchema) -> dict[str, TableFacts]:
    lake = schema.lake
    params = {"tables": [schema.fact, schema.part]}
    found = read_tables.run(lake.spark, job_for(lake.spark, lake.config, params, now=NOW))
    kept = json.loads(json.dumps(found["tables"]))
    return {name: TableFacts.from_json(one) for name, one in kept.items()}


def written(schema: StarSchema, sql: str) -> str:
    return sql.format(fact=f"{CATALOG}.{schema.fact}", part=f"{CATALOG}.{schema.part}")


def check(trino: TrinoClient, facts: dict[str, TableFacts], sql: str) -> Answer:
    answer = rewrite(sql, SESSION, facts)
    if answer.is_rewritten:
        plain, cubed = trino.run(sql), trino.run(answer.sql)
        assert cubed.columns == plain.columns, answer.sql
        rows = [Counter(map(repr, one.rows)) for one in (plain, cubed)]
        assert rows[1] == rows[0], f"{sql}\n{answer.sql}"
    return answer


def compare(trino: TrinoClient, schema: StarSchema, seed: int) -> float:
    facts, queries = facts_of(schema), RandomQueries(seed, "trino")
    sqls = [written(schema, queries.query()) for _ in range(N_QUERIES)]
    return sum(check(trino, facts, sql).is_rewritten for sql in sqls) / len(sqls)


def test_the_proxy_answers_from_cubes_and_reads_what_is_newest(
    trino: TrinoClient, trino_server: Trino, lake: IcebergLake
) -> None:
    schema = StarSchema(lake, "proxied_sales").make(4)
    write_cube(schema)
    answers = CubeAnswers(lake.spark, lake.config, catalog=CATALOG, tables=["shop.proxied_*"])
    proxy = Proxy(trino_server.url, Rewriters([answers], seconds=60))
    with served(proxy) as address:
        proxied = TrinoClient.at(address, catalog=CATALOG, schema=lake.db)
        sql = "SELECT count(*) AS n, sum(rev) AS r FROM proxied_sales"
        statement = Statement(sql, CATALOG, lake.db)
        found = answers.rewrite(statement)
        assert found
        assert "__cube_c FOR VERSION" in found.sql
        plain = TrinoClient(trino.url, proxied.headers)
        assert proxied.run(sql).rows == plain.run(sql).rows
        plain.run("INSERT INTO proxied_sales (f_part, rev) VALUES (0, 5)")
        partly = answers.rewrite(statement)
        assert partly
        assert '"$path" IN' in partly.sql
        assert proxied.run(sql).rows == plain.run(sql).rows
        assert (
            answers.rewrite(Statement("SELECT note FROM proxied_sales", CATALOG, lake.db)) is None
        )


@pytest.fixture(scope="module")
def schema(lake: IcebergLake) -> StarSchema:
    return StarSchema(lake, "sales").make(4)


def test_a_whole_cube_gives_the_same_rows(trino: TrinoClient, schema: StarSchema) -> None:
    write_cube(schema)
    assert compare(trino, schema, seed=11) > 0.9


def test_results_have_the_types_of_the_engine(trino: TrinoClient, schema: StarSchema) -> None:
    write_cube(schema)
    facts = facts_of(schema)
    for query in TYPED:
        sql = written(schema, query)
        answer = check(trino, facts, sql)
        assert answer.is_rewritten, answer.blocks
        names = "abcdefghijk"[: sql.partition(" FROM ")[0].count(" AS ")]
        asked = ", ".join(f"typeof({name})" for name in names)
        texts = [" ".join(["SELECT", asked, f"FROM ({one}) LIMIT 1"]) for one in (sql, answer.sql)]
        assert trino.run(texts[1]).rows == trino.run(texts[0]).rows


def test_files_that_are_not_covered_and_deletes_are_read(
    trino: TrinoClient, schema: StarSchema
) -> None:
    write_cube(schema, covered=0.75, stray=True)
    assert compare(trino, schema, seed=12) > 0.9
    write_cube(schema)
    schema.append(9, n_rows=20)
    trino.run(written(schema, "DELETE FROM {fact} WHERE qty = 1 AND rev > 900"))
    facts = facts_of(schema)
    (cube,) = facts[schema.fact].cubes
    assert cube.n_uncovered > 0
    answers = [
        check(trino, facts, written(schema, sql))
        for sql in ("SELECT count(*) AS n, sum(rev) AS r FROM {fact}", *TYPED)
    ]
    assert all(one.is_rewritten for one in answers) or cube.uncovered_rows > 78
