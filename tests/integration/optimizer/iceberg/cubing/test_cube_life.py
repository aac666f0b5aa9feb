"""A star of tables lives at random beside a cube that jobs build: answers stay the tables' own.

`make cube-walk` walks farther, another way each time; `CUBE_WALK_SEED` repeats one.
"""

import os
import random
import re
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.support.cube_star import BOUNDS, MEASURES, SOLD, USED, Questions, Star
from tests.support.file_lake import FileLake
from tests.support.iceberg_lake import WrittenTable

STEPS = int(os.environ.get("CUBE_WALK_STEPS", "3"))
SECONDS = float(os.environ.get("CUBE_WALK_SECONDS", "inf"))
SEED = int(os.environ.get("CUBE_WALK_SEED", "19"))
OUTGROWN = {"cube.column_type", "cube.column_gone"}
"""A definition that the columns of today refuse; the next build defines anew."""
QUERIES = int(os.environ.get("CUBE_WALK_QUERIES", "2"))
MERGES = ("delete", "update", "merge")
POINTS = ("cube_append:before", "cube_append:after", "cube_property:before", "cube_property:after")
BRANCH = "side"


class LakeStar(Star):
    """The star in a lake that jobs work at."""

    def __init__(self, lake: FileLake) -> None:
        self.spark, self.root = lake.spark, lake.root


class Walk:
    """The tables, their cube, and what may happen to them."""

    def __init__(self, lake: FileLake, seed: int) -> None:
        self.lake, self.star = lake, LakeStar(lake).fill()
        self.chance, self.questions = random.Random(seed), Questions(seed)
        self.fact = WrittenTable(lake, "sales")
        self.qty, self.next_id, self.version = "qty", 3000, 0
        self.has_branch = self.is_split = False
        self.is_wide = False
        """The product of price and quantity has more digits then than a cube sums up."""
        self.n_used = self.n_asked = self.n_killed = 0
        modes = ", ".join(f"'write.{one}.mode' = 'merge-on-read'" for one in MERGES)
        self.fact.say(
            f"ALTER TABLE {{t}} SET TBLPROPERTIES ('write.spark.fanout.enabled' = 'true', {modes})"
        )
        self.define()

    def define(self) -> None:
        """Define the cube anew, by the names and types of now."""
        self.version += 1
        measures = {
            name: (self._named(text), functions)
            for name, (text, functions) in MEASURES.items()
            if not (self.is_wide and name == "value")
        }
        used = [self._named(one) for one in USED]
        cube = self.star.cube(
            "sold", version=self.version, measures=measures, used=used, bounds=BOUNDS
        )
        self.definition = cube.definition
        if self.chance.random() < 0.5:
            self.definition["star_tree"]["budget"] = self.chance.choice([1.05, 1.2, 2.0])

    def _named(self, text: str) -> str:
        return re.sub(r"\bqty\b", self.qty, text)

    # -- what happens to the fact table

    def append(self) -> None:
        n = self.chance.randint(20, 200)
        self.star.append(self.next_id, self.next_id + n, qty=self.qty)
        self.next_id += n

    def delete(self) -> None:
        rest = self.chance.randrange(97)
        self.fact.say(f"DELETE FROM {{t}} WHERE id % 97 = {rest}")

    def delete_files(self) -> None:
        start = self.chance.randrange(self.next_id)
        self.fact.say(f"DELETE FROM {{t}} WHERE id BETWEEN {start} AND {start + 320}")

    def update(self) -> None:
        shop = self.chance.randrange(6)
        self.fact.say(f"UPDATE {{t}} SET {self.qty} = 7, shop = {shop} WHERE id % 101 = {shop}")

    def merge(self) -> None:
        start, row = self.next_id - 30, self._row(id="k", shop="1", item="3", channel="'web'")
        self.fact.say(
            f"MERGE INTO {{t}} t USING (SELECT id + {start} AS k FROM range(40)) s "
            f"ON t.id = s.k WHEN MATCHED AND t.id % 3 = 0 THEN DELETE "
            f"WHEN MATCHED THEN UPDATE SET {self.qty} = 9 "
            f"WHEN NOT MATCHED THEN INSERT ({', '.join(self._columns())}) "
            f"VALUES {row}"
        )
        self.next_id += 10

    def _columns(self) -> list[str]:
        return list(self.lake.spark.table(self.fact.sql).columns)

    def _row(self, **values: str) -> str:
        """Return a row for all columns of today; Spark leaves none out of an INSERT."""
        known = {self.qty if name == "qty" else name: value for name, value in values.items()}
        return f"({', '.join(known.get(name, 'NULL') for name in self._columns())})"

    def compact(self) -> None:
        """By a job of ours, which brings the cube along."""
        order = self.lake.task(self.fact, cubes=[self.definition])
        (result,) = self.lake.optimize(order)
        assert result["outcome"] in {"DONE", "NOTHING", "PARTIAL"}, result

    def compact_by_others(self) -> None:
        jvm: Any = self.lake.spark._jvm
        actions = jvm.org.apache.iceberg.spark.actions.SparkActions.get()
        rewrite = actions.rewriteDataFiles(self.fact.opened.java)
        rewrite.option("rewrite-all", "true").execute()

    def rename(self) -> None:
        name = "pieces" if self.qty == "qty" else "qty"
        self.fact.say(f"ALTER TABLE {{t}} RENAME COLUMN {self.qty} TO {name}")
        self.qty = name

    def add_column(self) -> None:
        self.fact.say(f"ALTER TABLE {{t}} ADD COLUMN more_{self.next_id} INT")
        self.next_id += 1

    def widen(self) -> None:
        self.fact.say(f"ALTER TABLE {{t}} ALTER COLUMN {self.qty} TYPE BIGINT")
        self.is_wide = True

    def split(self) -> None:
        if not self.is_split:
            self.fact.add_field("channel")
            self.is_split = True

    def branch(self) -> None:
        if not self.has_branch:
            self.fact.add_branch(BRANCH)
            self.has_branch = True
        self.fact.say(
            f"INSERT INTO {{t}}.branch_{BRANCH} VALUES "
            + self._row(id=str(self.next_id), shop="2", item="5", channel="'web'", qty="11")
            + ", "
            + self._row(id=str(self.next_id + 1), shop="3", item="4", qty="12")
        )
        self.next_id += 2

    def expire(self) -> None:
        table = self._any_table()
        expiry = table.java.expireSnapshots()
        expiry.expireOlderThan(int((time.time() + 60) * 1000)).retainLast(2).commit()

    def roll_back(self) -> None:
        table = self._any_table(with_cube=False)
        known = {
            row.snapshot_id for row in self.lake.spark.table(f"{table.sql}.snapshots").collect()
        }
        history = self.lake.spark.table(f"{table.sql}.history").where("is_current_ancestor")
        found = [one.snapshot_id for one in history.collect() if one.snapshot_id in known]
        table.java.manageSnapshots().rollbackTo(self.chance.choice(found[-6:])).commit()

    def _any_table(self, *, with_cube: bool = True) -> Any:
        names = ["sales", "sales", "product", "store", "category"]
        if with_cube:
            names.append("sales__cube_sold")
        return WrittenTable(self.lake, self.chance.choice(names)).opened

    # -- what happens to the joined tables

    def change_dimension(self) -> None:
        item = self.chance.randrange(20)
        brand = self.chance.choice(["'b1'", "'b7'", "NULL"])
        self.star.sql(f"UPDATE lake.shop.product SET p_brand = {brand} WHERE p_id = {item}")

    def change_chain(self) -> None:
        n = self.chance.randrange(4)
        self.star.sql(f"UPDATE lake.shop.category SET c_group = 'g{n}' WHERE c_id = {n}")

    def move_dimension(self) -> None:
        item, category = self.chance.randrange(20), self.chance.randrange(4)
        self.star.sql(f"UPDATE lake.shop.product SET p_cat = {category} WHERE p_id = {item}")

    def add_keys(self) -> None:
        self.star.sql(f"INSERT INTO lake.shop.store VALUES ({self.next_id}, 'new')")
        self.next_id += 1

    def remove_key(self) -> None:
        shop = self.chance.randrange(6)
        self.star.sql(f"DELETE FROM lake.shop.store WHERE s_id = {shop}")

    def bring_keys_back(self) -> None:
        there = {row.s_id for row in self.star.sql("SELECT s_id FROM lake.shop.store").collect()}
        values = [f"({n}, 'c{n % 2}')" for n in range(6) if n not in there]
        if values:
            self.star.sql(f"INSERT INTO lake.shop.store VALUES {', '.join(values)}")

    # -- builds

    def build(self) -> None:
        result = self._built()
        if result["code"] in OUTGROWN:
            self.define()
            result = self._built()
        assert not result["code"], result
        (cube,) = result["cubes"]
        if not cube["n_refused"]:
            assert cube["n_covered"] == cube["n_files"], cube

    def _built(self) -> dict[str, Any]:
        (result,) = self.lake.optimize(self._order())
        return result

    def _order(self) -> dict[str, Any]:
        return self.lake.task(self.fact, kind="CUBE", cubes=[self.definition])

    def die(self) -> None:
        """Let a build be killed where it publishes; the next one goes on."""
        self.append()
        point = self.chance.choice(POINTS)
        self.n_killed += self.lake.kill(self._order(), point, may_lose=OUTGROWN)

    # -- asking

    def check(self) -> None:
        """Ask the same through both catalogs, of main, of the branch, and of earlier snapshots."""
        for _ in range(QUERIES):
            at = self._at()
            asked = self._named(self.questions.ask()).replace(f"lake.{SOLD}", f"lake.{SOLD}{at}")
            try:
                right = self._rows(asked)
            except AnalysisException:
                continue  # the column has another name in that snapshot
            through = asked.replace("lake.shop.", "indexed.shop.")
            frame = self.lake.spark.sql(through)
            self.n_used += "[Cube " in frame._jdf.queryExecution().toString()
            self.n_asked += 1
            assert self._rows(through) == right, through

    def _at(self) -> str:
        where = self.chance.random()
        if self.has_branch and where < 0.15:
            return f" VERSION AS OF '{BRANCH}'"
        if where > 0.8:
            found = self.lake.spark.table(f"{self.fact.sql}.snapshots").collect()
            return f" VERSION AS OF {self.chance.choice(found).snapshot_id}"
        return ""

    def _rows(self, query: str) -> list[str]:
        rows = [tuple(row) for row in self.lake.spark.sql(query).collect()]
        if "stddev" in query:  # the last digits are those of the order of the rows
            rows = [tuple(f"{x:.9g}" if isinstance(x, float) else x for x in row) for row in rows]
        return sorted(map(repr, rows))


def test_whatever_happens_to_a_star_of_tables_answers_are_theirs(
    spark: SparkSession, tmp_path: Path
) -> None:
    with closing(FileLake.at(spark, tmp_path)) as lake:
        live(Walk(lake, SEED))


def live(walk: Walk) -> None:
    """Let everything happen once, in any order, before chance decides; ask after each."""
    happenings = {
        walk.append: 4, walk.delete: 3, walk.delete_files: 1, walk.update: 2, walk.merge: 2,
        walk.compact: 2, walk.compact_by_others: 2, walk.rename: 1, walk.add_column: 1,
        walk.widen: 1, walk.split: 1, walk.branch: 1, walk.expire: 2, walk.roll_back: 2,
        walk.change_dimension: 3, walk.change_chain: 1, walk.move_dimension: 1, walk.add_keys: 1,
        walk.remove_key: 1, walk.bring_keys_back: 2, walk.die: 2,
    }  # fmt: skip
    walk.build()
    order = walk.chance.sample(list(happenings), len(happenings))
    more = walk.chance.choices(
        list(happenings), list(happenings.values()), k=max(STEPS - len(order), 0)
    )
    done: list[str] = []
    until = time.monotonic() + SECONDS
    for step in order[:STEPS] + more:
        if time.monotonic() > until:
            break
        done.append(step.__name__)
        try:
            step()
            walk.check()
            if walk.chance.random() < 0.6:
                done.append("build")
                walk.build()
                walk.check()
        except BaseException as error:
            error.add_note(f"seed {SEED}, after {', '.join(done)}")
            raise
    if walk.n_asked >= 50:  # of a few, chance may have picked none that the cube can answer
        assert walk.n_used > walk.n_asked / 10, (walk.n_used, walk.n_asked)
