"""Measures whether refresh keeps up with an event rate, and how old caches get meanwhile.

A metastore on MariaDB with tables of partitions, three simulated front ends over it, and the
portal's own follower and worker as programs. Rows are put into NOTIFICATION_LOG at fixed moments;
afterwards nothing may be owed, and every front end must answer alike. A naive refresher, one
statement an event and one at a time, is given the same events in the same run; and real statements
at the metastore show which rate of events a metastore reaches at all.
`python -m bench.refresh_load --help`; figures in bench/README.md.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.refresh_stack import (
    DB,
    LAKE,
    Bench,
    Event,
    Sample,
    check_endings,
    client_of,
    drained,
    make_table,
    make_tables,
    partition,
    put_events,
    running,
    say,
    spread,
)
from portal.connectors.metastore import Metastore as Client
from portal.lake.names import TableName
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.verify.domain.probing import Costs
from stack.clusters import CATALOG

NAME = "bi"


def naive(bench: Bench, chosen: Sequence[Event], *, seconds: float) -> int:
    """Refresh event by event, one statement at a time; returns how many it got through."""
    began, n_done = time.monotonic(), 0
    with client_of(bench, bench.clusters.new, dialect=Dialect.CATALOGS) as client:
        for event in chosen:
            if time.monotonic() - began >= seconds:
                break
            answer = client.refresh(_external(event.table), [f"dt={day}" for day in event.days])
            if answer is not None:
                raise SystemExit(f"The naive one failed: {answer}")
            n_done += 1
    return n_done


def statements(bench: Bench, *, seconds: float, writers: int) -> int:
    """Add partition after partition by so many writers at once; returns how many came to be."""
    until = time.monotonic() + seconds

    def write(number: int) -> int:
        n_done = 0
        with Client.connect(bench.config, timeout_seconds=120) as client:
            home = make_table(bench, client, name := TableName(LAKE, DB, f"written{number}"))
            while time.monotonic() < until:
                made = partition(name, home, f"d{n_done}")
                client.add_partitions([made], if_not_exists=True)
                n_done += 1
        return n_done

    with ThreadPoolExecutor(writers) as pool:
        return sum(pool.map(write, range(writers)))


def check(bench: Bench, tables: Sequence[str]) -> None:
    """Stop with the reason if anything failed or is owed, or front ends differ."""
    check_endings(bench)
    ((owed,),) = bench.ask("select count(*) from refresh_changedpartition")
    if owed:
        raise SystemExit(f"{owed} changes are still kept, though nothing waits.")
    for table in tables:
        seen = [_picture(bench, number, table) for number in range(3)]
        if seen != [seen[0]] * 3:
            raise SystemExit(f"Front ends differ on {table}: {seen}")


def report(bench: Bench, *, n_events: int, samples: Sequence[Sample]) -> Iterator[str]:
    """Yield what was measured, a line each."""
    rows = bench.ask(
        "select timestampdiff(microsecond, waited_since, ended_at) / 1e6, "
        "timestampdiff(microsecond, began_at, ended_at) / 1e6 from refresh_refresh "
        "where ended_at is not null"
    )
    whole, took = ([float(row[at]) for row in rows] for at in (0, 1))
    yield f"{n_events} events became {len(rows)} statements ({n_events / len(rows):.1f} to one)"
    yield "from the first change heard to its end: " + spread(whole)
    yield "a statement took: " + spread(took)
    yield "events not yet read: " + spread([one.behind for one in samples], unit="")
    yield "tables that waited: " + spread([one.waiting for one in samples], unit="")
    yield "the oldest that waited: " + spread([one.oldest for one in samples])


def _external(table: str) -> ExternalTable:
    return ExternalTable(ClusterId(NAME), CATALOG, DB, table)


def _picture(bench: Bench, number: int, table: str) -> Costs:
    dialect = Dialect.CATALOGS
    with client_of(bench, bench.clusters.new, dialect=dialect, number=number) as client:
        return client.plan(_external(table))


def main() -> None:
    """Load it, drain it, check it; then let the naive one try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("var/bench-refresh"))
    parser.add_argument("--rate", type=int, default=200, help="events a second")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--partitions", type=int, default=20, help="of each table")
    parser.add_argument("--naive-seconds", type=int, default=60)
    parser.add_argument("--statement-seconds", type=int, default=20)
    parser.add_argument("--writers", type=int, default=8, help="of real statements, at once")
    asked = parser.parse_args()
    work = asked.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    with running(work) as bench:
        every = make_tables(bench, n_tables=asked.tables, n_partitions=asked.partitions)
        bench.add_cluster(NAME, bench.clusters.new)
        bench.follow()
        bench.start("refresh_worker")
        chance = random.Random(1)
        chosen = [chance.choice(every) for _ in range(asked.rate * asked.seconds)]
        _measure(bench, chosen, asked)


def _measure(bench: Bench, chosen: Sequence[Event], asked: argparse.Namespace) -> None:
    samples = []
    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        putting = pool.submit(put_events, bench, chosen, rate=asked.rate)
        while not putting.done():
            samples.append(bench.sample())
            time.sleep(1)
    putting.result()
    seconds = time.monotonic() - began
    say(f"put {len(chosen)} events in {seconds:.0f} s ({len(chosen) / seconds:.0f} a second)")
    say(f"through {drained(bench, seconds=600):.1f} s after the last one")
    check(bench, sorted({event.table for event in chosen})[:20])
    for line in report(bench, n_events=len(chosen), samples=samples):
        say(line)
    n_done = naive(bench, chosen, seconds=asked.naive_seconds)
    say(
        f"naive: {n_done} events in {asked.naive_seconds} s ({n_done / asked.naive_seconds:.1f} "
        f"a second), so after {seconds:.0f} s it would have "
        f"{max(0, len(chosen) - round(n_done / asked.naive_seconds * seconds))} left"
    )
    asked_for = f"{asked.statement_seconds} s by {asked.writers} writers at once"
    n_real = statements(bench, seconds=asked.statement_seconds, writers=asked.writers)
    rate = n_real / asked.statement_seconds
    say(f"real statements: {n_real} partitions added in {asked_for} ({rate:.0f} a second)")


if __name__ == "__main__":
    main()
