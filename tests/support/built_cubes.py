"""A small star schema on the Iceberg lake, and what its cubes say by the rules of docs/cubes.md."""

import random
from itertools import count
from pathlib import Path
from typing import Any

from optimizer.cubes.domain import coverage as coverages
from optimizer.cubes.domain.coverage import Coverage, Judgement
from optimizer.cubes.domain.definition import COVERAGE_PROPERTY, Definition, parse
from optimizer.cubes.domain.masks import spark_predicate
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table
from optimizer.iceberg.cubing.jobs.table_files import table_files
from tests.support.iceberg_lake import IcebergLake, WrittenTable

_names = count(1)
_AGGREGATES = {
    "n": ("sum(rows)", "count(*)"),
    "q": ("sum(qty_sum)", "sum(fact.qty)"),
    "c": ("sum(qty_count)", "count(fact.qty)"),
    "lo": ("min(price_min)", "min(fact.price)"),
    "hi": ("max(price_max)", "max(fact.price)"),
    "p": ("CAST(sum(price_sum) AS DECIMAL(20, 2))", "sum(fact.price)"),
    "m": (
        "size(array_distinct(flatten(collect_list(mode_distinct))))",
        "count(DISTINCT fact.mode)",
    ),
}


class CubedTable(WrittenTable):
    """A fact table with stores and their regions."""

    @classmethod
    def make(cls, lake: IcebergLake, *, version: int = 2) -> "CubedTable":
        table = cls(lake, f"sales{next(_names)}")
        merge = ", ".join(
            f"'write.{one}.mode' = 'merge-on-read'" for one in ("delete", "merge", "update")
        )
        said = f"TBLPROPERTIES ('format-version' = '{version}', {merge})"
        columns = "id BIGINT, dt STRING, store INT, qty INT, price DECIMAL(10, 2), mode STRING"
        table.say(f"CREATE TABLE {{t}} ({columns}) USING iceberg PARTITIONED BY (dt) {said}")
        table.say(
            f"CREATE TABLE {{t}}_stores (s INT, city STRING, region INT) USING iceberg {said}"
        )
        table.say(f"CREATE TABLE {{t}}_regions (r INT, title STRING) USING iceberg {said}")
        table.say("INSERT INTO {t}_regions VALUES (1, 'north'), (2, 'south'), (3, NULL)")
        table.say(
            "INSERT INTO {t}_stores SELECT CAST(id AS INT), if(id % 7 = 0, NULL, "
            "concat('city', id % 9)), CAST(id % 3 + 1 AS INT) FROM range(20)"
        )
        return table

    def fill(self, n: int, *, rows: int = 300, start: int = 0) -> "CubedTable":
        """Append n times some rows of two days."""
        for k in range(n):
            frame = self.lake.spark.range(
                start + k * rows, start + (k + 1) * rows, numPartitions=1
            ).selectExpr(
                "id",
                "concat('2026-05-0', id % 2 + 1) AS dt",
                "CAST(id * 7 % 20 AS INT) AS store",
                "CAST(if(id % 11 = 0, NULL, id * 13 % 50 - 20) AS INT) AS qty",
                "CAST(if(id % 13 = 0, NULL, id * 17 % 1000 / 10) AS DECIMAL(10, 2)) AS price",
                "if(id % 5 = 0, NULL, concat('mode', id % 4)) AS mode",
            )
            frame.sortWithinPartitions("dt").writeTo(self.sql).append()
        return self

    def definition(self, name: str = "by_city", **changed: Any) -> dict[str, Any]:
        db = self.lake.db
        return {
            "name": name,
            "table": {"name": f"{db}.{self.name}", "uuid": self.opened.uuid},
            "joins": [
                {"alias": "st", "table": f"{db}.{self.name}_stores", "on": [["fact.store", "s"]]},
                {"alias": "re", "table": f"{db}.{self.name}_regions", "on": [["st.region", "r"]]},
            ],
            "dimensions": [
                {"name": "city", "expression": "st.city", "type": "string"},
                {"name": "region", "expression": "re.title", "type": "string"},
                {"name": "day", "expression": "cast(fact.dt as date)", "type": "date"},
                {"name": "mode", "expression": "fact.mode", "type": "string"},
            ],
            "measures": [
                {
                    "name": "qty",
                    "expression": "fact.qty",
                    "type": "int",
                    "functions": ["sum", "count"],
                },
                {
                    "name": "price",
                    "expression": "fact.price",
                    "type": "decimal(10,2)",
                    "functions": ["sum", "min", "max"],
                },
                {
                    "name": "mode",
                    "expression": "fact.mode",
                    "type": "string",
                    "functions": ["distinct", "sketch"],
                },
            ],
            "star_tree": {"max_leaf": 5, "dimensions": ["city", "region", "mode"], "skip_star": []},
            **changed,
        }

    def keep(self, *definitions: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Let the job bring cubes up to date, and return its result."""
        cubes = list(definitions) or [self.definition()]
        (result,) = self.lake.optimize(
            self.lake.task(self, **{"kind": "CUBE", "cubes": cubes, **more})
        )
        return result

    def cube(self, name: str = "by_city") -> IcebergTable:
        return open_table(self.lake.spark, self.lake.db, f"{self.name}__cube_{name}")

    def coverage(self, name: str = "by_city") -> Coverage:
        at = self.cube(name).properties[COVERAGE_PROPERTY]
        return coverages.parse(
            Path(at.removeprefix("file:")).read_bytes(), table_uuid=self.opened.uuid
        )

    def check(self, name: str = "by_city", *, seed: int = 0, queries: int = 6) -> Judgement:
        """Compare answers from the cube with the covered files' own; return what is covered."""
        cube, coverage = self.cube(name), self.coverage(name)
        definition = parse(cube.properties["lakewarden.cube.definition"])
        assert definition.is_resolved()
        live = [one.covered for one in table_files(self.opened)]
        judged = coverages.judge(coverage, snapshot_id=self.opened.snapshot_id, live=live)
        if coverage.snapshot_id == self.opened.snapshot_id:
            own = coverages.judge(coverage, snapshot_id=coverage.snapshot_id)
            assert (own.units, own.uncovered_rows) == (judged.units, judged.uncovered_rows)
        spark = self.lake.spark
        rows = spark.read.option("snapshot-id", coverage.cube_snapshot_id).table(cube.sql)
        found = {int(row[0]) for row in rows.select("unit").distinct().collect()}
        if coverage.exact:
            assert found == {one.number for one in coverage.units if one.rows}
        rows.where(
            f"unit IN ({', '.join(map(str, judged.units)) or 'NULL'})"
        ).createOrReplaceTempView("c")
        files = [(one.location,) for one in live if one.location not in set(judged.uncovered or ())]
        spark.createDataFrame(files, "f string").createOrReplaceTempView("covered")
        # Joined once for all questions; each source is a struct of its alias.
        joined = spark.sql(
            "SELECT struct(fact.*) AS fact, struct(st.*) AS st, struct(re.*) AS re "
            "FROM {t} fact JOIN {t}_stores st ON fact.store = st.s JOIN {t}_regions re "
            "ON st.region = re.r JOIN covered ON fact._file = covered.f".replace("{t}", self.sql)
        ).cache()
        joined.createOrReplaceTempView("plain")
        rng = random.Random(seed)
        for _ in range(queries):
            self._same(definition, rng)
        joined.unpersist()
        return judged

    def _same(self, definition: Definition, rng: random.Random) -> None:
        of = {one.name: one.expression for one in definition.dimensions}
        groups = [name for name in of if rng.random() < 0.4]
        filters = [name for name in of if rng.random() < 0.3]
        values = {"city": "city3", "region": "north", "day": "2026-05-01", "mode": "mode1"}
        where = [f"{{{name}}} <=> '{values[name]}'" for name in filters]
        names = {name: f"`{name}`" for name in of}
        mask = spark_predicate(definition, {*groups, *filters})
        mine = self._answer("c", 0, groups, names, [mask, *where])
        right = self._answer("plain", 1, groups, of, where)
        assert mine == right, (groups, filters)

    def _answer(
        self, source: str, n: int, groups: list[str], of: dict[str, str], where: list[str]
    ) -> list[Any]:
        keys = [of[name] for name in groups]
        picked = [*keys, *(one[n] for one in _AGGREGATES.values())]
        conditions = " AND ".join(text.format(**of) for text in where) or "true"
        by = f"GROUP BY {', '.join(keys)}" if keys else ""
        text = f"SELECT {', '.join(picked)} FROM {source} WHERE {conditions} {by}"
        found = [tuple(row) for row in self.lake.spark.sql(text).collect()]
        if not keys and n == 0 and found and found[0][0] is None:
            found = [(0, None, 0, None, None, None, 0)]  # an empty cube has no row to count
        return sorted(found, key=repr)
