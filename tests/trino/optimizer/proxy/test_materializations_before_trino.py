"""Materializations answer Trino's queries over Hudi tables as the tables themselves do."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
import requests
from pyspark.sql import SparkSession

from optimizer.proxy.domain.statements import Statement
from optimizer.proxy.jobs.forwarding import MARK, REASON, Proxy
from optimizer.proxy.jobs.materializations import MaterializationAnswers
from optimizer.proxy.jobs.rewriting import Rewriters
from optimizer.rewriting.domain.hudi_readers import HudiReader
from stack.servers.trino import HUDI_CATALOG, Trino
from stack.stack import LAKE, Stack
from tests.support.hudi_shop import BUYERS_SQL, KEPT_SQL, HudiShop, some_orders
from tests.support.random_stored_aggregates import (
    FACT_COLUMNS,
    SHOP_COLUMNS,
    SHOPS,
    RandomAggregates,
    fact_rows,
)
from tests.support.served import served
from tests.support.trino_client import Answer, QueryFailedError, TrinoClient

SEED = int(os.environ.get("LW_ANSWERED_SEED", "5"))
N_QUERIES = int(os.environ.get("LW_ANSWERED_QUERIES", "24"))
READER = HudiReader(HUDI_CATALOG, newest_version=6)
JOINED = "FROM orders o JOIN shops s ON o.shop = s.id WHERE o.id >= 0"
ANSWERED = (
    f"SELECT o.dt, s.town, count(*) AS n, sum(o.price) AS p, avg(o.price) AS a {JOINED} "
    "GROUP BY o.dt, s.town",
    f"SELECT o.sold_on, sum(o.qty) AS q, avg(o.qty) AS a, count(o.qty) AS n {JOINED} "
    "GROUP BY o.sold_on",
    f"SELECT min(o.qty) AS lo, max(o.price) AS hi, min(o.sold_on) AS d, max(o.note) AS w {JOINED}",
    f"SELECT o.note, count(*) AS n, sum(o.price) AS p {JOINED} AND o.sold_on >= DATE '2026-05-02' "
    "AND s.town IN ('ash', 'd''oak') GROUP BY o.note",
    f"SELECT o.note, count(*) AS n {JOINED} AND o.note IS NULL GROUP BY o.note",
    f"SELECT year(o.sold_on) AS y, date_trunc('month', o.sold_on) AS m, count(*) {JOINED} "
    "GROUP BY 1, 2",
    f"SELECT o.dt, sum(o.price) AS p {JOINED} AND o.dt BETWEEN '2026-05-01' AND '2026-05-02' "
    "GROUP BY o.dt HAVING count(*) > 2 ORDER BY p DESC LIMIT 1",
    f"SELECT count(*) FILTER (WHERE s.town = 'ash') AS n, count(s.town) AS t {JOINED}",
    f"WITH d AS (SELECT o.dt, max(o.price) AS hi {JOINED} GROUP BY o.dt) SELECT dt, hi FROM d",
    f"SELECT count(*) AS n {JOINED} AND s.town = 'nowhere'",
    "SELECT dt, note, count(DISTINCT buyer) AS b, count(DISTINCT sold_on) AS d, count(*) AS n "
    "FROM orders GROUP BY dt, note",
    "SELECT dt, count(*) AS n FROM orders WHERE note <> 'a' GROUP BY dt",
)
LEFT = {
    "SELECT shop, count(*) AS n FROM orders GROUP BY shop": "shop is needed, which is no dimension",
    "SELECT dt, count(DISTINCT buyer) AS b FROM orders GROUP BY dt": "hold for its own groups",
    "SELECT dt, min(qty) AS n FROM orders GROUP BY dt": "qty",
    "SELECT count(*) AS n FROM orders a JOIN orders b ON a.id = b.id": "2 times; once is compared",
    "SELECT dt FROM orders WHERE id = 7": "no aggregation",
}
TYPED = {
    "SELECT o.dt AS a, o.sold_on AS b, s.town AS c, count(*) AS d, sum(o.qty) AS e, avg(o.qty) AS "
    "f, sum(o.price) AS g, avg(o.price) AS h, min(o.qty) AS i, max(o.price) AS j, min(o.sold_on) "
    f"AS k, max(o.note) AS l {JOINED} GROUP BY o.dt, o.sold_on, s.town": "abcdefghijkl",
    "SELECT note AS a, count(DISTINCT buyer) AS b FROM orders GROUP BY dt, note": "ab",
}
N = "SELECT count(*) AS n, max(note) AS m FROM orders"
OUT_OF_LOGS = "orders has rows in log files, which the catalog hudi does not read"


@dataclass
class Shop(HudiShop):
    """The tables, with Trino and the person who asks it."""

    url: str = ""

    @classmethod
    def at(cls, spark: SparkSession, stack: Stack, trino: Trino, db: str, **how: Any) -> "Shop":
        config = stack.config(LAKE)
        root = config.path(stack.lake_root).child("trino hudi")
        place = Path(str(root).removeprefix("file:"))
        return cls(spark, config, db, place, url=trino.url, **{"version": 6, **how})

    @property
    def trino(self) -> TrinoClient:
        return TrinoClient.at(self.url, catalog=HUDI_CATALOG, schema=self.db)

    def answers(self, seconds: int = 0, reader: HudiReader = READER) -> MaterializationAnswers:
        return MaterializationAnswers(
            self.spark,
            self.config,
            reader=reader,
            tables=[f"{self.db}.orders_kept", f"{self.db}.orders_buyers"],
            max_lag=timedelta(seconds=seconds),
        )

    @contextmanager
    def proxied(self, seconds: int = 0, reader: HudiReader = READER) -> Iterator["Proxied"]:
        rewriters = Rewriters([self.answers(seconds, reader)], seconds=100)
        with served(Proxy(self.url, rewriters)) as address:
            yield Proxied(self, TrinoClient(address, self.trino.headers))


@dataclass
class Proxied:
    """The same person's connection through the proxy."""

    shop: Shop
    client: TrinoClient

    def said(self, sql: str) -> tuple[str, str]:
        """Return who rewrote a query, and why nobody did; the query is cancelled."""
        address = f"{self.client.url}/v1/statement"
        found = requests.post(
            address, data=sql.encode(), headers=dict(self.client.headers), timeout=100
        )
        requests.delete(found.json()["nextUri"], headers=dict(self.client.headers), timeout=60)
        return found.headers.get(MARK, ""), found.headers.get(REASON, "")

    def text(self, sql: str) -> tuple[Any, str]:
        """Run a query; returns the answer, and the text that Trino ran."""
        answer = self.client.run(sql)
        address = f"{self.shop.url}/v1/query/{answer.query_id}"
        found = requests.get(address, headers=dict(self.client.headers), timeout=60)
        return answer, str(json.loads(found.content)["query"])

    def assert_kept(self, sql: str) -> None:
        """A materialization answers, with the rows, names and types of the tables."""
        plain = self.shop.trino.run(sql)
        answer, text = self.text(sql)
        assert "orders_" in text, (sql, self.said(sql))
        assert answer.columns == plain.columns, text
        assert plain.rows, sql
        assert counted(answer) == counted(plain), (sql, text)

    def assert_left(self, sql: str, reason: str) -> None:
        """The tables answer, and the client is told why."""
        by, why = self.said(sql)
        assert not by
        assert reason in why, (sql, why)
        answer, text = self.text(sql)
        assert text == sql, why
        assert counted(answer) == counted(self.shop.trino.run(sql))


def counted(answer: Answer) -> Counter[str]:
    return Counter(map(repr, answer.rows))


def make(
    spark: SparkSession,
    stack: Stack,
    trino: Trino,
    db: str,
    *,
    version: int = 6,
    kind: str = "COPY_ON_WRITE",
) -> Shop:
    shop = Shop.at(spark, stack, trino, db, version=version, kind=kind)
    shop.write_shops()
    shop.write(some_orders(Random(5), range(60)))
    return shop


@pytest.fixture(scope="module")
def shop(spark: SparkSession, embedded_stack: Stack, trino_server: Trino) -> Shop:
    made = make(spark, embedded_stack, trino_server, "hudi_shop")
    made.refresh("orders_kept", KEPT_SQL)
    made.refresh("orders_buyers", BUYERS_SQL)
    return made


def test_answers_are_those_of_the_tables(shop: Shop) -> None:
    with shop.proxied() as proxied:
        for sql in ANSWERED:
            proxied.assert_kept(sql)
        for sql, reason in LEFT.items():
            proxied.assert_left(sql, reason)


def test_results_have_the_types_of_the_tables(shop: Shop) -> None:
    answers = shop.answers()
    for sql, columns in TYPED.items():
        found = answers.rewrite(Statement(sql, HUDI_CATALOG, shop.db))
        assert found is not None
        assert found.sql != sql, found.reason
        asked = ", ".join(f"typeof({name})" for name in columns)
        texts = [" ".join(["SELECT", asked, f"FROM ({one}) LIMIT 1"]) for one in (sql, found.sql)]
        assert shop.trino.run(texts[1]).rows == shop.trino.run(texts[0]).rows


def test_random_queries_give_the_same_rows(
    spark: SparkSession, embedded_stack: Stack, trino_server: Trino
) -> None:
    shop = Shop.at(spark, embedded_stack, trino_server, "hudi_random")
    makes = RandomAggregates(SEED, f"{shop.db}.fact", f"{shop.db}.shop")
    one = makes.aggregate(f"{shop.db}.orders_kept")
    shop.write_plain("fact", FACT_COLUMNS, fact_rows())
    shop.write_plain("shop", SHOP_COLUMNS, SHOPS)
    shop.refresh("orders_kept", makes.built(one))
    answers, n_kept = shop.answers(), 0
    for _ in range(N_QUERIES):
        sql = makes.query(one)
        found = answers.rewrite(Statement(sql, HUDI_CATALOG, shop.db))
        assert found is not None
        if found.sql == sql:
            continue
        n_kept += 1
        plain, kept = shop.trino.run(sql), shop.trino.run(found.sql)
        assert kept.columns == plain.columns
        assert counted(kept) == counted(plain), (sql, found.sql)
    assert n_kept > N_QUERIES // 5


def test_commits_are_not_left_out_but_within_the_lag(
    spark: SparkSession, embedded_stack: Stack, trino_server: Trino
) -> None:
    shop = make(spark, embedded_stack, trino_server, "hudi_commits")
    shop.refresh("orders_buyers", BUYERS_SQL, seconds_ago=100)
    before = shop.trino.run(N)
    with shop.proxied() as current, shop.proxied(3_600) as late, shop.proxied(50) as later:
        current.assert_kept(N)
        shop.write(some_orders(Random(6), range(50, 75)))
        shop.orders.write_frame(shop.orders_of(range(5)), "delete", **shop.settings("orders"))
        assert shop.trino.run(N).rows[0][0] == 70
        current.assert_left(N, "hudi_commits.orders was written to since it was computed")
        later.assert_left(N, "and 50 s is allowed")
        answer, text = late.text(N)
        assert "orders_buyers" in text
        assert answer.rows == before.rows, "what was there when it was refreshed"
        done = shop.refresh("orders_buyers", BUYERS_SQL)
        assert done.way == "incremental"
        for one in (current, late, later):
            one.assert_kept(N)
        shop.refresh("orders_buyers", BUYERS_SQL.replace("GROUP", "WHERE id > 9 GROUP"))
        current.assert_left(N, "it holds only rows with")


def test_rows_in_log_files_are_not_answered_before_trino_reads_them(
    spark: SparkSession, embedded_stack: Stack, trino_server: Trino
) -> None:
    shop = make(spark, embedded_stack, trino_server, "hudi_logs", kind="MERGE_ON_READ")
    sql = "SELECT dt, note, count(DISTINCT buyer) AS b FROM orders GROUP BY dt, note"
    shop.refresh("orders_buyers", BUYERS_SQL)
    with shop.proxied() as current, shop.proxied(3_600) as late:
        current.assert_kept(sql)
        before = counted(shop.trino.run(sql))
        shop.change_buyers()
        shop.refresh("orders_buyers", BUYERS_SQL)
        assert counted(shop.trino.run(sql)) == before, "Trino does not see the update"
        other = sql.replace("orders", "orders_rt")
        assert counted(shop.trino.run(other)) == before, "under neither name"
        for one in (current, late):
            one.assert_left(sql, OUT_OF_LOGS)
        shop.orders.compact_all()
        assert counted(shop.trino.run(sql)) != before
        current.assert_kept(sql)


def test_tables_that_trino_cannot_open_are_left_to_it(
    spark: SparkSession, embedded_stack: Stack, trino_server: Trino
) -> None:
    shop = make(spark, embedded_stack, trino_server, "hudi_new", version=9)
    shop.refresh("orders_buyers", BUYERS_SQL)
    for table in ("orders", "orders_buyers"):
        with pytest.raises(QueryFailedError, match="Could not load archived commit timeline"):
            shop.trino.run(f"SELECT count(*) AS n FROM {table}")
    with shop.proxied() as proxied:
        by, why = proxied.said(N)
        assert not by
        assert "has the table version 9, and the catalog hudi reads Hudi tables up to" in why


def test_a_query_that_trino_can_run_is_not_sent_to_a_table_that_it_cannot_open(
    spark: SparkSession, embedded_stack: Stack, trino_server: Trino
) -> None:
    shop = make(spark, embedded_stack, trino_server, "hudi_mixed")
    shop.config = replace(shop.config, materialization_table_version=0)
    shop.refresh("orders_buyers", BUYERS_SQL)
    with shop.proxied() as proxied:
        proxied.assert_left(N, "hudi_mixed.orders_buyers has the table version 9")
