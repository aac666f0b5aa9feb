"""Measures how long judging the paths of 50,000 tables takes; the limit is five seconds.

One process, one thread, no Spark: what the scan's driver does between reading the metastore and
looking at partitions. The lake is made of texts, as a metastore holds them; one in twenty tables
is astray. The limit is held against processor time, which says the same on a busy machine.
`python -m bench.conformity`; figures in bench/README.md.
"""

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping
from datetime import date

from lifecycle.rules.domain.conformity import DatabaseFacts, Findings, TableFacts, judge
from lifecycle.rules.domain.templates import Template
from portal.lake.paths import LakePath

LIMIT_SECONDS = 5.0
TODAY = date(2026, 11, 22)
ALIASES = {"nn1:8020": "ns", "nn2:8020": "ns"}
SEED = 20_261_122


def lake_texts(n_tables: int, n_databases: int) -> list[tuple[str, str, str, str]]:
    """Return (db, table or '', owner, location): one in twenty tables lies astray."""
    rng = random.Random(SEED)
    rows = [
        (f"db{n}", "", f"owner{n % 97}", f"hdfs://ns/user/owner{n % 97}/db{n}.db")
        for n in range(n_databases)
    ]
    for n in range(n_tables):
        db, _, owner, place = rows[n % n_databases]
        lot = rng.random()
        if lot < 0.01:
            place = f"hdfs://ns/user/owner{rng.randrange(97)}/astray"
        elif lot < 0.02:
            owner = f"owner{rng.randrange(97)}"
        elif lot < 0.03 and n >= n_databases:
            place = rows[rng.randrange(n_databases, len(rows))][3]
        elif lot < 0.05:
            place = place.replace("hdfs://ns/", "hdfs://NN1:8020//")
        rows.append((db, f"t{n}", owner, f"{place}/t{n}"))
    return rows


def judged(rows: list[tuple[str, str, str, str]]) -> tuple[Findings, Mapping[str, float]]:
    """Read and judge; returns what was found and the processor seconds of both steps."""
    began, started = time.perf_counter(), time.process_time()
    read = [
        (db, tbl, owner, LakePath.parse(text, aliases=ALIASES)) for db, tbl, owner, text in rows
    ]
    databases = [DatabaseFacts(db, owner, place) for db, tbl, owner, place in read if not tbl]
    tables = [TableFacts(db, tbl, owner, place) for db, tbl, owner, place in read if tbl]
    parsed = time.process_time()
    templates = [Template.parse("hdfs://ns/user/{owner}", aliases=ALIASES)]
    found = judge(databases, tables, templates=templates, today=TODAY)
    ended = time.process_time()
    seconds = {"read": parsed - started, "judge": ended - parsed, "all": ended - started}
    return found, seconds | {"wall clock": time.perf_counter() - began}


def main() -> int:
    """Judge some rounds, print each, and fail when the fastest is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=50_000)
    parser.add_argument("--databases", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    rows = lake_texts(args.tables, args.databases)
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{args.tables:,} tables in {args.databases:,} databases; load of the machine {load}")
    best = float("inf")
    for number in range(1, args.rounds + 1):
        found, seconds = judged(rows)
        said = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
        print(f"round {number}: {said}")
        best = min(best, seconds["all"])
    finding = (*found.databases.values(), *found.tables.values())
    reasons = Counter(str(reason) for one in finding for reason in one.reasons)
    print(f"reasons: {dict(sorted(reasons.items()))}")
    print(f"fastest {best:.2f} processor seconds, limit {LIMIT_SECONDS:.0f} s")
    return 0 if best <= LIMIT_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
