"""A materialization of one changing table, refreshed in the test's own Spark session."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from optimizer.rewriting.domain.aggregates import aggregate_facts
from optimizer.rewriting.domain.facts import HUDI, TableFacts
from pipelines.commits.jobs.changes import Source
from pipelines.commits.jobs.hudi_source import HudiSource
from pipelines.commits.jobs.target import Target
from pipelines.materialized.domain.answers import answering
from pipelines.materialized.domain.costs import Past
from pipelines.materialized.domain.definition import read_definition
from pipelines.materialized.domain.kept_columns import GROUP, ROWS
from pipelines.materialized.domain.messages import Note
from pipelines.materialized.jobs.refresh import Done, Refresh
from portal.lake.aggregates import SourceCommit, StoredAggregate
from portal.safety.failpoints import Failpoints

EVERYTHING = """
SELECT dt, upper(city) AS town, count(*) AS n, count(qty) AS n_qty, sum(qty) AS qty,
  avg(qty) AS mean_qty, sum(price) AS price, avg(price) AS mean,
  min(qty) AS low, max(price) AS high,
  count(DISTINCT city) AS cities, count(DISTINCT qty) AS quantities, count_if(qty > 3) AS many
FROM db.rows WHERE id % 7 <> 3 GROUP BY dt, upper(city)
"""
PLAIN = """
SELECT dt, city, count(*) AS n, count(qty) AS n_qty, sum(qty) AS qty, max(qty) AS high
FROM db.rows GROUP BY dt, city
"""


BY_CHANGES = (Past(is_full=True, seconds=1e6), Past(is_full=False, seconds=1e-3))
"""Earlier refreshes by which changes are always cheaper, in however small tables."""


class Died(Exception):
    """The driver, at a failpoint."""


class Dying(Failpoints):
    """Raises where a process would be killed."""

    def __init__(self, moment: str = "") -> None:
        super().__init__()
        self.moment = moment

    def reach(self, moment: str) -> None:
        if moment == self.moment:
            self.moment = ""
            raise Died(moment)


@dataclass
class Materialized:
    """The table of a definition below a folder."""

    spark: SparkSession
    place: Path
    sources: Mapping[str, Source]
    sql: str = EVERYTHING
    owner: str = "me"
    asked_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    past: tuple[Past, ...] = BY_CHANGES
    version: int = 0

    @property
    def target(self) -> Target:
        return Target(
            self.spark, "db", "kept", f"file:{self.place}", self.owner, GROUP,
            deleted_by=(ROWS, "0"), version=self.version,
        )  # fmt: skip

    def refresh(self, *, is_full: bool = False, dying: str = "") -> Done:
        told: list[str] = []
        one = Refresh(
            self.spark, read_definition(self.sql), self.sources, self.target,
            f"file:{self.place}__distinct", Dying(dying), told.append,
            self.asked_at, self.past,
        )  # fmt: skip
        return one.run(is_full=is_full)

    def rows(self) -> Counter[Any]:
        names = read_definition(self.sql).names
        return Counter(map(tuple, self.target.read().select(*names).collect()))

    def wanted(self) -> Counter[Any]:
        """Return what the query gives on the tables as they are."""
        sql = self.sql
        for name, source in self.sources.items():
            view = name.replace(".", "_")
            source.read_at(source.position()).createOrReplaceTempView(view)
            sql = sql.replace(name, view)
        return Counter(map(tuple, self.spark.sql(sql).collect()))

    def assert_right(self) -> None:
        rows, wanted = self.rows(), self.wanted()
        assert rows == wanted, (rows - wanted, wanted - rows)
        said = self.target.written(may_be_foreign=True)
        assert said is not None
        note = msgspec.json.decode(said.note, type=Note)
        assert note.n_groups == sum(rows.values()), note


def known_of(
    kept: Materialized, done: Done, source: HudiSource, names: tuple[str, str]
) -> dict[str, TableFacts]:
    """Return what rewriting knows of a table and its materialization, both shown as global views.

    `names` are those of the table as it is now, and of the materialization as `done` left it.
    """
    name, own = names
    position = source.position()
    rows = source.read_at(position)
    for frame, view in ((rows, name), (kept.target.read(), own)):
        frame.createOrReplaceGlobalTempView(view.removeprefix("global_temp."))
    (has,) = done.positions.values()
    said = answering(read_definition(kept.sql), done.kept.types)
    now = datetime.now(UTC)
    one = StoredAggregate(
        name="kept",
        table=own,
        format=HUDI,
        source=name,
        dimensions=said.dimensions,
        measures=said.measures,
        filters=said.filters,
        rows_column=ROWS,
        commits={name: SourceCommit(has.table, has.commit)},
        known_at=now,
        source_rows=done.numbers.n_rows,
    )
    types = {column.lower(): kind for column, kind in rows.dtypes}
    facts = TableFacts(name, source.location, int(position.commit), columns=types, format=HUDI)
    cube = aggregate_facts(one, {name: facts}, max_lag=None, now=now)
    return {name: replace(facts, cubes=(cube,))}
