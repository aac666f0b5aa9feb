"""Measures what advice that finds itself saves on a log of queries: order, indexes and cubes.

A wide table of the Star Schema Benchmark lies in the order of its load. The first half of a
generated log is what engines reported; the product's own jobs look at a sample, its own rules
decide, and its own rewrite, index and cube jobs do what is advised, one step after the other. Then
the log's second half, in which other templates are asked most, is planned again: bytes before and
after each step, against layouts made by hand and Iceberg's Z-order on the most filtered columns.
What a step was expected to leave is held against what it leaves, by template. A step that does not
pay on the second half is taken back by the product's own rule. In a log in which nothing pays,
nothing may be left applied.
`python -m bench.advice`; figures in bench/README.md.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.advice_log import HOPELESS, LOOK_UPS, STAR, Query, Template, log, most_filtered
from bench.advice_steps import Recorded, Step, cube_step, index_step, sort_step
from bench.advice_table import WideTable
from bench.layout import EXTENSION, opened_lake
from optimizer.advice.domain.layout_advice import has_paid
from optimizer.advice.domain.stars.cube_advice import has_answered
from optimizer.iceberg.rewrite.jobs.boundary_sample import use_arrow

FEWER, SKIPPED = 0.28, 2.0
BY_HAND = (
    "hilbert(c_city,s_city)",
    "hilbert(c_city,s_city,p_brand1)",
    "hilbert(c_nation,s_nation,p_category)",
    "hilbert(s_region,c_region,p_category,d_year)",
    "hilbert(d_yearmonthnum,c_city,s_city,p_brand1)",
    "sort(d_year,s_region,c_region)",
)
LOGS: Mapping[str, Mapping[str, Template]] = {
    "star": STAR,
    "look_ups": LOOK_UPS,
    "hopeless": HOPELESS,
}
STEPS = (sort_step, index_step, cube_step)
CUBES = "lakewarden.cubes.CubeExtensions"


class Replay:
    """One log on one table, measured after each step that is kept."""

    def __init__(self, table: WideTable, queries: Sequence[Query], *, n_read: int) -> None:
        half = len(queries) // 2
        self.table, self.later = table, queries[half:]
        self.seen = Recorded(queries[:half], table.planned(queries[:half]))
        self.first = self.planned = sum(table.planned(self.later))
        self.some = self.later[:: max(1, len(self.later) // n_read)] if n_read else []
        self.bytes_read, self.answers = table.read(self.some)
        self.kept: list[Step] = []
        self.print_state("by load time")

    def print_state(self, what: str) -> None:
        """Print the bytes of the second half."""
        read = f", {sum(self.bytes_read) / 1e6:,.1f} MB read by {len(self.some)} queries"
        print(
            f"{what}: {self.planned / self.first:.3f} of the bytes, {self.skipped:.2f} skipped a "
            f"scanned{read if self.some else ''}",
            flush=True,
        )

    @property
    def skipped(self) -> float:
        """Bytes of the second half that are left out, of one that is planned."""
        whole = self.table.n_bytes * len(self.later)
        return (whole - self.planned) / self.planned

    def take(self, step: Step) -> None:
        """Apply what is advised, measure, and take it back where it does not pay."""
        if not step.advised:
            print(f"{step.name}: nothing advised. {step.reason}", flush=True)
            return
        started = time.monotonic()
        step.apply()
        took = time.monotonic() - started
        print(f"{step.name}: {step.advised}, applied in {took:.1f} s. {step.reason}")
        seen = [n_bytes for n_bytes, _ in self.table.told(self.seen.queries)]
        told = self.table.told(self.later)
        later, n_answered = sum(n_bytes for n_bytes, _ in told), sum(by for _, by in told)
        _print_errors(step, self.seen, Recorded(self.seen.queries, seen))
        if step.name == "cubes":
            pays = has_answered(n_answered, len(self.later))
            print(f"  {n_answered} of {len(self.later)} later queries are answered from cubes")
        else:
            pays = has_paid(later / self.planned, len(self.later))
        if not pays:
            step.take_back()
            print(f"  {later / self.planned:.3f} measured later: rolled back", flush=True)
            return
        self.planned, self.seen = later, Recorded(self.seen.queries, seen)
        self.kept.append(step)
        self.bytes_read, answers = self.table.read(self.some)
        if answers != self.answers:
            raise SystemExit(f"{step.name}: queries give other rows")
        self.print_state(f"+ {step.name}")


def _print_errors(step: Step, before: Recorded, after: Recorded) -> None:
    """Print what was expected of the reported half and what is measured of it."""
    sizes, left = before.by_template(), after.by_template()
    measured = {name: left[name] / size for name, size in sizes.items()}
    errors = {name: abs(step.by_template[name] - one) for name, one in measured.items()}
    of_queries = statistics.mean(errors[one.template] for one in before.queries)
    print(
        f"  of the half that was reported: expected {step.expected:.3f}, measured "
        f"{after.n_bytes / before.n_bytes:.3f}; mean error over templates "
        f"{statistics.mean(errors.values()):.3f}, over queries {of_queries:.3f}"
    )
    each = (f"{name} {step.by_template[name]:.2f}/{one:.2f}" for name, one in measured.items())
    print(f"  expected/measured: {', '.join(sorted(each))}", flush=True)


def replayed(table: WideTable, queries: Sequence[Query], *, n_read: int) -> Replay:
    """Take all steps with one log."""
    replay = Replay(table, queries, n_read=n_read)
    table.use_cubes(on=True)
    for advise in STEPS:
        started = time.monotonic()
        step = advise(table, replay.seen)
        print(f"{step.name} looked at in {time.monotonic() - started:.1f} s", flush=True)
        replay.take(step)
    return replay


def compare(table: WideTable, queries: Sequence[Query]) -> None:
    """Print what layouts by hand and Iceberg's Z-order make of the second half."""
    half = len(queries) // 2
    later = queries[half:]
    plain = sum(table.planned(later))
    for by_hand in BY_HAND:
        table.lay_out(by_hand)
        print(f"by hand {by_hand}: {_against(table, later, plain)}", flush=True)
    names = most_filtered(queries[:half], 4)
    table.zorder(names)
    print(f"Iceberg zorder({','.join(names)}): {_against(table, later, plain)}", flush=True)
    table.back()


def _against(table: WideTable, later: Sequence[Query], plain: int) -> str:
    n_bytes = sum(table.planned(later))
    skipped = (table.n_bytes * len(later) - n_bytes) / n_bytes
    return f"{n_bytes / plain:.3f} of the bytes, {skipped:.2f} skipped a scanned"


def is_met(name: str, replay: Replay) -> bool:
    """Print the goals of a log and whether they are met."""
    if name == "hopeless":
        kept = ", ".join(one.name for one in replay.kept) or "nothing"
        print(f"goal: nothing stays applied: {kept} {'MISSED' if replay.kept else 'met'}")
        return not replay.kept
    fewer = 1 - replay.planned / replay.first
    met = [fewer >= FEWER, replay.skipped >= SKIPPED]
    print(f"goal: {FEWER:.0%} fewer bytes: {fewer:.0%}, {'met' if met[0] else 'MISSED'}")
    print(f"goal: 2 skipped a scanned: {replay.skipped:.2f}, {'met' if met[1] else 'MISSED'}")
    return all(met)


def main() -> int:
    """Measure the logs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--read", type=int, default=50, help="later queries that are run, too")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--logs", nargs="+", choices=LOGS, default=list(LOGS))
    parser.add_argument("--work", type=Path, default=Path("var/bench/advice"))
    args = parser.parse_args()
    print(f"{args.rows:,} rows, {args.files} files, load {os.getloadavg()[0]:.1f}", flush=True)
    started, met = time.monotonic(), True
    with opened_lake(args.work.resolve(), extensions=(EXTENSION, CUBES)) as (spark, config):
        use_arrow(spark)
        for name in args.logs:
            print(f"\n{name}")
            table = WideTable(spark, config, name, rows=args.rows, files=args.files)
            queries = log(LOGS[name], args.queries, args.seed)
            if name == "star" and args.compare:
                compare(table, queries)
            n_read = 0 if name == "hopeless" else args.read
            met &= is_met(name, replayed(table, queries, n_read=n_read))
    print(f"{time.monotonic() - started:.0f} s in all")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
