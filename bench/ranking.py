"""Measures deciding, ranking and page times at 10,000 Iceberg tables in a real database.

    python -m bench.ranking [--database sqlite|mariadb] [--tables 10000] [--partitions 8]

The product's own services and pages over its own rows, in this process. First every table is heard
and decided, then the queue is ranked, then pages are opened. Figures are in bench/README.md.
"""

import argparse
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bench.portal_server import empty_database
from bench.queue_lag import processor_seconds

if TYPE_CHECKING:
    from django.test import Client

LAKE, OWNER = "main", "olga"
ROUNDS = 5
DEEP = 20
TABLES, QUEUE = "/optimizer/tables/", "/optimizer/queue/"
ADDRESSES = (
    TABLES,
    *(f"{TABLES}?sort={order}" for order in ("-score", "-files", "-small", "-commit")),
    f"{TABLES}?band=POOR",
    f"{TABLES}?show=task",
    f"{TABLES}?size=200",
    QUEUE,
    f"{QUEUE}?sort=noted",
    f"{QUEUE}?state=HELD",
    f"{QUEUE}?size=200",
    f"{QUEUE}now/",
    *(f"{TABLES}7/{tab}" for tab in ("", "files/", "commits/", "tasks/")),
)


@dataclass(frozen=True)
class Meter:
    """Prints what work takes; `pid` of the database's server, None where it is in this process."""

    pid: int | None = None

    def timed(self, what: str, work: Callable[[], Any], *, rounds: int = 1) -> Any:
        """Do something some times and print the medians."""
        from django.db import connection

        counted = [0]

        def count(execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
            counted[0] += 1
            return execute(sql, params, many, context)

        took, used, asked, answer = [], [], [], None
        with connection.execute_wrapper(count):
            for _ in range(rounds):
                clock, processor, database = time.monotonic(), time.process_time(), self._seconds()
                answer = work()
                took.append(time.monotonic() - clock)
                used.append(time.process_time() - processor)
                asked.append(self._seconds() - database)
        say(
            f"{what:48} {statistics.median(took):8.3f} s, longest {max(took):8.3f} s, "
            f"processor {statistics.median(used):7.3f} s, of the server "
            f"{statistics.fmean(asked):6.2f} s, {counted[0] // rounds} statements"
        )
        return answer

    def _seconds(self) -> float:
        return processor_seconds(self.pid) if self.pid else 0.0


@contextmanager
def server(kind: str, work: Path) -> Iterator[tuple[str, Meter]]:
    """Yield the address of an empty database of the portal, and its meter."""
    if kind == "sqlite":
        for name in work.glob("portal.sqlite3*"):
            name.unlink()
        yield "", Meter()
        return
    with empty_database(work) as database:
        yield database.portal_url, Meter(database.process.pid)


def queue(meter: Meter, *, n_tables: int, n_decided: int) -> None:
    """Hear and decide all tables, and rank what waits."""
    from django.utils import timezone

    from optimizer.core.domain.estimates import UNMEASURED
    from optimizer.core.domain.scoring import choose, rank
    from optimizer.core.services import dispatcher
    from optimizer.core.services.speeds import speed_of
    from optimizer.iceberg.planner.services import maintainer
    from optimizer.iceberg.planner.services.maintainer import ICEBERG
    from optimizer.iceberg.planner.services.planner import AT_ONCE, decide_due, queue_events
    from optimizer.models import IcebergTable, OptimizeTask, PolicyVersion

    rows = list(IcebergTable.objects.order_by("pk"))

    def hear() -> int:
        chunks = range(0, len(rows), AT_ONCE)
        return sum(queue_events(rows[n : n + AT_ONCE], now=timezone.now()) for n in chunks)

    def decide() -> int:
        return sum(decide_due(LAKE, now=timezone.now()) for _ in range(0, n_decided, AT_ONCE))

    def rank_all() -> int:
        speed = speed_of(LAKE) or UNMEASURED
        line = rank(
            map(maintainer._candidate, dispatcher.waiting(ICEBERG, LAKE, now=timezone.now())),
            speed=speed,
        )
        return len(choose(line, budget=1e9, whole_budget=1e9, speed=speed, now=timezone.now()))

    say(f"{meter.timed(f'first words on {n_tables} tables', hear)} tasks by them")
    say(f"{meter.timed(f'decide_due over {n_decided} tables', decide)} tables decided")
    waiting = dispatcher.waiting(ICEBERG, LAKE, now=timezone.now())
    say(f"{waiting.count()} tasks wait, {OptimizeTask.objects.count()} are kept")
    meter.timed("all that waits read, ranked, fitted in a budget", rank_all, rounds=ROUNDS)

    def choose_now() -> int:
        return len(dispatcher.choose(ICEBERG, LAKE, now=timezone.now()))

    meter.timed("choose_tasks, no budget", choose_now, rounds=ROUNDS)
    PolicyVersion.objects.filter(scope="*").update(
        values={"is_on": True, "target_bytes": 128 * 1024**2, "budget_gb_hours": 1e-4}
    )
    meter.timed("choose_tasks, a spent budget: holds are written", choose_now)
    meter.timed("choose_tasks, a spent budget: they stand", choose_now, rounds=ROUNDS)


def pages(sessions: dict[str, str]) -> None:
    """Open every page of both people and print what each costs."""
    from django.test import Client

    from tests.component.whole.test_page_costs import measure

    for who, session in sessions.items():
        client = Client()
        client.cookies["sessionid"] = session
        for url in (*ADDRESSES, deep(client, TABLES), deep(client, QUEUE)):
            took = []
            for _ in range(ROUNDS + 1):
                clock = time.monotonic()
                answer = client.get(url)
                took.append(1000 * (time.monotonic() - clock))
                if answer.status_code != 200:
                    raise SystemExit(f"{url} answers {answer.status_code}")
            cost = measure(client, url)
            say(
                f"{who:5} {url[:52]:52} {statistics.median(took[1:]):6.0f} ms, "
                f"longest {max(took[1:]):6.0f}, {cost.queries:3} queries, {cost.rows:7} rows"
            )


def deep(client: "Client", url: str) -> str:
    """Turn a list's pages some times and give where that leads."""
    found = url
    for _ in range(DEEP):
        following = re.search(r'rel="next" href="([^"]+)"', client.get(found).content.decode())
        if following is None:
            break
        found = url + unescape(following[1])
    return found


def people() -> dict[str, str]:
    """Make an admin and an owner of 40 tables; returns each one's session."""
    from django.test import Client

    from portal.access.services import person_create

    sessions = {}
    for name, roles in (("ada", ("admin",)), (OWNER, ())):
        user = person_create(name, password=uuid4().hex, email="", roles=roles)
        client = Client()
        client.force_login(user)
        sessions[name] = client.cookies["sessionid"].value
    return sessions


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=("sqlite", "mariadb"), default="sqlite")
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=8, help="of each table")
    parser.add_argument("--decide", type=int, help="only so many tables are decided")
    parser.add_argument("--work", type=Path, default=Path("var/bench/ranking"))
    asked = parser.parse_args()
    work = asked.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    with server(asked.database, work) as (url, meter):
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "portal.settings.test",
            "LAKEWARDEN_VAR": str(work),
            "LAKEWARDEN_LAKES": str(work / "lakes.json"),
            "LAKEWARDEN_DB_URL": url,
        }
        measure_all(work, asked, meter)


def measure_all(work: Path, asked: argparse.Namespace, meter: Meter) -> None:
    """Fill the database, then measure."""
    import django
    from django.core.management import call_command

    django.setup()
    from django.db import connection
    from django.utils import timezone

    from bench.ranking_data import fill
    from tests.component.lifecycle.plan_world import lake_entry

    (work / "lakes.json").write_text(json.dumps({LAKE: lake_entry(work)}), encoding="utf-8")
    call_command("migrate", verbosity=0)
    began = time.monotonic()
    fill(n_tables=asked.tables, n_partitions=asked.partitions, now=timezone.now())
    say(
        f"{connection.vendor}: {asked.tables} tables of {asked.partitions} partitions, filled in "
        f"{time.monotonic() - began:.0f} s; load {os.getloadavg()[0]:.1f}"
    )
    queue(meter, n_tables=asked.tables, n_decided=asked.decide or asked.tables)
    pages(people())
    say(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
