"""A small snowflake of Iceberg tables with a cube, and random questions of it."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit

from tests.support.cube_tables import Joined, SqlCube

FILES = 10
_ROWS = 3000
SOLD = "shop.sales"
USED = [
    "fact.id",
    "fact.shop",
    "fact.item",
    "fact.day",
    "fact.qty",
    "fact.price",
    "fact.cost",
    "fact.channel",
    "fact.weight",
    "product.p_id",
    "product.p_brand",
    "product.p_cat",
    "category.c_id",
    "category.c_group",
    "store.s_id",
    "store.s_city",
]
JOINS = (
    Joined("product", "shop.product", (("fact.item", "p_id"),)),
    Joined("category", "shop.category", (("product.p_cat", "c_id"),)),
    Joined("store", "shop.store", (("fact.shop", "s_id"),)),
)
DIMENSIONS = {
    "brand": "product.p_brand",
    "grp": "category.c_group",
    "city": "store.s_city",
    "month": "trunc(fact.day, 'MM')",
    "channel": "fact.channel",
    "shop": "fact.shop",
}
MEASURES = {
    "qty": ("fact.qty", ["sum", "count", "min", "max"]),
    "price": ("fact.price", ["sum", "count", "min", "max"]),
    "value": ("fact.price * fact.qty", ["sum"]),
    "cost": ("fact.cost", ["sum", "count", "distinct"]),
    "id": ("fact.id", ["sketch", "max"]),
    "weight": ("fact.weight", ["min", "max", "count"]),
}
BOUNDS = {
    "qty": {"max_abs": 100, "negative_zero": False},
    "price": {"max_abs": "1000.00", "negative_zero": False},
    "cost": {"max_abs": 50, "negative_zero": False},
    "weight": {"max_abs": 9.0, "negative_zero": False},
}


class Star:
    """The tables, through a plain and an indexed catalog over one folder."""

    def __init__(self, spark: SparkSession, root: Path, **settings: str) -> None:
        """`settings` are of the indexed catalog, `lakewarden.<key>` with dashes."""
        self.spark = spark.newSession()
        self.root = root
        classes = {
            "plain": "org.apache.iceberg.spark.SparkCatalog",
            "lake": "lakewarden.indexes.IndexedSparkCatalog",
        }
        for name, implementation in classes.items():
            self.spark.conf.set(f"spark.sql.catalog.{name}", implementation)
            self.spark.conf.set(f"spark.sql.catalog.{name}.type", "hadoop")
            self.spark.conf.set(f"spark.sql.catalog.{name}.warehouse", f"file:{root}")
            self.spark.conf.set(f"spark.sql.catalog.{name}.cache-enabled", "false")
            for key, value in settings.items() if name == "lake" else ():
                setting = f"spark.sql.catalog.lake.lakewarden.{key.replace('_', '-')}"
                self.spark.conf.set(setting, value)
            self.sql(f"SHOW NAMESPACES IN {name}").collect()

    def sql(self, statement: str) -> DataFrame:
        return self.spark.sql(statement)

    def fill(self) -> "Star":
        self.sql(
            f"CREATE TABLE plain.{SOLD} (id BIGINT, shop INT, item INT, day DATE, qty INT, "
            "price DECIMAL(8,2), cost BIGINT, channel STRING, weight DOUBLE, note STRING) "
            "USING iceberg TBLPROPERTIES ('write.distribution-mode' = 'none')"
        )
        self.append(0, _ROWS, FILES)
        self.spark.range(0, 20, 1, 1).selectExpr(
            "CAST(id AS INT) AS p_id",
            "CASE WHEN id % 7 = 0 THEN NULL ELSE concat('b', id % 5) END AS p_brand",
            "id % 4 AS p_cat",
        ).writeTo("plain.shop.product").using("iceberg").create()
        self.spark.range(0, 4, 1, 1).selectExpr(
            "id AS c_id", "concat('g', id % 2) AS c_group"
        ).writeTo("plain.shop.category").using("iceberg").create()
        self.spark.range(0, 6, 1, 1).selectExpr(
            "CAST(id AS INT) AS s_id", "concat('c', id % 3) AS s_city"
        ).writeTo("plain.shop.store").using("iceberg").create()
        return self

    def append(self, start: int, end: int, files: int = 1, qty: str = "qty") -> None:
        frame = self.spark.range(start, end, 1, files).selectExpr(
            "id",
            "CAST(id % 6 AS INT) AS shop",
            "CAST((id * 7) % 20 AS INT) AS item",
            "date_add(DATE '2026-01-01', CAST(id % 90 AS INT)) AS day",
            f"CASE WHEN id % 13 = 0 THEN NULL ELSE CAST((id * 31) % 100 AS INT) END AS {qty}",
            "CASE WHEN id % 17 = 0 THEN NULL "
            "ELSE CAST(((id * 7919) % 100000) / 100 AS DECIMAL(8,2)) END AS price",
            "CASE WHEN id % 5 = 0 THEN NULL ELSE id % 50 END AS cost",
            "CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN 'web' ELSE 'shop' END AS channel",
            "CAST((id % 9) AS DOUBLE) + 0.5 AS weight",
            "concat('n', id) AS note",
        )
        for added in self.spark.table(f"plain.{SOLD}").schema:
            if added.name not in frame.columns:  # Spark leaves no column out of a write
                frame = frame.withColumn(added.name, lit(None).cast(added.dataType))
        frame.writeTo(f"plain.{SOLD}").append()

    def cube(self, name: str = "star", **changed: Any) -> SqlCube:
        given: dict[str, Any] = {
            "dimensions": DIMENSIONS,
            "measures": MEASURES,
            "joins": JOINS,
            "stars": ("brand", "city", "shop"),
            "bounds": BOUNDS,
        }
        used = changed.pop("used", USED)
        cube = SqlCube(self.spark, self.root, SOLD, name, **{**given, **changed})
        return cube.define(used)

    def live(self) -> list[str]:
        found = self.sql(f"SELECT file_path FROM plain.{SOLD}.data_files").collect()
        return sorted(row.file_path for row in found)

    # -- asking

    def rows(self, query: str, *, cubes: bool) -> list[str]:
        self.spark.conf.set("spark.lakewarden.cubes.enabled", str(cubes).lower())
        try:
            return sorted(repr(tuple(row)) for row in self.sql(query).collect())
        finally:
            self.spark.conf.set("spark.lakewarden.cubes.enabled", "true")

    def why(self, query: str) -> list[str]:
        jvm: Any = self.spark._jvm
        return list(jvm.lakewarden.cubes.Answers.why(self.sql(query)._jdf))

    def same(self, query: str) -> bool:
        """Check that cubes change no row of a query; say whether one was used."""
        frame = self.sql(query)
        used = "[Cube " in frame._jdf.queryExecution().toString()
        found = sorted(repr(tuple(row)) for row in frame.collect())
        assert found == self.rows(query, cubes=False), query
        return used


class Questions:
    """Random aggregate queries, most of which the cube of a `Star` can answer."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def _some(self, of: Sequence[str], least: int, most: int) -> list[str]:
        return self.random.sample(list(of), self.random.randint(least, min(most, len(of))))

    def ask(self) -> str:
        joined = self._joins()
        groups = self._groups(joined)
        keys = self._some(groups, 0, 3)
        conditions = self._some(self._conditions(joined), 0, 3)
        aggregates = self._some(self._aggregates(joined), 1, 4)
        columns = [*keys, *(f"{one} AS a{i}" for i, one in enumerate(aggregates))]
        query = f"SELECT {', '.join(columns)} {self._from(joined)}"
        if conditions:
            query += f" WHERE {' AND '.join(conditions)}"
        if keys:
            query += f" GROUP BY {', '.join(keys)}"
            if self.random.random() < 0.3:
                query += " HAVING count(*) > 20"
        return self._wrapped(query, len(keys))

    def _joins(self) -> list[str]:
        joined = self._some(["product", "store"], 0, 2)
        if "product" in joined and self.random.random() < 0.5:
            joined.append("category")
        return joined

    def _from(self, joined: list[str]) -> str:
        on = {
            "product": "s.item = p.p_id",
            "store": "t.s_id = s.shop",
            "category": "p.p_cat = c.c_id",
        }
        named = {"product": "p", "store": "t", "category": "c"}
        if self.random.random() < 0.5:
            kind = self.random.choice(["JOIN", "JOIN", "LEFT JOIN"])
            tables = [f"{kind} lake.shop.{one} {named[one]} ON {on[one]}" for one in joined]
            return " ".join([f"FROM lake.{SOLD} s", *tables])
        tables = [f"lake.{SOLD} s", *(f"lake.shop.{one} {named[one]}" for one in joined)]
        self.random.shuffle(tables)
        conditions = " AND ".join(on[one] for one in joined) or "true"
        inner = f"SELECT * FROM {', '.join(tables)} WHERE {conditions}"
        return f"FROM ({inner})"

    def _groups(self, joined: list[str]) -> list[str]:
        own = ["channel", "shop", "trunc(day, 'MM')", "month(trunc(day, 'MM'))", "shop % 2"]
        more = {
            "product": ["p_brand", "coalesce(p_brand, 'none')", "upper(p_brand)"],
            "store": ["s_city", "concat(s_city, channel)", "s_id"],
            "category": ["c_group"],
        }
        return own + [one for name in joined for one in more[name]]

    def _conditions(self, joined: list[str]) -> list[str]:
        own = [
            "channel = 'web'",
            "channel IS NULL",
            "shop IN (1, 2, 5)",
            "shop > 1",
            "trunc(day, 'MM') = DATE '2026-02-01'",
            "trunc(day, 'MM') >= DATE '2026-02-01' OR shop = 1",
            "NOT (channel <=> 'shop')",
            "shop = 77",
            "day > DATE '2026-01-20'",
        ]
        more = {
            "product": ["p_brand = 'b1'", "p_brand LIKE 'b%'", "p_brand IN ('b1', 'b3')"],
            "store": ["s_city <> 'c1'", "s_id < 4", "s_city = channel"],
            "category": ["c_group = 'g1'"],
        }
        return own + [one for name in joined for one in more[name]]

    def _aggregates(self, joined: list[str]) -> list[str]:
        own = [
            "count(*)",
            "count(qty)",
            "count(channel)",
            "sum(qty)",
            "sum(price)",
            "sum(price * qty)",
            "sum(cost)",
            "avg(qty)",
            "avg(price)",
            "avg(cost)",
            "min(qty)",
            "max(price)",
            "max(id)",
            "min(shop)",
            "max(channel)",
            "min(weight)",
            "count(DISTINCT cost)",
            "count(DISTINCT channel)",
            "count(DISTINCT shop, channel)",
            "sum(qty) / count(*) + 1",
            "sum(qty) FILTER (WHERE channel = 'web')",
            "count(*) FILTER (WHERE shop > 2)",
            "avg(price) FILTER (WHERE channel IS NULL)",
            "count(DISTINCT cost) FILTER (WHERE shop = 1)",
            "max(price) - min(price)",
            "sum(weight)",
            "stddev(cost)",
            "sum(CASE WHEN shop = 1 THEN qty END)",
        ]
        if "product" in joined:
            own += ["count(DISTINCT p_brand)", "max(p_brand)"]
        return own

    def _wrapped(self, query: str, keys: int) -> str:
        kind = self.random.randint(0, 3)
        if kind == 1:
            return f"WITH q AS ({query}) SELECT * FROM q WHERE a0 IS NOT NULL"
        if kind == 2:
            return f"SELECT count(*), count(a0) FROM ({query})"
        if kind == 3 and keys:
            return f"{query} ORDER BY {', '.join(map(str, range(1, keys + 2)))}"
        return query
