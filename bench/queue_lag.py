"""Measures the time from a commit in the metastore until its task is in the queue.

    python -m bench.queue_lag [--tables 10000] [--rate 50] [--burst 2000]

A metastore on MariaDB and the portal's own follower as a program. Commits are put into
NOTIFICATION_LOG at fixed moments, each of another table whose files need to be merged; then many at
one moment. Nobody looks at the tables: the task is that of the commit's first word. A task counts
as queued when another connection sees it. Figures are in bench/README.md.
"""

import argparse
import json
import os
import random
import shutil
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from bench.refresh_stack import (
    DB,
    LAKE,
    Bench,
    Event,
    check_alarms,
    p95,
    put_events,
    running,
    say,
    spread,
)
from stack.servers.mariadb import PORTAL
from tests.component.optimizer.iceberg.iceberg_said import parameters, table_object

MIB = 1024**2
LOOK_EVERY = 0.05
LIMIT = 5.0
COLUMNS = 30
ON = {"is_on": True, "target_bytes": 128 * MIB}


class Watch:
    """Looks again and again which tables have a task, and keeps when each was first seen."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.seen: dict[str, float] = {}

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        last = 0
        with self._bench.database.connect(PORTAL) as link, link.cursor() as cursor:
            while not self._stop.wait(LOOK_EVERY):
                # Two writers' keys can be seen out of order, so the last ones are asked for again.
                cursor.execute(
                    "select task.id, of.`table` from optimizer_optimizetask task "
                    "join optimizer_icebergtable of on of.id = table_id where task.id > %s",
                    (max(0, last - 1_000),),
                )
                now = time.monotonic()
                for key, table in cursor.fetchall():
                    self.seen.setdefault(table, now)
                    last = max(last, key)


def made(table: str) -> Event:
    """Return the event of a new table."""
    said = {"db": DB, "table": table, "tableObjJson": _object(table, 0)}
    return Event(table, kind="CREATE_TABLE", message=json.dumps(said))


def committed(table: str) -> Event:
    """Return the event of a commit after which the table has forty files of 8 MiB."""
    said = {
        "db": DB,
        "table": table,
        "tableObjBeforeJson": _object(table, 0),
        "tableObjAfterJson": _object(table, 1),
    }
    return Event(table, kind="ALTER_TABLE", message=json.dumps(said))


def _object(table: str, version: int) -> str:
    summary = {"added-data-files": 40, "total-data-files": 40, "total-files-size": 320 * MIB}
    columns = [{"id": n, "name": f"column_{n}", "type": "string"} for n in range(1, COLUMNS + 1)]
    found = parameters(version, uuid=f"uuid-{table}", summary=summary)
    found["current-schema"] = json.dumps({"fields": columns})
    return table_object(found, db=DB, table=table)


def switch_on(bench: Bench) -> None:
    """Let the lake's policy be that the optimizer works."""
    bench.ask(
        "insert into optimizer_policyversion (lake, format, scope, version, is_current, `values`, "
        "`by`, `at`, reason) "
        "values (%s, 'iceberg', '*', 1, 1, %s, 'bench', utc_timestamp(6), 'bench')",
        str(LAKE),
        json.dumps(ON),
    )


def known(bench: Bench, n_tables: int, *, seconds: float) -> None:
    """Wait until the portal knows all tables."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        ((n_known,),) = bench.ask("select count(*) from optimizer_icebergtable")
        if n_known == n_tables and not bench.sample().behind:
            return
        time.sleep(0.5)
    raise SystemExit(f"The portal knows {n_known} of {n_tables} tables after {seconds:.0f} s.")


def phase(bench: Bench, watch: Watch, tables: Sequence[str], *, rate: float, name: str) -> None:
    """Commit once to each of some tables and print how long each waited for its task."""
    (follower,) = bench.programs
    used = processor_seconds(follower.pid)
    put_at = put_events(bench, [committed(table) for table in tables], rate=rate)
    began = time.monotonic()
    written = began - put_at[-1]
    while not watch.seen.keys() >= set(tables):
        if time.monotonic() - began > 120:
            missing = len(set(tables) - watch.seen.keys())
            raise SystemExit(f"{missing} commits have no task after two minutes.")
        time.sleep(0.1)
    lags = [watch.seen[table] - at for table, at in zip(tables, put_at, strict=True)]
    used = processor_seconds(follower.pid) - used
    say(f"{name}: {len(lags)} commits, commit to task queued: {spread(lags)}")
    say(f"  {1000 * used / len(lags):.1f} ms of the portal's processor time a commit")
    say(f"  the last was written {written:.2f} s after its moment, which counts as lag")
    say(f"  put at {len(lags) / max(put_at[-1] - put_at[0], 0.1):.0f} a second; " + _met(lags))


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return sum(map(int, said.rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def _met(lags: Sequence[float]) -> str:
    n_late = sum(one > LIMIT for one in lags)
    return f"{n_late} later than {LIMIT:.0f} s; goal {'met' if p95(lags) <= LIMIT else 'missed'}"


def main() -> None:
    """Let the portal know the tables, then commit to them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("var/bench-queue-lag"))
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=50, help="commits a second")
    parser.add_argument("--burst", type=int, default=2_000, help="of the tables, at one moment")
    asked = parser.parse_args()
    work = asked.work.resolve()
    shutil.rmtree(work, ignore_errors=True)  # the tables of a run before would have their tasks
    work.mkdir(parents=True)
    tables = [f"t{n}" for n in range(asked.tables)]
    with running(work) as bench:
        switch_on(bench)
        bench.follow()
        put_events(bench, [made(table) for table in tables], rate=2_000)
        known(bench, len(tables), seconds=300)
        say(f"{len(tables)} tables are known; load {os.getloadavg()[0]:.1f}")
        random.Random(1).shuffle(tables)
        with Watch(bench) as watch:
            steady, burst = tables[asked.burst :], tables[: asked.burst]
            phase(bench, watch, steady, rate=asked.rate, name="steady")
            phase(bench, watch, burst, rate=1e9, name="at one moment")
        check_alarms(bench)
        say(f"no alarm; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
