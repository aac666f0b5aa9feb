"""After every batch of changes the table is what the whole query gives."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from pipelines.commits.jobs.hudi_source import HudiSource
from pipelines.materialized.domain.planner import Way
from tests.support.changed_tables import ChangedHudi, some_rows
from tests.support.materialized_tables import EVERYTHING, PLAIN, Died, Materialized

pytestmark = pytest.mark.spark
Step = Callable[[], object]


def materialized(spark: SparkSession, table: ChangedHudi, place: Path, sql: str) -> Materialized:
    source = HudiSource.open(spark, "db.rows", table.location)
    return Materialized(spark, place, {"db.rows": source}, sql)


def steps_of(table: ChangedHudi, random: Random) -> dict[str, Step]:
    """Return all ways in which a table changes."""
    found: dict[str, Step] = {
        "upsert": lambda: table.write(some_rows(random, 8)),
        "delete": lambda: table.delete(random.sample(range(40), 10)),
        "overwrite": lambda: table.write(
            [(n, "d1", "a", n, None) for n in random.sample(range(100, 120), 3)],
            "insert_overwrite",
        ),
        "delete_partition": lambda: table.delete_partition(random.choice(("d0", "d2"))),
        "cluster": lambda: table.cluster(some_rows(random, 4)),
        "roll_back": table.roll_back,
    }
    if table.kind == "MERGE_ON_READ":
        found["compact"] = lambda: table.compact(some_rows(random, 4))
    return found


def test_first(spark: SparkSession, tmp_path: Path) -> None:
    random = Random(5)
    table = ChangedHudi(spark, tmp_path / "rows")
    table.write(some_rows(random, 30))
    kept = materialized(spark, table, tmp_path / "kept", EVERYTHING)
    done = kept.refresh()
    assert done.plan.way is Way.FULL
    kept.assert_right()
    for name, step in steps_of(table, random).items():
        step()
        done = kept.refresh()
        print(name, done)
        kept.assert_right()
