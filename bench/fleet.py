"""Measures how the optimizer's rules keep 10,000 tables, compared with Amoro's published rules.

    python -m bench.fleet [--tables 10000] [--hours 24] [--seed 1] [--slots 48]

Generated metadata only: no Spark, no file is written. Both sides see the same commits and have the
same slots and speeds. Then the product's rules decide all tables and rank them, timed.
"""

import argparse
import os
import resource
import statistics
import sys
import time
from collections.abc import Sequence

import numpy as np

from bench.fleet_deciders import SPEED, Amoro, Ours, candidate_of, decision_of, instant
from bench.fleet_history import generate
from bench.fleet_world import SLOTS, Decider, Figures, World
from optimizer.core.domain.scoring import choose, rank
from optimizer.core.domain.tasks import TaskKind

GB = 1024**3
ROUNDS = 5


def main() -> None:
    """Run the bench and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slots", type=int, default=SLOTS)
    options = parser.parse_args()
    history = generate(n_tables=options.tables, seconds=options.hours * 3600, seed=options.seed)
    ingested = int(history.sizes.sum())
    print(
        f"{history.n_tables} tables, {history.n_commits} commits, {len(history.sizes)} files, "
        f"{ingested / GB:.0f} GB in {options.hours:g} hours; {options.slots} slots; "
        f"seed {options.seed}; load {os.getloadavg()[0]:.1f}"
    )
    sides: Sequence[tuple[str, Decider]] = (
        ("ours", Ours(options.tables)),
        ("Amoro", Amoro(options.tables)),
    )
    for name, decider in sides:
        begun = time.process_time()
        world = World(history, decider, slots=options.slots)
        found = world.run()
        report(name, found, ingested, time.process_time() - begun)
        slots = options.slots * options.hours * 3600
        print(f"  slots busy: {found.slot_seconds / slots:.0%} of their time")
        if name == "ours":
            rank_all(world)
        sys.stdout.flush()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\nmost memory {peak / 1024:.0f} MB, load {os.getloadavg()[0]:.1f}")


def report(name: str, found: Figures, ingested: int, seconds: float) -> None:
    """Print one side's figures."""
    print(f"\n{name} ({seconds:.0f} s of processor time)")
    print("  hour, files a table, small files a table:")
    for at, files, small in found.samples[:: max(1, len(found.samples) // 8)]:
        print(f"    {at / 3600:5.1f}  {files:8.2f}  {small:8.2f}")
    mean = statistics.fmean(files for _, files, _ in found.samples)
    print(f"  mean over the day: {mean:.2f} files a table; at its end by writer:")
    print("    " + ", ".join(f"{one} {n:.1f}" for one, n in sorted(found.by_writer.items())))
    print(
        f"  rewritten {found.rewritten_bytes / GB:.0f} GB "
        f"({found.rewritten_bytes / ingested:.2f} of what came in), {found.n_done} partitions; "
        f"lost to writers {found.lost_bytes / GB:.1f} GB, {found.n_lost} partitions"
    )
    print(f"  commit to queued: {quantiles(found.queued)}")
    print(f"  needed to begun: {quantiles(found.lags)}")


def quantiles(seconds: list[float]) -> str:
    """Return median, 95 % and the longest."""
    if not seconds:
        return "none"
    middle, late, last = np.quantile(seconds, [0.5, 0.95, 1.0])
    return f"median {middle:.1f} s, 95 % {late:.1f} s, longest {last:.1f} s ({len(seconds)})"


def rank_all(world: World) -> None:
    """Time the decisions on all tables as they stand, and the ranking of all of them."""
    decided, ranked, n_parts = [], [], 0
    for _ in range(ROUNDS):
        begun = time.process_time()
        decisions = [decision_of(parts, now=world.now).proposals for parts in world.tables if parts]
        decided.append(time.process_time() - begun)
        n_parts = sum(len(parts) for parts in world.tables)
        candidates = [
            candidate_of(table, parts, TaskKind.MINOR, since=world.now - table)
            for table, parts in enumerate(world.tables)
        ]
        begun = time.process_time()
        line = rank(candidates, speed=SPEED)
        choose(line, budget=1e3, whole_budget=1e4, speed=SPEED, now=instant(world.now))
        ranked.append(time.process_time() - begun)
    n_needed = sum(bool(one) for one in decisions)
    print(
        f"\n  all tables at the end: {n_parts} partitions decided again in "
        f"{statistics.median(decided):.2f} s ({n_needed} tables need work), {len(world.tables)} "
        f"tables ranked and fitted into a budget in {statistics.median(ranked):.3f} s of "
        f"processor time, medians of {ROUNDS}"
    )


if __name__ == "__main__":
    main()
