"""Writers of every kind, and our rewrites in the middle of them.

Each snapshot holds what its writer meant.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from optimizer.iceberg.access.jobs.write_ids import write_ids_of
from optimizer.iceberg.execution.jobs import optimize
from tests.support.iceberg_lake import DAYS, IcebergLake
from tests.support.iceberg_model import Model, Values
from tests.support.iceberg_staged import swept

pytestmark = pytest.mark.spark
N_STEPS = 14
BRANCH = "trial"
KINDS = (
    {"kind": "MINOR"},
    {"kind": "MAJOR", "max_commits": 2},
    {"kind": "FULL", "max_group_bytes": 1 << 11, "max_commits": 3},
    {"kind": "FULL", "layout": "sort(word)"},
    {"kind": "DELETES"},
)


@dataclass
class Walk:
    """A table, its model, and a chance that decides what happens next."""

    lake: IcebergLake
    model: Model
    chance: random.Random
    n_ids: int = 0
    n_columns: int = 0
    is_bucketed: bool = False
    committed: set[str] = field(default_factory=set)

    def fresh(self, n: int) -> list[Values]:
        found = []
        for _ in range(n):
            self.n_ids += 1
            row: Values = dict.fromkeys(self.model.columns, self.n_ids)
            word = self.chance.choice(["a", "ü'b", "", None])
            row |= {"id": self.n_ids, "dt": self.chance.choice(DAYS), "word": word}
            found.append(row)
        return found

    def append(self) -> None:
        rows = self.fresh(self.chance.randint(1, 5))
        self._frame(rows).writeTo(self.model.table.sql).append()
        self.model.put(rows)
        self.model.committed()

    def overwrite(self) -> None:
        day = self.chance.choice(DAYS)
        rows = [{**row, "dt": day} for row in self.fresh(2)]
        self._frame(rows).writeTo(self.model.table.sql).overwrite(F.col("dt") == day)
        self.model.remove(lambda row: row["dt"] == day)
        self.model.put(rows)
        self.model.committed()

    def merge(self) -> None:
        (fresh,) = self.fresh(1)
        known = self.chance.sample(sorted(self.model.rows), min(2, len(self.model.rows)))
        ids = ", ".join(map(str, [*known, fresh["id"]]))
        self.model.table.say(
            "MERGE INTO {t} t USING (SELECT explode(array({ids})) AS id) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET word = '{word}' WHEN NOT MATCHED THEN "
            "INSERT (id, dt, word) VALUES (s.id, '{dt}', 'new')",
            ids=ids,
            word=f"m{fresh['id']}",
            dt=fresh["dt"],
        )
        new = {"id": fresh["id"], "dt": fresh["dt"], "word": "new"}
        self.model.put([new, *({"id": key, "word": f"m{fresh['id']}"} for key in known)])
        self.model.committed()

    def delete(self) -> None:
        rest = self.chance.randrange(4)
        if any(key % 4 == rest for key in self.model.rows):
            self.model.table.say("DELETE FROM {t} WHERE id % 4 = {rest}", rest=rest)
            self.model.remove(lambda row: row["id"] % 4 == rest)
            self.model.committed()

    def change_columns(self) -> None:
        if len(self.model.columns) > 4:
            gone = self.model.columns.pop()
            self.model.table.say(f"ALTER TABLE {{t}} DROP COLUMN {gone}")
        else:
            self.n_columns += 1
            name = f"c{self.n_columns}"
            self.model.table.say(f"ALTER TABLE {{t}} ADD COLUMN {name} INT")
            self.model.columns.append(name)

    def change_spec(self) -> None:
        opened = self.model.table.opened
        bucket = opened.jvm.org.apache.iceberg.expressions.Expressions.bucket("id", 2)
        change = opened.java.updateSpec()
        if self.is_bucketed:
            change.removeField(bucket)
        else:
            change.addField(bucket)
        change.commit()
        self.is_bucketed = not self.is_bucketed

    def branch(self) -> None:
        if self.model.branched is None:
            self.model.table.opened.java.manageSnapshots().createBranch(BRANCH).commit()
            self.model.branched = dict(self.model.rows)
        rows = self.fresh(2)
        self._frame(rows).writeTo(f"{self.model.table.sql}.branch_{BRANCH}").append()
        self.model.branched |= {row["id"]: row for row in rows}
        self.model.committed_to(BRANCH)

    def expire(self) -> None:
        """Somebody else's upkeep: all but the newest snapshots go, and their files."""
        now = int(datetime.now(UTC).timestamp() * 1000)
        java = self.model.table.opened.java
        java.expireSnapshots().retainLast(2).expireOlderThan(now).commit()

    def rewrite(self) -> None:
        """Rewrite the table; in one of two cases something happens in the middle."""
        task = self.lake.task(self.model.table, **self.chance.choice(KINDS))
        job = self.lake.interrupted(task)
        happen = self.chance.choice(OTHERS) if self.chance.random() < 0.6 else None
        if happen is not None:
            job.happen(self.chance.choice((2, 3, 4)), lambda: happen(self))
        (result,) = optimize.run(self.lake.spark, job)["results"]
        assert result["outcome"] != "FAILED", result
        self.committed |= {one for told in result["commits"] for one in told["write_ids"]}
        self.model.learn()

    def left_behind(self) -> set[str]:
        """Return our files that no commit took in; what others' upkeep leaves is not ours."""
        return {
            path
            for path in self.model.table.unknown_files()
            if "lakewarden/" in path and self.committed.isdisjoint(write_ids_of(path))
        }

    def _frame(self, rows: list[Values]) -> DataFrame:
        names = self.model.columns
        types = {"id": "BIGINT", "dt": "STRING", "word": "STRING"}
        said = ", ".join(f"{name} {types.get(name, 'INT')}" for name in names)
        values = [tuple(row[name] for name in names) for row in rows]
        frame = self.lake.spark.createDataFrame(values, said)
        return frame.coalesce(1).sortWithinPartitions("dt")


OTHERS: tuple[Callable[[Walk], None], ...] = (
    Walk.append,
    Walk.append,
    Walk.overwrite,
    Walk.merge,
    Walk.delete,
    Walk.delete,
    Walk.change_columns,
    Walk.change_spec,
    Walk.branch,
    Walk.expire,
)


@pytest.mark.parametrize(
    ("version", "seed"),
    [pytest.param(2, seed, marks=pytest.mark.long) for seed in (1, 2)] + [(3, 3)],
)
def test_every_snapshot_holds_what_its_writer_meant_whatever_we_rewrite(
    iceberg_lake: IcebergLake, version: int, seed: int
) -> None:
    walk = Walk(iceberg_lake, Model(iceberg_lake.table(version=version)), random.Random(seed))
    walk.append()
    for _ in range(N_STEPS):
        step = walk.chance.choice([*OTHERS, *[Walk.rewrite] * 8])
        step(walk)
        walk.model.check()
    walk.rewrite()
    walk.model.check_snapshots()
    swept(walk.model.table)
    assert walk.left_behind() == set()
