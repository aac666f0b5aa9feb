"""Measures what the layout that is advised by itself saves on a log of queries.

A wide table of the Star Schema Benchmark lies in the order of its load. The first half of a
generated log is reported as engines report scans, without constants. The product's own job tries
layouts on a sample, the product's own rule decides, and its own rewrite lays the table out. Then
the log's second half, in which other templates are asked most, is planned again by Iceberg's own
planFiles: bytes before and after, against layouts made by hand and Iceberg's Z-order on the most
filtered columns. A second log, in which no order pays, must leave nothing applied.
`python -m bench.advice`; figures in bench/README.md.
"""

import argparse
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.advice_log import HOPELESS, TEMPLATES, Question, columns, filters_of, log, most_filtered
from bench.layout import DB, NAME, TABLE, opened_lake, task_limits
from optimizer.advice.domain.layout_advice import (
    NoProposal,
    Option,
    Traffic,
    decide_layout,
    has_paid,
)
from optimizer.advice.jobs import layout
from optimizer.iceberg.access.jobs.iceberg import open_table
from optimizer.iceberg.execution.jobs import optimize
from optimizer.iceberg.rewrite.domain.layouts import NO_LAYOUT, parse_layout
from optimizer.iceberg.rewrite.jobs.planning import TaskColumns
from portal.connectors.lake_config import LakeConfig
from tests.support.scan_spark import job_for

GOAL = 0.28
BY_HAND = (
    "hilbert(c_city,s_city)",
    "hilbert(c_city,s_city,p_brand1)",
    "hilbert(c_nation,s_nation,p_category)",
    "hilbert(s_region,c_region,p_category,d_year)",
    "hilbert(d_yearmonthnum,c_city,s_city,p_brand1)",
    "sort(d_year,s_region,c_region)",
)


class Bench:
    """The wide table, back in the order of its load before each layout."""

    def __init__(self, spark: SparkSession, config: LakeConfig, *, rows: int, files: int) -> None:
        self.spark, self.config = spark, config
        self.jvm: Any = spark.sparkContext._jvm
        self.limits = task_limits()
        selected = [one.format(n=rows) for one in columns()]
        spark.range(0, rows, 1, files).selectExpr(*selected).writeTo(TABLE).using(
            "iceberg"
        ).tableProperty("write.distribution-mode", "none").create()
        table = open_table(spark, DB, NAME)
        self.first, self.uuid = table.snapshot_id, table.uuid
        listed = spark.table(f"{TABLE}.files").select("file_size_in_bytes")
        sizes: list[int] = [row[0] for row in listed.collect()]
        self.n_bytes, self.n_files = sum(sizes), len(sizes)

    @property
    def target_bytes(self) -> int:
        """The size of the files that the table has."""
        return self.n_bytes // self.n_files

    def back(self) -> None:
        """Go back to the order of the load."""
        at = f"table => '{DB}.{NAME}', snapshot_id => {self.first}"
        self.spark.sql(f"CALL lake.system.rollback_to_snapshot({at})").collect()

    def lay_out(self, wanted: str) -> None:
        """Have the product's job lay the table out."""
        self.back()
        task = {
            **{"task": 1, "db": DB, "table": NAME, "uuid": self.uuid, "kind": "CLUSTER"},
            **{"partitions": None, "target_bytes": self.target_bytes, "layout": wanted},
            **{"boundaries": None, "write_ids": [], **self.limits},
        }
        job = job_for(self.spark, self.config, {"tasks": [task]}, now=datetime.now(UTC))
        with redirect_stdout(sys.stderr):
            (result,) = optimize.run(self.spark, job)["results"]
        if result["outcome"] != "DONE":
            raise SystemExit(f"{wanted}: {result['outcome']} {result['reason']}")

    def zorder(self, names: Sequence[str]) -> None:
        """Have Iceberg lay the table out by its own Z-order."""
        self.back()
        options = f"'rewrite-all','true','target-file-size-bytes','{self.target_bytes}'"
        how = f"strategy => 'sort', sort_order => 'zorder({','.join(names)})'"
        call = f"table => '{DB}.{NAME}', {how}, options => map({options})"
        self.spark.sql(f"CALL lake.system.rewrite_data_files({call})").collect()

    def planned(self, questions: Sequence[Question]) -> list[tuple[int, int]]:
        """Return the files and bytes that Iceberg plans for each question."""
        table = open_table(self.spark, DB, NAME)
        steps = TaskColumns(table.columns)
        make = self.jvm.org.apache.iceberg.expressions.Expressions
        found = []
        for question in questions:
            scan = table.java.newScan().ignoreResiduals()
            for column, operation, value in question:
                given = self._listed(value) if isinstance(value, list) else value
                scan = scan.filter(getattr(make, operation)(column, given))
            planned = scan.planFiles()
            tasks = table.listed(planned)
            planned.close()
            sizes = table.columns.numbers(tasks, steps.file, steps.length) if tasks.size() else []
            found.append((len(sizes), sum(sizes)))
        return found

    def _listed(self, values: Sequence[Any]) -> Any:
        found = self.jvm.java.util.ArrayList()
        for one in values:
            found.add(one)
        return found

    def advised(self, questions: Sequence[Question]) -> tuple[str, float, str]:
        """Return the layout that reports of these questions speak for, what it expects, and why."""
        planned = self.planned(questions)
        scans: Counter[Any] = Counter()
        n_files: Counter[Any] = Counter()
        n_bytes: Counter[Any] = Counter()
        for question, (files, size) in zip(questions, planned, strict=True):
            key = filters_of(question)
            scans[key] += 1
            n_files[key] += files
            n_bytes[key] += size
        shapes = [
            {
                "filters": [[one.column, one.kind.value] for one in key],
                **{"n_scans": scans[key], "n_files": n_files[key], "n_bytes": n_bytes[key]},
            }
            for key in sorted(scans, key=lambda one: -n_bytes[one])
        ]
        row = {
            **{"id": 1, "db": DB, "table": NAME, "uuid": self.uuid},
            **{"target_bytes": self.target_bytes, "shapes": shapes},
            **{"n_days": 1, "candidates": []},
        }
        job = job_for(self.spark, self.config, {"tables": [row]}, now=datetime.now(UTC))
        (found,) = layout.run(self.spark, job)["tables"]
        judged = decide_layout(
            found["now"],
            [Option(parse_layout(one["layout"]), one["share"]) for one in found["options"]],
            # As if the log were one day's, a hundredth of 200,000 queries.
            Traffic(len(questions), 1, sum(n_bytes.values())),
            current=NO_LAYOUT,
            rewrite_bytes=found["rewrite_bytes"],
            n_files=found["n_files"],
        )
        if isinstance(judged, NoProposal):
            return "", 1.0, judged.reason
        return str(judged.layout), judged.expected, judged.reason


def replayed(bench: Bench, questions: Sequence[Question], plain: int) -> tuple[float, float]:
    """Return bytes planned, of one planned before, and bytes skipped, of one scanned."""
    n_bytes = sum(size for _, size in bench.planned(questions))
    whole = bench.n_bytes * len(questions)
    return n_bytes / plain, (whole - n_bytes) / n_bytes


def main() -> int:
    """Measure both logs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, default=Path("var/bench/advice"))
    args = parser.parse_args()
    print(f"{args.rows:,} rows, {args.files} files, load {os.getloadavg()[0]:.1f}", flush=True)
    with opened_lake(args.work.resolve()) as (spark, config):
        bench = Bench(spark, config, rows=args.rows, files=args.files)
        is_met = _star(bench, log(TEMPLATES, args.queries, args.seed))
        is_left = _hopeless(bench, log(HOPELESS, args.queries, args.seed))
    return 0 if is_met and is_left else 1


def _star(bench: Bench, questions: Sequence[Question]) -> bool:
    half = len(questions) // 2
    seen, later = questions[:half], questions[half:]
    plain = sum(size for _, size in bench.planned(later))
    print(
        f"by load time: 1.000, {(bench.n_bytes * len(later) - plain) / plain:.2f} skipped a scanned"
    )
    started = time.monotonic()
    wanted, expected, reason = bench.advised(seen)
    print(f"advised in {time.monotonic() - started:.1f} s: {wanted or 'nothing'}. {reason}")
    if not wanted:
        return False
    seen_plain = sum(size for _, size in bench.planned(seen))
    bench.lay_out(wanted)
    ratio, skipped = replayed(bench, later, plain)
    of_seen, _ = replayed(bench, seen, seen_plain)
    print(f"advised {wanted}: {ratio:.3f} of the bytes, {skipped:.2f} skipped a scanned")
    print(f"  of the half that was reported: expected {expected:.3f}, measured {of_seen:.3f}")
    others = {}
    for by_hand in BY_HAND:
        bench.lay_out(by_hand)
        others[by_hand], more = replayed(bench, later, plain)
        print(f"by hand {by_hand}: {others[by_hand]:.3f}, {more:.2f}", flush=True)
    names = most_filtered(seen, 4)
    bench.zorder(names)
    z, more = replayed(bench, later, plain)
    print(f"Iceberg zorder({','.join(names)}): {z:.3f}, {more:.2f}")
    is_met = ratio <= 1 - GOAL
    print(f"goal: {GOAL:.0%} fewer bytes: {1 - ratio:.0%}, {'met' if is_met else 'MISSED'}")
    print(f"goal: 2 skipped a scanned: {skipped:.2f}, {'met' if skipped >= 2 else 'MISSED'}")
    print(f"mean of the layouts by hand: {statistics.mean(others.values()):.3f}")
    bench.back()
    return is_met and skipped >= 2


def _hopeless(bench: Bench, questions: Sequence[Question]) -> bool:
    half = len(questions) // 2
    wanted, expected, reason = bench.advised(questions[:half])
    print(f"where nothing pays: {wanted or 'nothing advised'}. {reason}")
    if not wanted:
        return True
    plain = sum(size for _, size in bench.planned(questions[half:]))
    bench.lay_out(wanted)
    ratio, _ = replayed(bench, questions[half:], plain)
    is_left = has_paid(ratio, half) is False
    print(
        f"  expected {expected:.3f}, measured {ratio:.3f}: {'rolled back' if is_left else 'KEPT'}"
    )
    return is_left


if __name__ == "__main__":
    sys.exit(main())
