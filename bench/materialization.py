"""Measures refreshes by changes against computing in full, and a dashboard with and without.

A copy-on-write table of `--rows` rows in 20 days takes one commit of upserts for each share of
changed rows, in as many of the newest days as it needs or spread over all. Both ways are then timed
on the same commit, one after the other in turn, and once before that one is asked of the planner,
which knows what the bench has measured so far, as the portal lets it. Rounds go over all shares
until `--minutes` are over; figures are medians of the rounds, of seconds and of the processor's
seconds, which a busy machine changes less. Last, 20 queries are timed on the table and rewritten.
`python -m bench.materialization`; figures in bench/README.md.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.cdc_spark import session
from optimizer.rewriting.domain.answers import rewrite
from optimizer.rewriting.domain.session import Session
from pipelines.commits.jobs.hudi_source import HudiSource
from pipelines.materialized.domain.costs import Past
from pipelines.materialized.domain.planner import Known, Plan, Way, plan
from pipelines.materialized.jobs import refresh
from pipelines.materialized.jobs.refresh import Done
from tests.support.materialized_tables import Materialized, known_of

NEWEST, ALL = "newest days", "all days"
CASES = (
    *((share, NEWEST) for share in (0.001, 0.01, 0.05, 0.2, 0.5)),
    *((share, ALL) for share in (0.001, 0.05)),
)
N_DAYS, N_CITIES = 20, 500
MOST_PAST = 20
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
class Cost:
    """What one refresh took."""

    seconds: float
    processor: float


@dataclass
class Case:
    """Rounds of one share of changed rows."""

    share: float
    spread: str
    by_changes: list[Cost] = field(default_factory=list)
    in_full: list[Cost] = field(default_factory=list)
    chosen: list[Way] = field(default_factory=list)
    n_given_up: int = 0
    """Rounds of changes that ended in full: their cost is that of both."""

    def rights(self) -> list[bool]:
        """Return of each round whether the planner chose what is cheaper by the medians.

        By the processor's seconds; where both ways are about the same, either is right.
        """
        costs = {
            Way.INCREMENTAL: _median(self.by_changes).processor,
            Way.FULL: _median(self.in_full).processor,
        }
        return [costs[one] <= CLOSE * min(costs.values()) for one in self.chosen]


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(
        statistics.median(one.seconds for one in costs),
        statistics.median(one.processor for one in costs),
    )


class Bench:
    """The table and its materialization."""

    def __init__(self, spark: SparkSession, place: Path, n_rows: int) -> None:
        """Write the table, and compute the materialization for the first time."""
        self.spark, self.n_rows, self.n_commits = spark, n_rows, 0
        self.location = f"file:{place / 'rows'}"
        self._write(self._rows(spark.range(n_rows)), "bulk_insert")
        self.source = HudiSource.open(spark, "db.rows", self.location)
        self.kept = Materialized(spark, place / "kept", {"db.rows": self.source}, SQL)
        self.past: list[Past] = []
        self.full()

    def change(self, share: float, spread: str) -> None:
        """Upsert a share of all rows in one commit: of the newest days, or of all."""
        ids = self.spark.range(self.n_rows)
        share_of_days = 1.0
        if spread == NEWEST:
            n_days = max(1, round(share * N_DAYS))
            ids, share_of_days = ids.where(F.col("id") % N_DAYS < n_days), n_days / N_DAYS
        drawn = F.pmod(F.xxhash64("id", F.lit(self.n_commits)), F.lit(10**6))
        ids = ids.where(drawn < round(10**6 * share / share_of_days))
        self._write(self._rows(ids), "upsert")

    def round(self, case: Case) -> None:
        """Time both ways on the newest commit; the planner is asked before it is known."""
        self.change(case.share, case.spread)
        case.chosen.append(self._by_changes(case))
        case.in_full.append(self.full())

    def _by_changes(self, case: Case) -> Way:
        chosen: list[Way] = []
        names = vars(refresh)

        def forced(known: Known) -> Plan:
            chosen.append(plan(known).way)
            return Plan(Way.INCREMENTAL, "The bench asks for it.")

        names["plan"] = forced
        self.kept.past = tuple(self.past[-MOST_PAST:])
        try:
            cost = self._timed(self.kept.refresh)
        finally:
            names["plan"] = plan
        case.by_changes.append(cost)
        if self.done.plan.way is Way.INCREMENTAL:
            self._remember(cost, is_full=False)
        else:
            # Too many groups lost a least or greatest value; a refresh computes in full then too.
            case.n_given_up += 1
        return chosen[0]

    def full(self) -> Cost:
        """Time a computation in full."""
        cost = self._timed(partial(self.kept.refresh, is_full=True))
        self._remember(cost, is_full=True)
        return cost

    def _timed(self, what: Callable[[], Done]) -> Cost:
        began = self._processor()
        seconds, self.done = _timed(what)
        return Cost(seconds, self._processor() - began)

    def _processor(self) -> float:
        """Return the processor's seconds of the JVM so far."""
        gateway: Any = self.spark.sparkContext._gateway
        said = Path(f"/proc/{gateway.proc.pid}/stat").read_text(encoding="ascii")
        ticks = said.rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def _remember(self, cost: Cost, *, is_full: bool) -> None:
        of = self.done.numbers
        self.past.append(Past(is_full, cost.seconds, of.changed_bytes, of.all_bytes))

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
    """Run the bench; 1 where the planner chose the dearer way more often than not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--minutes", type=float, default=15, help="for the rounds")
    options = parser.parse_args()
    spark = session()
    cases = [Case(*one) for one in CASES]
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(spark, Path(place), options.rows)
        bench.round(Case(*CASES[0]))  # warm-up
        bench.past.clear()
        until = time.monotonic() + 60 * options.minutes
        while time.monotonic() < until:
            for case in cases:
                if time.monotonic() < until:
                    bench.round(case)
                    _tell_round(case)
        size = bench.done.numbers.all_bytes / (1 << 20)
        times = bench.dashboard()
    spark.stop()
    print(f"{options.rows:,} rows, {size:.0f} MiB; load {os.getloadavg()}")
    measured = [one for one in cases if one.chosen]
    for case in measured:
        _tell(case)
    _tell_dashboard(times)
    rights = [one for case in measured for one in case.rights()]
    first = [case.rights()[0] for case in measured]
    print(
        f"the planner chose the cheaper way {sum(rights)} times of {len(rights)}, in the first "
        f"round {sum(first)} of {len(first)}"
    )
    return 0 if 2 * sum(rights) > len(rights) else 1


def _tell_round(case: Case) -> None:
    a, b = case.by_changes[-1], case.in_full[-1]
    print(
        f"{case.share:6.1%} in {case.spread:11}: by changes {a.seconds:6.1f} s "
        f"({a.processor:5.1f} s of processor), in full {b.seconds:6.1f} s ({b.processor:5.1f} s); "
        f"planned {case.chosen[-1].value}; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def _tell(case: Case) -> None:
    a, b = _median(case.by_changes), _median(case.in_full)
    print(
        f"| {case.share:.1%} in {case.spread} | {len(case.chosen)} | {a.seconds:.1f} s "
        f"({a.processor:.1f}) | {b.seconds:.1f} s ({b.processor:.1f}) | "
        f"{b.processor / a.processor:.2f} | {sum(case.rights())} of {len(case.chosen)} | "
        f"{case.n_given_up} |"
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
