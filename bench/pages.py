"""Measures how long people wait for a page at a million partitions and 50,000 tables.

A portal on MariaDB and gunicorn holds the rows of such a lake. Requests are sent at fixed moments,
five a second, whether or not earlier ones have been answered, and each is timed from its moment.
`python -m bench.pages --help`; figures in bench/README.md.
"""

import argparse
import json
import math
import os
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import unescape
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import requests

from bench.portal_server import empty_database, settings, site_on

if TYPE_CHECKING:
    from tests.component.lifecycle.big_lake import BigLake

PARTITIONS, RATE, SECONDS = 1_000_000, 5.0, 120
DEEP = 20
PROMISED = {
    "list": 150,
    "home": 150,
    "table": 150,
    "partitions": 150,
    "plan": 150,
    "search": 150,
    "picture": 300,
}


@dataclass(frozen=True)
class Page:
    """One address as one person opens it, and which promise it is held to."""

    kind: str
    url: str
    session: str


def addresses(plan: str) -> list[tuple[str, str]]:
    """Return what is asked for, by kind; lists also deep inside, see `deeper`."""
    lists = ("expiring/", "expiring/?sort=name", "paths/", "databases/", "backups/", "dropped/")
    return [
        ("home", "/"),
        *(("list", f"/lifecycle/{name}") for name in lists),
        *(("list", f"/{name}/") for name in ("runs", "mails")),
        *(("list", f"/{name}") for name in ("tables/", "tables/?part=expiry", "approvals/")),
        ("table", "/tables/db0/t7/"),
        ("table", "/tables/db0/t7/lifecycle/"),
        ("partitions", "/tables/db0/t7/partitions/"),
        ("plan", f"/lifecycle/plans/{plan}/"),
        ("search", "/lifecycle/expiring/?db=db3"),
        ("search", "/search/?q=t77"),
        ("picture", "/home/pictures/due-by-week/"),
        ("picture", "/lifecycle/calendar/"),
        ("search", "/lifecycle/paths/?reason=OWNER_PATH_FAIL"),
    ]


def deeper(site: str, page: Page) -> Page:
    """Turn a list's pages some times and give where that leads."""
    url = page.url
    for _ in range(DEEP):
        text = get(site, Page(page.kind, url, page.session)).text
        found = re.search(r'rel="next" href="([^"]+)"', text)
        if found is None:
            break
        url = page.url.partition("?")[0] + unescape(found[1])
    return Page(page.kind, url, page.session)


def get(site: str, page: Page) -> requests.Response:
    """Open a page; whatever is no page ends the bench."""
    answer = requests.get(site + page.url, cookies={"sessionid": page.session}, timeout=60)
    answer.raise_for_status()
    return answer


def open_load(site: str, pages: list[Page], *, seconds: int) -> dict[str, list[float]]:
    """Send the pages in turn at fixed moments; gives milliseconds by kind."""
    took: dict[str, list[float]] = defaultdict(list)
    started = time.monotonic() + 1

    def ask(page: Page, at: float) -> None:
        time.sleep(max(0.0, at - time.monotonic()))
        get(site, page)
        took[page.kind].append((time.monotonic() - at) * 1000)

    n_requests = int(seconds * RATE)
    with ThreadPoolExecutor(64) as pool:
        asked = [
            pool.submit(ask, page, started + number / RATE)
            for number, page in enumerate(islice(cycle(pages), n_requests))
        ]
        for one in asked:
            one.result()
    return took


def percentile(values: list[float], share: float) -> float:
    """Return the value that this share of all does not exceed."""
    return sorted(values)[math.ceil(len(values) * share) - 1]


def fill(work: Path, n_partitions: int) -> tuple["BigLake", dict[str, str]]:
    """Make the rows and two people; returns the lake and each one's session."""
    import django
    from django.core.management import call_command

    django.setup()
    from django.test import Client
    from django.utils import timezone

    from portal.access.services import person_create
    from tests.component.lifecycle.big_lake import OWNER, BigLake
    from tests.component.lifecycle.plan_world import lake_entry

    (work / "lakes.json").write_text(json.dumps({"main": lake_entry(work)}), encoding="utf-8")
    call_command("migrate", verbosity=0)
    sessions = {}
    for name, roles in (("ada", ("admin",)), (OWNER, ())):
        user = person_create(name, password=uuid4().hex, email="", roles=roles)
        client = Client()
        client.force_login(user)
        sessions[name] = client.cookies["sessionid"].value
    lake = BigLake(timezone.now().date())
    lake.grow(n_partitions)
    return lake, sessions


def rows_read(pages: list[Page]) -> Iterator[tuple[Page, Any]]:
    """Count what each page costs the database: queries, and rows its handlers read."""
    from django.test import Client

    from tests.component.whole.test_page_costs import measure

    for page in pages:
        client = Client()
        client.cookies["sessionid"] = page.session
        yield page, measure(client, page.url)


def report(took: dict[str, list[float]]) -> None:
    """Print the figures as bench/README.md keeps them."""
    for kind, values in sorted(took.items()):
        p50, p95, p99 = (percentile(values, share) for share in (0.5, 0.95, 0.99))
        print(
            f"{kind:8} n {len(values):4} p50 {p50:6.0f} p95 {p95:6.0f} p99 {p99:6.0f} ms, "
            f"promised p95 {PROMISED[kind]}"
        )


def main(arguments: list[str]) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=PARTITIONS)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--work", type=Path, default=Path("var/bench/pages"))
    asked = parser.parse_args(arguments)
    work = asked.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    with empty_database(work) as database:
        os.environ |= settings(work, database)
        lake, sessions = fill(work, asked.partitions)
        with site_on(database, work) as site:
            pages = [
                Page(kind, url, session)
                for session in sessions.values()
                for kind, url in addresses(str(lake.plan.pk))
            ]
            pages += [deeper(site, page) for page in pages if page.kind == "list"]
            for page, cost in rows_read(pages):
                print(f"{page.url[:70]:70} queries {cost.queries:3} rows {cost.rows:6}")
            report(open_load(site, pages, seconds=asked.seconds))


if __name__ == "__main__":
    main(sys.argv[1:])
