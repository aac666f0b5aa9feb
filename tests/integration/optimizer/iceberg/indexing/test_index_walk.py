"""A table lives at random beside its indexes; after each step the indexed catalog gives all rows.

`INDEX_WALK_STEPS=200 pytest ...` walks farther; `INDEX_WALK_SEED` another way.
"""

import os
import random
import time

import pytest

from optimizer.pruning.jobs.prune import INDEXED, use_indexes
from tests.support.iceberg_indexes import index
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable

STEPS = int(os.environ.get("INDEX_WALK_STEPS", "14"))
SEED = int(os.environ.get("INDEX_WALK_SEED", "18"))
QUERIES = 2
WORDS = ("gateway timeout", "Payment failed", "höher", "", "ok", "a%b")
BRANCH = "side"


class Death(BaseException):
    """The end of a build, as far as one process can have it."""


class Walk:
    """One table and what may happen to it."""

    def __init__(self, table: WrittenTable, seed: int) -> None:
        self.table = table
        self.chance = random.Random(seed)
        self.key, self.extra, self.next_id = "id", "STRING", 0
        self.has_branch = False
        self.table.say("ALTER TABLE {t} ADD COLUMNS (n INT, x STRING)")

    @property
    def wanted(self) -> list[str]:
        return [f"{self.key}:bloom", "word:ngram_bloom", "word:bitmap", "n:bloomrf", "x"]

    def append(self, *, branch: str = "") -> None:
        rows = ", ".join(
            f"({self.next_id + at}, '{self.chance.choice(DAYS)}', '{self.chance.choice(WORDS)} "
            f"{self.chance.randrange(50)}', {self.chance.randrange(-99, 99)}, "
            f"{'NULL' if at % 5 == 0 else self._extra()})"
            for at in range(self.chance.randrange(5, 40))
        )
        self.next_id += 40
        self.table.say(
            "INSERT INTO {t}{of} ({key}, dt, word, n, x) VALUES {rows}",
            of=f".branch_{branch}" if branch else "",
            key=self.key,
            rows=rows,
        )

    def _extra(self) -> str:
        number = self.chance.randrange(9)
        return str(number) if self.extra == "INT" else f"'x{number}'"

    def delete(self) -> None:
        self.table.say("DELETE FROM {t} WHERE {where}", where=self.condition())

    def update(self) -> None:
        self.table.say("UPDATE {t} SET word = 'changed' WHERE {where}", where=self.condition())

    def rename(self) -> None:
        name = "key" if self.key == "id" else "id"
        self.table.say(f"ALTER TABLE {{t}} RENAME COLUMN {self.key} TO {name}")
        self.key = name

    def widen(self) -> None:
        self.table.say("ALTER TABLE {t} ALTER COLUMN n TYPE BIGINT")

    def add_again(self) -> None:
        self.extra = "INT" if self.extra == "STRING" else "STRING"
        self.table.say("ALTER TABLE {t} DROP COLUMN x")
        self.table.say(f"ALTER TABLE {{t}} ADD COLUMN x {self.extra}")

    def build(self) -> None:
        assert index(self.table, *self.wanted)["outcome"] in {"DONE", "NOTHING"}

    def compact(self) -> None:
        lake = self.table.lake
        (result,) = lake.optimize(lake.task(self.table, index_columns=self.wanted))
        assert result["outcome"] in {"DONE", "NOTHING", "PARTIAL"}, result

    def die(self) -> None:
        """Let a build die where it has written some of what it publishes."""
        moment = self.chance.choice(("puffin:after", "manifest:before", "manifest:after"))

        def reach(_: object, at: str) -> None:
            if at == moment:
                raise Death

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("portal.safety.failpoints.Failpoints.reach", reach)
            try:
                index(self.table, *self.wanted)
            except Death:
                return

    def expire(self) -> None:
        expiry = self.table.opened.java.expireSnapshots()
        expiry.expireOlderThan(int((time.time() + 60) * 1000)).retainLast(2).commit()

    def branch(self) -> None:
        if not self.has_branch and self.table.opened.snapshot is not None:
            self.table.add_branch(BRANCH)
            self.has_branch = True
        if self.has_branch:
            self.append(branch=BRANCH)

    def roll_back(self) -> None:
        spark, sql = self.table.lake.spark, self.table.sql
        known = {row.snapshot_id for row in spark.table(f"{sql}.snapshots").collect()}
        history = spark.table(f"{sql}.history").where("is_current_ancestor").collect()
        found = [row.snapshot_id for row in history if row.snapshot_id in known]
        if found:
            chosen = self.chance.choice(found)
            self.table.opened.java.manageSnapshots().rollbackTo(chosen).commit()

    def condition(self) -> str:
        """Return something to ask of the table, mostly true of few rows."""
        n = self.chance.randrange(-99, 99)
        text = self.chance.choice(("timeout", "failed", "h_her", "changed", "0", "nowhere"))
        word = f"{self.chance.choice(WORDS)} {self.chance.randrange(50)}"
        one = self.chance.choice(
            (
                f"{self.key} = {self.chance.randrange(max(self.next_id, 1))}",
                f"{self.key} IN ({self.chance.randrange(99)}, {self.chance.randrange(99)}, -1)",
                f"word LIKE '%{text}%'",
                f"word = '{word}'",
                f"n BETWEEN {n} AND {n + 3}",
                f"n > {n}",
                f"x = {self._extra()}",
                "x IS NULL",
                f"NOT (word LIKE '%{text}%')",
            )
        )
        if self.chance.random() < 0.3:
            return f"({one}) {self.chance.choice(('AND', 'OR', 'AND NOT'))} ({self.condition()})"
        return one

    def check(self) -> None:
        """Ask both catalogs the same, of main and sometimes of the branch."""
        for _ in range(QUERIES):
            of_branch = self.has_branch and self.chance.random() < 0.3
            at = f" VERSION AS OF '{BRANCH}'" if of_branch else ""
            where = self.condition()
            answers = [self._asked(catalog, at, where) for catalog in ("lake", INDEXED)]
            assert answers[0] == answers[1], (where, at)

    def _asked(self, catalog: str, at: str, where: str) -> list[str]:
        name = f"{catalog}.{self.table.lake.db}.{self.table.name}{at}"
        rows = self.table.lake.spark.sql(" ".join(["SELECT * FROM", name, "WHERE", where]))
        return sorted(map(repr, rows.collect()))


def test_whatever_happens_to_a_table_no_row_is_lost(iceberg_lake: IcebergLake) -> None:
    use_indexes(iceberg_lake.spark, iceberg_lake.config)
    walk = Walk(iceberg_lake.table(), SEED)
    happenings = {
        walk.append: 5, walk.delete: 2, walk.update: 2, walk.rename: 1, walk.widen: 1,
        walk.add_again: 1, walk.build: 4, walk.compact: 2, walk.die: 2, walk.expire: 1,
        walk.branch: 1, walk.roll_back: 1,
    }  # fmt: skip
    walk.append()
    walk.build()
    # Each happens once, in any order, before chance decides.
    order = walk.chance.sample(list(happenings), len(happenings))
    more = walk.chance.choices(
        list(happenings), list(happenings.values()), k=max(STEPS - len(order), 0)
    )
    done = []
    for step in order[:STEPS] + more:
        done.append(step.__name__)
        try:
            step()
            walk.check()
        except Exception as error:
            error.add_note(f"seed {SEED}, after {', '.join(done)}")
            raise
