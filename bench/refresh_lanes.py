"""Measures table waits while a very large table is refreshed.

With lanes, without, and behind one lock.

A real metastore holds one table of 100,000 partitions and many small ones; simulated front ends
load from it what real ones load, so a very large table is slow because the metastore has much to
give. The small tables change all the time. In turn, on the same servers:

- 3.x: the very large table changes again and again; lanes on, then off (LAKEWARDEN_REFRESH_LANES),
  then a refresher that takes one change after the other, as each job would ask for it;
- 2.2, where one lock covers all refreshes of a front end: the very large table out of its hours,
  within them, and the same simple refresher.

A wait goes from the first change heard of a table until every front end has all of it.
`python -m bench.refresh_lanes --help`; figures in bench/README.md.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.refresh_giant import GIANT, make_giant
from bench.refresh_stack import (
    DB,
    Bench,
    Event,
    check_endings,
    client_of,
    drained,
    make_tables,
    put_events,
    put_now,
    running,
    say,
    spread,
)
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.worker.domain.lanes import Lane
from stack.clusters import CATALOG, RESOURCE
from stack.process import end_group
from stack.servers.starrocks import StarRocks
from stack.starrocks.spec import ResourceTable

NEW, OLD, OLD_DB = "bi", "reports", "ext"
GOAL_SECONDS, GOAL_TIMES = 5.0, 5.0
_STOP_SECONDS = 90.0
_DRAIN_SECONDS = 300.0
_NEVER = 1e9
_LONGEST = 600
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
Send = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Load:
    """What happens.

    Changes of small tables at a rate, and beside them one of the very large table.
    """

    small: Sequence[Event]
    rate: float
    giant: Event
    giant_every: float = _NEVER

    @property
    def seconds(self) -> float:
        """How long it goes on."""
        return len(self.small) / self.rate

    def moments(self) -> list[tuple[float, Event]]:
        """Return every change with its second."""
        found = [(number / self.rate, event) for number, event in enumerate(self.small)]
        return sorted([*found, *self._of_giant()], key=lambda one: one[0])

    def _of_giant(self) -> Iterator[tuple[float, Event]]:
        at = 0.0
        while at < self.seconds:
            yield at, self.giant
            at += self.giant_every


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of the worker for the very large table."""

    kind: str
    lane: Lane
    waited: float
    took: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What a phase has shown: how long each small table waited, what the very large table was sent.

    `sent`: the part of each wait that was over when the first statement was sent.
    """

    waits: list[float]
    sent: list[float]
    giants: list[Statement]


def put(bench: Bench, load: Load) -> None:
    """Put the changes into the notification log at their moments, whether anybody reads or not."""
    with ThreadPoolExecutor(1) as pool:
        began = time.time()
        putting = pool.submit(put_events, bench, load.small, rate=load.rate)
        for at, event in load.moments():
            if event is load.giant:
                time.sleep(max(0.0, began + at - time.time()))
                put_now(bench, event)
        putting.result()


def seen_since(bench: Bench, cluster: str, since: datetime) -> Seen:
    """Read what was sent since."""
    rows = bench.ask(
        "select t.table, r.kind, r.lane, r.waited_since, r.began_at, r.ended_at "
        "from refresh_refresh r join refresh_refreshtarget t on t.id = r.target_id "
        "join refresh_cluster c on c.id = r.cluster_id where c.name = %s and r.began_at >= %s "
        "order by r.began_at",
        cluster,
        since.replace(tzinfo=None),
    )
    ends: dict[tuple[str, datetime], datetime] = {}
    begins: dict[tuple[str, datetime], datetime] = {}
    giants = []
    for table, kind, lane, waited_since, began, ended in rows:
        if table == GIANT:
            waited, took = began - waited_since, ended - began
            giants.append(Statement(kind, Lane(lane), waited.total_seconds(), took.total_seconds()))
        else:
            # A table may need several statements; it has waited until the last of them ended.
            ends[table, waited_since] = ended
            begins.setdefault((table, waited_since), began)
    waits, sent = (
        [(at - since).total_seconds() for (_, since), at in moments.items()]
        for moments in (ends, begins)
    )
    return Seen(waits, sent, giants)


def new_phase(bench: Bench, load: Load, *, has_lanes: bool) -> Seen:
    """Let a worker of its own take a load in to the end (3.x)."""
    began = datetime.now(UTC)
    worker = bench.start("refresh_worker", LAKEWARDEN_REFRESH_LANES=str(int(has_lanes)))
    put(bench, load)
    drained(bench, seconds=_DRAIN_SECONDS)
    end_group(worker.pid, grace_seconds=_STOP_SECONDS)
    check_endings(bench)
    return seen_since(bench, NEW, began)


def old_phases(bench: Bench, load: Load) -> tuple[Seen, Seen]:
    """Let one worker take a load in out of the large table's hours, then within them (2.2)."""
    began = datetime.now(UTC)
    far = _DAYS[(began + timedelta(days=3)).weekday()]
    _set_hours(bench, f"{far} 00:00-01:00")
    bench.start("refresh_worker")
    put(bench, load)
    drained(bench, seconds=_DRAIN_SECONDS, but=1)
    closed = seen_since(bench, OLD, began)
    if closed.giants:
        raise SystemExit(f"The very large table was refreshed out of its hours: {closed.giants}")
    opened = datetime.now(UTC)
    _set_hours(bench, "")
    put_events(bench, load.small, rate=load.rate)
    drained(bench, seconds=_DRAIN_SECONDS)
    check_endings(bench)
    return closed, seen_since(bench, OLD, opened)


def one_by_one(load: Load, send: Send) -> tuple[list[float], int]:
    """Refresh change after change as each comes; gives small tables' waits and how many are left.

    It begins nothing after the last change came. Those that are left have waited until the end,
    and count with that.
    """
    began = time.monotonic()
    waits: list[float] = []
    n_left = 0
    for at, event in load.moments():
        is_small = event is not load.giant
        passed = time.monotonic() - began
        if passed < load.seconds:
            time.sleep(max(0.0, at - passed))
            send(event)
            passed = time.monotonic() - began
        elif is_small:
            n_left += 1
        if is_small and passed > at:
            waits.append(passed - at)
    return waits, n_left


def sender(bench: Bench, server: StarRocks, *, dialect: Dialect) -> Send:
    """Return what a job would ask for: the table, then the partitions that it has written."""
    catalog, db = (CATALOG, DB) if dialect is Dialect.CATALOGS else ("", OLD_DB)

    def send(event: Event) -> None:
        table = ExternalTable(ClusterId("any"), catalog, db, event.table)
        with client_of(bench, server, dialect=dialect, seconds=_LONGEST) as client:
            answer = client.refresh(table)
            if answer is None and event.days:
                answer = client.refresh(table, [f"dt={day}" for day in event.days])
        if answer is not None:
            raise SystemExit(f"{table} was not refreshed: {answer}")

    return send


def add_old_cluster(bench: Bench, tables: Sequence[str]) -> None:
    """Leave the cluster of 3.x in peace, and add one of 2.2 with a table on a resource for each."""
    bench.run("refresh_cluster", "pause", NEW, "--reason", "the other one is measured")
    columns = (("id", "bigint"), ("dt", "varchar(64)"))
    for table in tables:
        bench.clusters.old.add_table(ResourceTable(OLD_DB, table, RESOURCE, DB, table, columns))
    bench.add_cluster(OLD, bench.clusters.old)


def tell_new(on: Seen, off: Seen) -> None:
    """Say what lanes did, and whether it is what was promised."""
    tell("lanes on", on)
    tell("lanes off", off)
    worst = max(on.waits)
    times = max(off.waits) / worst
    is_short, is_less = _met(is_met=worst <= GOAL_SECONDS), _met(is_met=times >= GOAL_TIMES)
    say(f"  goal: nobody waits longer than {GOAL_SECONDS:.0f} s: worst {worst:.2f} s, {is_short}")
    say(f"  goal: off, {GOAL_TIMES:.0f} times as long at least: {times:.1f} times, {is_less}")


def tell_old(closed: Seen, opened: Seen) -> None:
    """Say whether anybody waited longer than the lock was held."""
    tell("out of the very large table's hours", closed)
    tell("within them", opened)
    hold, alone = max(one.took for one in opened.giants), max(closed.waits)
    worst = max(opened.waits)
    say(
        f"  goal: no longer than the longest hold ({hold:.2f} s) and what a wait takes without a "
        f"very large table ({alone:.2f} s): worst {worst:.2f} s, "
        f"{_met(is_met=worst <= hold + alone)}"
    )


def tell(name: str, seen: Seen) -> None:
    """Say what a phase has shown."""
    say(f"  {name}: {len(seen.waits)} waits of small tables: {spread(seen.waits)}")
    say(f"    until the first statement was sent: {spread(seen.sent)}")
    for one in seen.giants:
        words = f"waited {one.waited:.1f} s, took {one.took:.1f} s"
        say(f"    very large table {one.kind}, lane {one.lane.name}: {words}")


def tell_simple(waits: Sequence[float], n_left: int, *, seconds: float) -> None:
    """Say how far the simple refresher came."""
    say(f"  one by one: {len(waits)} changes of small tables: {spread(waits)}")
    say(f"    of them not done after {seconds:.0f} s, and waiting still: {n_left}")


def _set_hours(bench: Bench, hours: str) -> None:
    bench.ask("update refresh_cluster set large_table_window = %s where name = %s", hours, OLD)


def _met(*, is_met: bool) -> str:
    return "met" if is_met else "MISSED"


def measure(bench: Bench, asked: argparse.Namespace) -> None:
    """Run every phase and say what it has shown."""
    chance = random.Random(1)
    began = time.monotonic()
    every = make_tables(bench, n_tables=asked.tables, n_partitions=asked.partitions)
    make_giant(bench, asked.giant)
    seconds = time.monotonic() - began
    say(
        f"{asked.tables} small tables, a very large table of {asked.giant} partitions, in "
        f"{seconds:.0f} s"
    )
    small = [chance.choice(every) for _ in range(round(asked.rate * asked.seconds))]
    load = Load(small, asked.rate, Event(GIANT, kind="ALTER_TABLE"), asked.giant_every)
    measure_new(bench, load)
    n_small = round(asked.old_rate * asked.old_seconds)
    written = Event(GIANT, tuple(f"d{number}" for number in range(asked.backfill)))
    add_old_cluster(bench, [GIANT, *(f"t{number}" for number in range(asked.tables))])
    measure_old(bench, Load(small[:n_small], asked.old_rate, written))


def measure_new(bench: Bench, load: Load) -> None:
    """Measure 3.x."""
    bench.add_cluster(NEW, bench.clusters.new)
    bench.follow()
    say(
        f"3.x: {load.rate} changes of small tables a second for {load.seconds:.0f} s, the very "
        "large table "
        f"changes every {load.giant_every:.0f} s"
    )
    tell_new(new_phase(bench, load, has_lanes=True), new_phase(bench, load, has_lanes=False))
    send = sender(bench, bench.clusters.new, dialect=Dialect.CATALOGS)
    tell_simple(*one_by_one(load, send), seconds=load.seconds)


def measure_old(bench: Bench, load: Load) -> None:
    """Measure 2.2."""
    say(
        f"2.2: {load.rate} changes of small tables a second for {load.seconds:.0f} s, "
        f"{len(load.giant.days)} partitions of the very large table at once"
    )
    tell_old(*old_phases(bench, load))
    send = sender(bench, bench.clusters.old, dialect=Dialect.RESOURCES)
    tell_simple(*one_by_one(load, send), seconds=load.seconds)


def main() -> None:
    """Measure in a new folder, and remove it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, default=Path("var"), help="where its folder is made")
    parser.add_argument("--giant", type=int, default=100_000, help="its partitions")
    parser.add_argument("--tables", type=int, default=40, help="small ones")
    parser.add_argument("--partitions", type=int, default=10, help="of each small one")
    parser.add_argument("--rate", type=float, default=1.0, help="changes of small ones a second")
    parser.add_argument("--seconds", type=float, default=45.0, help="of each phase on 3.x")
    parser.add_argument("--giant-every", type=float, default=30.0, help="seconds between changes")
    parser.add_argument("--old-rate", type=float, default=1.0, help="the same on 2.2")
    parser.add_argument("--old-seconds", type=float, default=30.0, help="of each phase on 2.2")
    parser.add_argument(
        "--backfill", type=int, default=600, help="partitions of the very large table on 2.2"
    )
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    made = tempfile.TemporaryDirectory(prefix="bench-lanes-", dir=asked.work.resolve())
    with made as folder, running(Path(folder)) as bench:
        measure(bench, asked)


if __name__ == "__main__":
    main()
