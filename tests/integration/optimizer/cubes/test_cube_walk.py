"""Random changes to a star of tables: after each, queries are equal with cubes and without.

`LAKEWARDEN_CUBE_WALKS=20` runs so many walks instead of one.
"""

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.support.cube_star import SOLD, Questions, Star
from tests.support.cube_tables import SqlCube

STEPS, ASKED = 7, 3
WALKS = int(os.environ.get("LAKEWARDEN_CUBE_WALKS", "1"))


class Walk:
    """The tables, their cube, and what may happen to them."""

    def __init__(self, star: Star, seed: int) -> None:
        self.star = star
        self.random = random.Random(seed)
        self.questions = Questions(seed)
        self.next_id, self.next_unit = 3000, 1
        star.sql(
            f"ALTER TABLE plain.{SOLD} SET TBLPROPERTIES ("
            "'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')"
        )
        self.cube: SqlCube = star.cube()
        self.build()

    def step(self) -> str:
        steps: list[Callable[[], None]] = [
            self.append, self.append, self.delete, self.update, self.compact,
            self.change_dimension, self.add_dimension_rows, self.build, self.build,
            self.half_build, self.expire, self.drop_units, self.add_column,
        ]  # fmt: skip
        chosen = self.random.choice(steps)
        chosen()
        return chosen.__name__

    def append(self) -> None:
        n = self.random.randint(50, 400)
        self.star.append(self.next_id, self.next_id + n)
        self.next_id += n

    def delete(self) -> None:
        self.star.sql(
            f"DELETE FROM plain.{SOLD} WHERE id % 97 = {self.random.randint(0, 96)} AND shop < 3"
        )

    def update(self) -> None:
        self.star.sql(
            f"UPDATE plain.{SOLD} SET qty = 7 WHERE id BETWEEN 10 AND {self.random.randint(20, 90)}"
        )

    def compact(self) -> None:
        jvm: Any = self.star.spark._jvm
        actions = jvm.org.apache.iceberg.spark.actions.SparkActions
        rewrite = actions.get().rewriteDataFiles(self.cube.java(SOLD))
        rewrite.option("rewrite-all", "true").execute()

    def change_dimension(self) -> None:
        brand, item = self.random.choice(["b1", "b7"]), self.random.randint(0, 19)
        self.star.sql(f"UPDATE plain.shop.product SET p_brand = '{brand}' WHERE p_id = {item}")

    def add_dimension_rows(self) -> None:
        self.star.sql(f"INSERT INTO plain.shop.store VALUES ({self.next_id}, 'new')")

    def add_column(self) -> None:
        self.star.sql(f"ALTER TABLE plain.{SOLD} ADD COLUMN more_{self.next_unit} INT")
        self.next_unit += 1

    def expire(self) -> None:
        table = self.cube.java(SOLD)
        table.expireSnapshots().expireOlderThan(table.currentSnapshot().timestampMillis()).commit()

    def build(self) -> None:
        """Cover everything anew: other units of a dimension that moved would be wrong."""
        files = self.cube.files()
        self.cube.units, self.cube.coverage = {}, {}
        self._cover(list(files))

    def half_build(self) -> None:
        """Cover most files, and leave rows of units that no coverage names."""
        files = list(self.cube.files())
        self.cube.units, self.cube.coverage = {}, {}
        self._cover(files[: max(1, len(files) * 3 // 4)])
        left = files[max(1, len(files) * 3 // 4) :]
        if left:
            self.cube.build({self.next_unit: left})
            self.cube.units.pop(self.next_unit)
            self.next_unit += 1

    def drop_units(self) -> None:
        if len(self.cube.units) > 1:
            self.cube.units.pop(next(iter(self.cube.units)))
            self.cube.publish(exact=False)

    def _cover(self, files: list[str]) -> None:
        units = {}
        while files:
            size = self.random.randint(1, 3)
            units[self.next_unit], files = files[:size], files[size:]
            self.next_unit += 1
        self.cube.build(units).publish(exact=False)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(WALKS))
def test_queries_are_equal_whatever_happens(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    walk = Walk(Star(spark, tmp_path).fill(), seed)
    used = {}
    for n in range(STEPS):
        done = f"{n} {walk.step()}"
        used[done] = sum(walk.star.same(walk.questions.ask()) for _ in range(ASKED))
    assert sum(used.values()) > 0, used
