"""Measures change capture: the full load, the apply, the lag, many tables, and a named peer.

A MariaDB of its own, whose data is made here; every side that is compared has processes of its own
and ends with a table of the same count and sums. What is warmed up, and how, says each step's own
module. `python -m bench.cdc`; figures and goals in bench/README.md.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import cdc_lag, cdc_load, cdc_peer, cdc_source, cdc_tables, cdc_upsert
from bench.cdc_source import running
from bench.cdc_spark import HEAP, apart

Found = dict[str, Any]


def load(work: Path, asked: argparse.Namespace) -> Found:
    """Load a table by the product and by its peer."""
    sizes = asked.rows, asked.warm
    with running(work) as shop:
        shop.make("warm", asked.warm)
        shop.make("sales", asked.rows)
        found: Found = {
            name: apart(side, shop.address, work / name, *sizes)
            for name, side in (("peer", cdc_load.peer), ("ours", cdc_load.load))
        }
        check(found, shop.digest("sales"))
    ratio = found["ours"]["seconds"] / found["peer"]["seconds"]
    return {**found, "times": round(ratio, 2), "goal": cdc_load.MOST_TIMES}


def upsert(work: Path, asked: argparse.Namespace) -> Found:
    """Apply a changelog, and upsert the same batches barely."""
    few = max(cdc_source.CHANGES, asked.warm // 10)
    sizes = (("warm", asked.warm, few), ("sales", asked.rows, asked.changes))
    with running(work) as shop:
        both = [
            cdc_upsert.batches_of(shop, name, work, n_rows=n_rows, n_changes=n_changes)
            for name, n_rows, n_changes in sizes
        ]
        found: Found = {
            name: apart(side, shop.address, work / name, *both)
            for name, side in (("peer", cdc_upsert.peer), ("ours", cdc_upsert.ours))
        }
        check(found, shop.digest("sales"))
    ratios = {
        part: round(found["ours"][part]["seconds"] / found["peer"][part]["seconds"], 2)
        for part in ("load", "changes")
    }
    return {**found, "ratios": ratios, "times": max(ratios.values()), "goal": cdc_upsert.MOST_TIMES}


def lag(work: Path, asked: argparse.Namespace) -> Found:
    """Write at several steady paces."""
    found: Found = {}
    with running(work) as shop:
        for rate in map(int, asked.rates.split(",")):
            shop.make("sales", asked.lag_rows)
            sizes = asked.lag_rows, rate, asked.seconds
            name = f"{rate} rows/s"
            found[name] = apart(cdc_lag.lag, shop.address, work / str(rate), *sizes)
            check({name: found[name]}, shop.digest("sales"))
    return found


def tables(work: Path, asked: argparse.Namespace) -> Found:
    """Apply rounds of changes of many tables, and of one with as many rows."""
    sizes = asked.round_rows, asked.rounds
    return {
        f"tables: {n}": apart(cdc_tables.rounds, work / str(n), n, *sizes)
        for n in (asked.tables, 1)
    }


def peer(work: Path, asked: argparse.Namespace) -> Found:
    """Capture the same changes by the product and by Debezium."""
    return cdc_peer.captured(work, asked.warm, asked.changes)


def check(found: Found, wanted: tuple[str, ...]) -> None:
    """Compare what each side ended with, and leave it out of the figures."""
    for name, one in found.items():
        if (has := tuple(one.pop("digest"))) != wanted:
            raise SystemExit(f"The table of {name} has {has}, the source {wanted}.")


STEPS: dict[str, Callable[[Path, argparse.Namespace], Found]] = {
    "load": load,
    "upsert": upsert,
    "lag": lag,
    "tables": tables,
    "peer": peer,
}


def main() -> int:
    """Run the steps that are asked for, each in a folder of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(STEPS), help="steps, with commas between them")
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows of the table")
    parser.add_argument("--warm", type=int, default=100_000, help="rows of what warms up")
    parser.add_argument("--changes", type=int, default=1_000_000, help="of upsert and peer")
    parser.add_argument("--rates", default="200,1000", help="of lag, in rows a second")
    parser.add_argument("--seconds", type=int, default=300, help="of each rate")
    parser.add_argument("--lag-rows", type=int, default=1_000_000, help="rows there at first")
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--round-rows", type=int, default=100_000, help="of all tables together")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, default=Path("var/bench"))
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    told: Found = {"cores": os.cpu_count(), "heap": HEAP, "load_average": os.getloadavg()}
    for name in asked.only.split(","):
        with tempfile.TemporaryDirectory(prefix="cdc-", dir=asked.work.resolve()) as folder:
            told[name] = STEPS[name](Path(folder), asked)
        sys.stderr.write(f"{name}: {json.dumps(told[name])}\n")
    sys.stdout.write(json.dumps(told, indent=2) + "\n")
    goals = [one for one in told.values() if isinstance(one, dict) and "goal" in one]
    return 0 if all(one["times"] <= one["goal"] for one in goals) else 1


if __name__ == "__main__":
    sys.exit(main())
