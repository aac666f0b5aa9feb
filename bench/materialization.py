"""Measures refreshes by changes against computing in full, and a dashboard with and without.

A copy-on-write table of `--rows` rows in 20 days takes one commit of upserts for each share of
changed rows, spread over all days or in the newest alone. Both ways are then timed on the same
commit, in turn: by changes, and in full. The planner says which one it would have taken; the bench
says whether that was the cheaper one. Last, 20 queries are timed on the table and rewritten.
`python -m bench.materialization`; figures in bench/README.md.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.cdc_spark import session
from optimizer.rewriting.domain.answers import rewrite
from optimizer.rewriting.domain.session import Session
from pipelines.commits.jobs.hudi_source import HudiSource
from pipelines.materialized.domain.planner import Known, Plan, Way, plan
from pipelines.materialized.jobs import refresh
from tests.support.materialized_tables import Materialized, known_of

SHARES = (0.001, 0.01, 0.05, 0.2, 0.5)
N_DAYS, N_CITIES = 20, 500
CLOSE = 1.15
"""Where both ways are as near as that, either choice is right."""
SOURCE, KEPT = "global_temp.bench_rows", "global_temp.bench_kept"
SQL = """
SELECT dt, city, count(*) AS n, count(qty) AS n_qty, sum(qty) AS qty, sum(price) AS price,
  min(qty) AS low, max(qty) AS high
FROM db.rows GROUP BY dt, city
"""
_SETTINGS = {
    "hoodie.table.name": "rows",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.datasource.write.partitionpath.field": "dt",
    "hoodie.datasource.write.hive_style_partitioning": "true",
    "hoodie.index.type": "SIMPLE",
    "hoodie.metadata.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.table.timeline.timezone": "UTC",
}


@dataclass(frozen=True)
class Measured:
    """Seconds of both ways for one commit, and what the planner chose."""

    share: float
    spread: str
    by_changes: float
    in_full: float
    chosen: Way

    @property
    def is_right(self) -> bool:
        """Whether the planner chose the cheaper way, or one that costs about the same."""
        chosen = self.by_changes if self.chosen is Way.INCREMENTAL else self.in_full
        return chosen <= CLOSE * min(self.by_changes, self.in_full)


class Bench:
    """The table and its materialization."""

    def __init__(self, spark: SparkSession, place: Path, n_rows: int) -> None:
        """Write the table, and compute the materialization for the first time."""
        self.spark, self.n_rows, self.n_commits = spark, n_rows, 0
        self.location = f"file:{place / 'rows'}"
        self._write(self._rows(spark.range(n_rows)), "bulk_insert")
        self.source = HudiSource.open(spark, "db.rows", self.location)
        self.kept = Materialized(spark, place / "kept", {"db.rows": self.source}, SQL)
        self.done = self.kept.refresh()

    def change(self, share: float, spread: str) -> None:
        """Upsert a share of all rows in one commit: of all days, or as far as it fits of one."""
        every = round(1 / share)
        ids = self.spark.range(self.n_rows)
        if spread == "one day":
            ids = ids.where(F.col("id") % N_DAYS == 0).limit(int(self.n_rows * share))
        else:
            ids = ids.where(F.col("id") % every == self.n_commits % every)
        self._write(self._rows(ids), "upsert")

    def both(self, share: float, spread: str) -> Measured:
        """Time both ways on the newest commit, the cheaper one by plan being noted."""
        chosen: list[Way] = []
        names = vars(refresh)

        def forced(known: Known) -> Plan:
            found = plan(known)
            chosen.append(found.way)
            return Plan(Way.INCREMENTAL, "The bench asks for it.")

        names["plan"] = forced
        try:
            by_changes, self.done = _timed(self.kept.refresh)
        finally:
            names["plan"] = plan
        in_full, self.done = _timed(lambda: self.kept.refresh(is_full=True))
        return Measured(share, spread, by_changes, in_full, chosen[0])

    def _rows(self, ids: DataFrame) -> DataFrame:
        n = self.n_commits
        return ids.select(
            "id",
            F.concat(F.lit("d"), F.format_string("%02d", F.col("id") % N_DAYS)).alias("dt"),
            F.concat(F.lit("city"), F.pmod(F.hash("id"), F.lit(N_CITIES))).alias("city"),
            F.pmod(F.hash("id", F.lit(n)), F.lit(1000)).alias("qty"),
            (F.pmod(F.hash("id", F.lit(n), F.lit(1)), F.lit(10**6)) / 100)
            .cast("decimal(12,2)")
            .alias("price"),
            F.sha2(F.concat_ws("-", "id", F.lit(n)), 256).alias("note"),
            F.lit(n).cast("long").alias("ts"),
        )

    def _write(self, rows: DataFrame, operation: str) -> None:
        said = {**_SETTINGS, "hoodie.datasource.write.operation": operation}
        rows.write.format("hudi").options(**said).mode("append").save(self.location)
        self.n_commits += 1

    def dashboard(self) -> list[tuple[float, float]]:
        """Return the seconds of each query on the table, and on the materialization.

        Raises:
            ValueError: a query was not rewritten, or gave something else.
        """
        tables = known_of(self.kept, self.done, self.source, (SOURCE, KEPT))
        found = []
        for sql in _queries():
            answer = rewrite(sql, Session("spark", time_zone="UTC"), tables)
            if not answer.is_rewritten:
                raise ValueError(f"{sql} was not rewritten: {answer.to_json()}")
            plain, wanted = _timed(partial(_result, self.spark, sql))
            short, rows = _timed(partial(_result, self.spark, answer.sql))
            if rows != wanted:
                raise ValueError(f"{answer.sql} gives other rows than {sql}")
            found.append((plain, short))
        return found


def main() -> int:
    """Run the bench; 1 where the planner chose the dearer way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    options = parser.parse_args()
    spark = session()
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(spark, Path(place), options.rows)
        bench.change(SHARES[0], "one day")
        bench.both(SHARES[0], "one day")  # warm-up
        measured = []
        for spread in ("one day", "all days"):
            for share in SHARES:
                if spread == "one day" and share > 1 / N_DAYS:
                    continue
                bench.change(share, spread)
                measured.append(bench.both(share, spread))
                _tell(measured[-1])
        times = bench.dashboard()
    _tell_dashboard(times)
    spark.stop()
    wrong = [one for one in measured if not one.is_right]
    print(
        f"the planner chose the cheaper way {len(measured) - len(wrong)} times of {len(measured)}"
    )
    return 1 if wrong else 0


def _tell(one: Measured) -> None:
    ratio = one.by_changes / one.in_full
    print(
        f"{one.share:7.1%} in {one.spread:8}: by changes {one.by_changes:6.2f} s, in full "
        f"{one.in_full:6.2f} s, ratio {ratio:5.2f}; planned {one.chosen.value}"
        f"{'' if one.is_right else ' (dearer)'}",
        flush=True,
    )


def _tell_dashboard(times: Sequence[tuple[float, float]]) -> None:
    plain, short = (sum(one[n] for one in times) for n in (0, 1))
    print(f"dashboard of {len(times)} queries: {plain:.1f} s on the table, {short:.1f} s rewritten")
    ratios = sorted(one[0] / one[1] for one in times)
    print(f"a query is {statistics.median(ratios):.1f} times as fast (median)")


def _queries() -> list[str]:
    keys = ("dt", "city", "dt, city", "")
    sums = ("count(*) AS n, sum(qty) AS q", "avg(qty) AS a", "sum(price) AS p, max(qty) AS hi")
    found = []
    for key in keys:
        for aggregates in sums:
            columns = f"{key}, {aggregates}" if key else aggregates
            group = f" GROUP BY {key}" if key else ""
            found.append(" ".join(["SELECT", columns, "FROM", SOURCE, group]))
    for day in ("d00", "d07", "d13", "d19"):
        for aggregates in sums[:2]:
            where = f"WHERE dt = '{day}' GROUP BY city"
            found.append(" ".join([f"SELECT city, {aggregates} FROM", SOURCE, where]))
    return found


def _result(spark: SparkSession, sql: str) -> Counter[Any]:
    return Counter(map(tuple, spark.sql(sql).collect()))


def _timed(what: Callable[[], Any]) -> tuple[float, Any]:
    began = time.monotonic()
    answer = what()
    return time.monotonic() - began, answer


if __name__ == "__main__":
    sys.exit(main())
