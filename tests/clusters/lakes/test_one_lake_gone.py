"""Two lakes with servers of their own: one whose metastore dies or freezes holds up no other."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from lifecycle.inventory.services.scan import scan_request_daily
from portal.access.lakes import get_lake
from portal.events.models import EventPosition, TableTouch
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from stack.servers.second_lake import LAKE as RESEARCH
from stack.stack import LAKE, Stack
from tasks import follow, schedule, supervise, watchdog
from tests.support.scan_lake import ScanLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
PATIENCE = 180.0
BOTH = (LAKE, RESEARCH)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Two metastores, each over a database of its own."""
    with Stack.embedded(tmp_path_factory.mktemp("two"), has_second=True) as found:
        yield found


@pytest.fixture
def lakes(stack: Stack, settings: Any) -> dict[str, ScanLake]:
    """Both lakes, governed by one portal that follows them."""
    settings.LAKEWARDEN_LAKES = stack.lakes_file
    settings.LAKEWARDEN_VAR = stack.var
    made = {}
    for name in BOTH:
        config = get_lake(name)
        lake = made[name] = ScanLake(config, config.path(config.backup_roots[0]).parent.parent)
        lake.database("sales", owner="alice")
    turn_until(lambda: EventPosition.objects.count() == len(BOTH))
    return made


def turn_until(is_so: Callable[[], bool]) -> None:
    """Let every loop have its turns; none of them waits for a lake."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until
        for turn in (follow.follow, schedule.schedule, supervise.supervise, watchdog.watchdog):
            turn(timezone.now())
        time.sleep(0.2)


def made_known(lake: ScanLake, table: str) -> Callable[[], bool]:
    """Make a table; gives the question whether the portal knows of it."""
    place = str(lake.root.child("user", "alice", lake.db_name("sales"), table))
    made = lake.table("sales", table, owner="alice", location=place)
    lake.data(lake.partition(made, "old"), age=100)
    touches = TableTouch.objects.filter(
        lake=lake.config.lake, db=lake.db_name("sales"), table=table
    )
    return touches.exists


@pytest.mark.parametrize("is_frozen", [True, False], ids=["frozen", "killed"])
def test_the_other_lake_is_followed_and_scanned_meanwhile(
    stack: Stack, lakes: dict[str, ScanLake], client: Client, *, is_frozen: bool
) -> None:
    assert stack.second is not None
    server = stack.second.metastore
    is_known = made_known(lakes[RESEARCH], "trials")
    if is_frozen:
        os.killpg(server.process.pid, signal.SIGSTOP)
    else:
        server.kill()
    try:
        turn_until(made_known(lakes[LAKE], "orders"))
        now = timezone.now()
        # Scans of both are asked for; nobody waits for the one of the lake that is silent.
        silent = scan_request_daily(RESEARCH, now=now)
        waits = threading.Thread(target=run_drive, args=(silent.pk,), daemon=True)
        waits.start()
        done = run_drive(scan_request_daily(LAKE, now=now).pk)
        assert done.state == RunState.DONE, done.error
        assert not is_known()
        EventPosition.objects.filter(lake=RESEARCH).update(checked_at=now - timedelta(minutes=9))
        checks = client.get("/readyz").json()["checks"]
        assert {name: checks[f"lake:{name}"]["ok"] for name in BOTH} == {
            LAKE: True,
            RESEARCH: False,
        }
    finally:
        if is_frozen:
            os.killpg(server.process.pid, signal.SIGCONT)
        else:
            server.start()
            server.wait_ready()
    turn_until(is_known)
    waits.join(PATIENCE)
    ended = Run.objects.get(pk=silent.pk)
    if is_frozen:
        assert ended.state == RunState.DONE, "it went on where it stood"
    else:
        assert ended.state == RunState.FAILED
        assert ended.error is not None
        assert ended.error["fields"]["service"] == "metastore"
