"""Drops very many partitions and restores them by day: seconds, memory, and the pages meanwhile.

The whole way through the portal's services on HDFS, a metastore and a portal database on MariaDB:
scan, notice, scan, plan, two approvals, drop, preview and restore of the day.
`python -m bench.big_drop --help`; figures in bench/README.md.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyspark
import requests

from bench.big_drop_lake import make_tables
from portal.spark.process_table import group_members
from stack.servers.portal import Site
from stack.stack import Stack

if TYPE_CHECKING:
    from portal.runs.models import Run

LAKE = "main"
APPROVERS = ("ben", "cleo", "dan")
PEOPLE = ("ada", *APPROVERS, "alice")
LISTS = ("expiring", "databases", "backups", "dropped", "holds")


def peak_mib(pid: int | str) -> float:
    """Return the most memory that a process has had, in MiB; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def part_of(pid: int) -> str:
    """Return which part of an application a process is."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8")
    except OSError:
        return "driver"
    return "JVM" if name.startswith("java") else "driver"


@dataclass
class Watch:
    """Watches a run from the side: memory of its application, and answers of the pages."""

    pages: dict[str, str]
    site: str
    session: str
    memory: dict[str, float] = field(default_factory=dict)
    took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @contextmanager
    def during(self, run: "Run") -> Iterator[None]:
        """Watch while the block drives a run."""
        stop = threading.Event()
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins again
        threads = [
            threading.Thread(target=self._memory, args=(run.pk, stop)),
            threading.Thread(target=self._pages, args=({"run": f"/runs/{run.pk}/"}, stop)),
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            self.memory["worker"] = max(self.memory.get("worker", 0.0), peak_mib("self"))

    def _memory(self, run_id: Any, stop: threading.Event) -> None:
        from django.db import connection

        from portal.runs.models import Run

        while not stop.wait(1):
            pgid = Run.objects.values_list("pgid", flat=True).get(pk=run_id)
            for pid in group_members(pgid) if pgid else ():
                name = part_of(pid)
                self.memory[name] = max(self.memory.get(name, 0.0), peak_mib(pid))
        connection.close()

    def _pages(self, own: dict[str, str], stop: threading.Event) -> None:
        with requests.Session() as asked:
            self._ask(asked, {**self.pages, **own}, stop)

    def _ask(self, asked: requests.Session, pages: dict[str, str], stop: threading.Event) -> None:
        while not stop.is_set():
            for kind, url in pages.items():
                began = time.monotonic()
                answer = asked.get(
                    self.site + url, cookies={"sessionid": self.session}, timeout=120
                )
                answer.raise_for_status()
                self.took[kind].append((time.monotonic() - began) * 1000)
                if stop.wait(0.2):
                    return

    def report(self, what: str) -> None:
        """Print what was seen, and begin again."""
        peaks = ", ".join(f"{name} {mib:.0f}" for name, mib in sorted(self.memory.items()))
        print(f"{what}: peak MiB {peaks}")
        for kind, values in sorted(self.took.items()):
            ranked = sorted(values)
            p50, p95 = ranked[len(ranked) // 2], ranked[int(len(ranked) * 0.95)]
            spread = f"p50 {p50:6.0f} p95 {p95:6.0f} max {ranked[-1]:6.0f} ms"
            print(f"  {kind:10} n {len(ranked):4} {spread}")
        self.memory.clear()
        self.took.clear()


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print how long a step took."""
    began = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)


def seconds_of(run: "Run", what: str) -> None:
    """Print the parts of a run from its row: start, application, and what the worker did after."""
    marks = [run.claimed_at, run.submitted_at, run.settling_at, run.finished_at]
    names = ("prepare", "application", "settle and ingest")
    parts = [
        f"{name} {(end - begin).total_seconds():.1f}"
        for name, begin, end in zip(names, marks, marks[1:], strict=False)
        if begin is not None and end is not None
    ]
    print(f"{what}: {run.state}, {', '.join(parts)} s; {run.result} {run.error}", flush=True)


def planned(stack: Stack, people: dict[str, Any], *, n: int, n_tables: int) -> tuple[str, "Run"]:
    """Make the lake, scan it twice, plan and approve; returns a table and the drop's run."""
    from django.utils import timezone

    from lifecycle.drop.selectors.plans import typed_name
    from lifecycle.drop.services.execution import plans_start_due
    from lifecycle.drop.services.plans import plan_request
    from lifecycle.models import DatabaseSetting, DropPlan, PlanState
    from lifecycle.schedule.services import daily_cycle
    from portal.runs.requests.services import run_drive
    from tests.support.plan_words import plan_approve
    from tests.support.scan_lake import ScanLake

    config = stack.config(LAKE)
    lake = ScanLake(config, config.path(f"{stack.lake_root}/bench"))
    with step(f"{n:,} partitions in {n_tables} tables, registered and filled"):
        if stack.mariadb is None:
            raise SystemExit("the bench needs the stack's MariaDB")
        with stack.mariadb.connect() as link:
            tables = make_tables(lake, link, n, n_tables)
    DatabaseSetting.objects.create(
        lake=LAKE, db=lake.db_name("big"), mode="ACT", template=f"{lake.root}/user/{{owner}}"
    )
    lake.metastore.close()
    now = timezone.now()
    with step("scan and notices"):
        daily_cycle(LAKE, now=now - timedelta(days=8), say=print)
    with step("second scan"):
        daily_cycle(LAKE, now=now, say=print)
    with step("plan"):
        plan = plan_request(LAKE, tables=tables, reason="old", user=people["ada"], now=now)
        drawn = run_drive(str(plan.plan_run_id))
    plan = DropPlan.objects.select_related("approval").get(pk=plan.pk)
    print(f"plan {plan.state}: {plan.n_items:,} items, left out {plan.left_out}, {drawn.error}")
    for name in APPROVERS:
        if plan.state == PlanState.PENDING:
            plan = plan_approve(
                plan.pk,
                user=people[name],
                digest=plan.digest,
                typed=typed_name(plan),
                authenticated_at=now,
                now=now,
            )
    (run,) = plans_start_due(now + timedelta(seconds=1))
    return tables[0], run


def restored(watch: Watch, user: Any) -> None:
    """Restore the day as its page does, preview first."""
    from django.utils import timezone

    from lifecycle.backup.models import BackupBatch
    from lifecycle.restore.selectors.backups import BackupChoice
    from lifecycle.restore.services.backups import (
        RestoreParams,
        restore_preview_request,
        restore_run_of,
    )
    from portal.runs.requests.services import run_drive

    day = BackupBatch.objects.values_list("day", flat=True).order_by("pk")[0]
    wish = RestoreParams(BackupChoice(day=day), "bench", straight_on=True)
    preview = restore_preview_request(LAKE, wish, user=user, now=timezone.now())
    with watch.during(preview), step("preview of the day"):
        preview = run_drive(preview.pk)
    print(f"preview {preview.state}: {(preview.result or {}).get('counts')} {preview.error}")
    watch.report("preview")
    restore = restore_run_of(preview)
    if restore is None:
        raise SystemExit("no restore was begun")
    with watch.during(restore), step("restore of the day, start to end"):
        restore = run_drive(restore.pk)
    seconds_of(restore, "restore")
    watch.report("restore")


def the_whole_way(stack: Stack, site: Site, *, n: int, n_tables: int) -> None:
    """Play the story and print its figures."""
    from django.test import Client

    from portal.access.services import person_create
    from portal.runs.requests.services import run_drive

    people = {
        name: person_create(
            name,
            password=uuid4().hex,
            email=f"{name}@example.com",
            roles=() if name == "alice" else ("admin",),
        )
        for name in PEOPLE
    }
    table, run = planned(stack, people, n=n, n_tables=n_tables)
    client = Client()
    client.force_login(people["ada"])
    session = client.cookies["sessionid"].value
    pages = {
        "home": "/",
        "table": f"/lifecycle/tables/{table.replace('.', '/')}/",
        "plan": f"/lifecycle/plans/{run.subject_id}/",
        "runs": "/runs/",
        "mails": "/mails/",
        **{name: f"/lifecycle/{name}/" for name in LISTS},
    }
    watch = Watch(pages, site.url, session)
    with watch.during(run), step("drop, start to end"):
        run = run_drive(run.pk)
    seconds_of(run, "drop")
    watch.report("drop")
    restored(watch, people["ada"])
    _tell_holds()


def _tell_holds() -> None:
    """Print how much an acting run is told now that everything is held."""
    from django.utils import timezone

    from lifecycle.backup.models import Hold
    from lifecycle.backup.services.beating import act_beat
    from portal.runs.models import Run
    from portal.runs.records.spools import new_spool

    run = Run(lake=LAKE, kind="lifecycle.purge", epoch=1, queued_at=timezone.now())
    spool = new_spool(run)
    spool.create()
    run.spool = str(spool.root)
    for turn in ("first", "second"):
        with step(f"{turn} beat of a run under {Hold.objects.count():,} holds"):
            act_beat(run, now=timezone.now())
    for child in spool.fs.children(spool.root):
        print(f"  {child.path.name}: {child.size:,} bytes")


def main(arguments: list[str]) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=200_000)
    parser.add_argument("--tables", type=int, default=20)
    asked = parser.parse_args(arguments)
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    print(f"{platform.platform()}, {os.cpu_count()} cores, {gigabytes:.0f} GB of memory")
    print(f"Python {platform.python_version()}, PySpark {pyspark.__version__}")
    with (
        tempfile.TemporaryDirectory(prefix="big-drop-") as folder,
        Stack.full(Path(folder) / "stack") as stack,
    ):
        lakes = json.loads(stack.lakes_file.read_text(encoding="utf-8"))
        lakes[LAKE]["plan_limits"] = {"max_items": asked.partitions, "max_percent": 100}
        stack.lakes_file.write_text(json.dumps(lakes), encoding="utf-8")
        environment = {
            **stack.env,
            "DJANGO_SETTINGS_MODULE": "portal.settings.development",
            "LAKEWARDEN_COOLING_OFF_SECONDS": "0",
        }
        os.environ |= environment
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        site = Site(Path(folder), ledger=stack.ledger, settings=environment)
        try:
            site.start()
            site.wait_ready()
            the_whole_way(stack, site, n=asked.partitions, n_tables=asked.tables)
        finally:
            site.stop()
            print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
