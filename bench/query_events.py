"""Measures how many of Trino's query events a portal takes in a second, and how long each waits.

    python -m bench.query_events [--seconds 30] [--rate 10]

The portal's own site on MariaDB gets recorded events by HTTP with a token, each with an id of its
own and padded to a size that Trino sends. First as many as eight clients can send, then a fixed
rate, then one event again and again. Every scan must be in the sums. Figures are in
bench/README.md.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from http import HTTPStatus
from itertools import count, cycle
from pathlib import Path
from typing import Any
from uuid import uuid4

import requests

from bench.pages import percentile
from bench.portal_server import empty_database, settings, site_on

SENT_AGAIN = 5
CLIENTS = 8
EVENT_BYTES = 120_000
"""The mean of the events that a Trino 476 sent while those of the tests were recorded."""
OWNER = "olga"
ADDRESS = "/api/optimizer/v1/main/trino/lake/queries"


def bodies() -> Iterator[bytes]:
    """Give recorded events of queries that scan, each time as another query."""
    from optimizer.queries.domain.trino_events import read_event
    from tests.golden.trino import CATALOG, events

    kept = [one for one in events() if read_event(one, catalog=CATALOG).scans]
    for number, event in zip(count(), cycle(kept)):
        event["metadata"]["queryId"] = f"bench_{number}"
        event["metadata"]["plan"] = ""
        event["metadata"]["plan"] = "x" * max(0, EVENT_BYTES - len(json.dumps(event)))
        yield json.dumps(event).encode()


def sender(site: str, token: str) -> Callable[[bytes], float]:
    """Return what sends an event and gives the milliseconds until its answer."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    link = requests.Session()

    def send(body: bytes) -> float:
        began = time.monotonic()
        for _ in range(1 + SENT_AGAIN):
            answer = link.post(site + ADDRESS, data=body, headers=headers, timeout=60)
            if answer.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
                break  # the database ended one of two that met, and Trino would send it again
        answer.raise_for_status()
        return (time.monotonic() - began) * 1000

    return send


def closed_load(site: str, token: str, events: Iterator[bytes], *, seconds: float) -> list[float]:
    """Let clients send as fast as they are answered."""
    made = [next(events) for _ in range(int(400 * seconds))]
    until = time.monotonic() + seconds

    def client(part: list[bytes]) -> list[float]:
        send, took = sender(site, token), []
        for body in part:
            if time.monotonic() > until:
                break
            took.append(send(body))
        return took

    with ThreadPoolExecutor(CLIENTS) as pool:
        parts = pool.map(client, [made[n::CLIENTS] for n in range(CLIENTS)])
        return [one for part in parts for one in part]


def open_load(
    site: str, token: str, events: Iterator[bytes], *, seconds: float, rate: float
) -> list[float]:
    """Send at fixed moments; a wait counts from the moment at which an event was due."""
    send, began = sender(site, token), time.monotonic() + 0.5

    def at(due: float, body: bytes) -> float:
        time.sleep(max(0.0, due - time.monotonic()))
        send(body)
        return (time.monotonic() - due) * 1000

    with ThreadPoolExecutor(CLIENTS) as pool:
        asked = [
            pool.submit(at, began + number / rate, next(events))
            for number in range(int(seconds * rate))
        ]
        return [one.result() for one in asked]


def report(what: str, took: list[float], seconds: float) -> None:
    """Print the figures of one load."""
    p50, p95 = (percentile(took, share) for share in (0.5, 0.95))
    print(
        f"{what}: {len(took)} events, {len(took) / seconds:.1f} a second; "
        f"p50 {p50:.0f} p95 {p95:.0f} worst {max(took):.0f} ms"
    )


def fill(work: Path) -> str:
    """Make the two tables and their owner; returns a token."""
    import django
    from django.core.management import call_command

    django.setup()
    from django.utils import timezone

    from optimizer.models import IcebergTable
    from portal.access.services import person_create
    from portal.people.token_rules import TokenParams
    from portal.people.tokens import token_make
    from tests.component.lifecycle.plan_world import lake_entry

    (work / "lakes.json").write_text(json.dumps({"main": lake_entry(work)}), encoding="utf-8")
    call_command("migrate", verbosity=0)
    now = timezone.now()
    user = person_create(OWNER, password=uuid4().hex, email="", roles=())
    for name in ("ev", "dim"):
        fields: dict[str, Any] = {"lake": "main", "db": "shop", "table": name, "uuid": uuid4()}
        IcebergTable.objects.create(**fields, owner=OWNER, event_at=now, n_bytes=10**12)
    wish = TokenParams("bench", ("optimizer",), 1)
    return token_make(OWNER, wish, user=user, now=now - timedelta(minutes=1)).secret


def check(n_sent: int, n_again: int) -> None:
    """Compare what was counted with what was sent; a difference ends the bench."""
    from django.db.models import Sum

    from optimizer.models import QueryDay, ScanShape

    names = ("n_queries", "n_scans", "n_unknown", "n_unread", "n_repeated")
    day = QueryDay.objects.aggregate(**{name: Sum(name) for name in names})
    shapes = ScanShape.objects.aggregate(n=Sum("n_scans"))["n"]
    print(f"counted: {day}, scans in the sums of tables: {shapes}")
    right = {"n_queries": n_sent, "n_repeated": n_again, "n_unknown": 0, "n_unread": 0}
    if day != {**right, "n_scans": shapes}:
        raise SystemExit(f"expected {right}, and as many scans in both places")


def measure(site: str, token: str, *, seconds: float, rate: float) -> None:
    """Send all three loads and compare the sums."""
    print(f"load {os.getloadavg()[0]:.1f}, events of {EVENT_BYTES} bytes")
    events = bodies()
    first = sender(site, token)
    first(next(events))
    closed = closed_load(site, token, events, seconds=seconds)
    report(f"{CLIENTS} clients", closed, seconds)
    fixed = open_load(site, token, events, seconds=seconds, rate=rate)
    report(f"{rate:g} a second", fixed, seconds)
    same = next(events)
    first(same)
    storm = closed_load(site, token, cycle([same]), seconds=seconds)
    report("one event again and again", storm, seconds)
    check(len(closed) + len(fixed) + 2, len(storm))
    print(f"load {os.getloadavg()[0]:.1f}")


def main(arguments: list[str]) -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rate", type=float, default=10, help="200,000 a day are 2.3 a second")
    parser.add_argument("--work", type=Path, default=Path("var/bench/query_events"))
    asked = parser.parse_args(arguments)
    work = asked.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    with empty_database(work) as database:
        os.environ |= settings(work, database)
        token = fill(work)
        with site_on(database, work) as site:
            measure(site, token, seconds=asked.seconds, rate=asked.rate)


if __name__ == "__main__":
    main(sys.argv[1:])
