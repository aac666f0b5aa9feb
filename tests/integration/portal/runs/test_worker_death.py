"""Real Celery workers on a real Redis, killed with -9: every run ends, and ends once.

Leases are shortened to 4 s. A wait is long enough for a process to start on a machine that has
other work: half a minute was not, once.
"""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from celery import Celery

from stack.ledger import Ledger
from stack.process import end_group, group_members
from stack.servers.redis import Redis

REPO = Path(__file__).resolve().parents[4]
LEASE = 4.0
WAIT_SECONDS = 180
DATABASE = "portal.sqlite3"


class Portal:
    """A database of its own, a Redis of its own, and processes that belong to the test."""

    def __init__(self, var: Path, database: Path) -> None:
        self.var = var
        shutil.copy2(database, var / DATABASE)
        self.trace = var / "trace"
        self.trace.touch()
        self.redis = Redis(var, ledger=Ledger(var / "stack.json"))
        self.redis.start()
        self.redis.wait_ready()
        self.started: list[subprocess.Popen[bytes]] = []

    @property
    def environment(self) -> dict[str, str]:
        """What manage.py and the workers run with."""
        return {
            **_environment(self.var),
            "LAKEWARDEN_REDIS_URL": self.redis.url,
            "LAKEWARDEN_LEASE_SECONDS": str(LEASE),
            "LAKEWARDEN_BEAT_SECONDS": "1",
            "LAKEWARDEN_WATCHDOG_SECONDS": "1",
        }

    def manage(self, *arguments: str) -> None:
        """Run a command of manage.py to its end."""
        _manage(arguments, self.environment)

    def start(self, name: str, *argv: str) -> subprocess.Popen[bytes]:
        """Start a process of the portal in a group of its own."""
        with (self.var / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *argv],
                cwd=REPO,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def worker(self, name: str = "worker") -> subprocess.Popen[bytes]:
        """Start a worker and wait until it takes messages."""
        process = self.start(
            name,
            *("-m", "celery", "-A", "tasks.celery", "worker"),
            *("--loglevel", "INFO", "--concurrency", "2", "--hostname", f"{name}@%h"),
        )
        log = self.var / f"{name}.log"
        wait(lambda: " ready." in log.read_text(), "the worker to be ready")
        return process

    def supervise(self) -> subprocess.Popen[bytes]:
        """Start the loops."""
        return self.start("supervise", "manage.py", "supervise")

    def ask(self, count: int, seconds: float) -> None:
        """Ask for slow runs."""
        options = ["--count", str(count), "--seconds", str(seconds), "--trace", str(self.trace)]
        self.manage("ask_slow", *options)

    def states(self) -> Counter[str]:
        """Count runs by state."""
        with sqlite3.connect(self.var / DATABASE, timeout=20) as database:
            return Counter(row[0] for row in database.execute("SELECT state FROM runs_run"))

    def traced(self) -> list[list[str]]:
        """Return run, epoch, began or ended, and pid of every line the runs left."""
        return [line.split() for line in self.trace.read_text().splitlines()]

    def close(self) -> None:
        """End everything this test started."""
        for process in self.started:
            end_group(process.pid, grace_seconds=5)
            process.wait(timeout=20)
        self.redis.stop()


def wait(is_so: Callable[[], bool], what: str) -> float:
    """Wait until something is so; returns how long it took."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < WAIT_SECONDS, f"waited {WAIT_SECONDS} s for {what}"
        time.sleep(0.2)
    return time.monotonic() - began


def _environment(var: Path) -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.support.worker_settings",
        "LAKEWARDEN_VAR": str(var),
        "LAKEWARDEN_LAKES": str(var / "lakes.json"),
        "LAKEWARDEN_DB_URL": "",
    }


def _manage(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    subprocess.run([sys.executable, "manage.py", *arguments], cwd=REPO, env=environment, check=True)


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database without rows, of which each test has a copy."""
    var = tmp_path_factory.mktemp("migrated")
    _manage(["migrate", "--noinput", "-v", "0"], _environment(var))
    with sqlite3.connect(var / DATABASE) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return var / DATABASE


@pytest.fixture
def portal(tmp_path: Path, migrated: Path) -> Iterator[Portal]:
    """A portal without workers yet."""
    made = Portal(tmp_path, migrated)
    try:
        yield made
    finally:
        made.close()


def test_a_worker_killed_whole_loses_nothing(portal: Portal) -> None:
    portal.supervise()
    first = portal.worker("first")
    portal.ask(1, 3)
    wait(lambda: len(portal.traced()) == 1, "the run to begin")
    end_group(first.pid, grace_seconds=0)
    killed = time.monotonic()
    portal.worker("second")
    wait(lambda: len(portal.traced()) == 2, "another worker to start over")
    print(f"begun again {time.monotonic() - killed:.1f} s after the kill")  # noqa: T201 - a figure of the report
    wait(lambda: portal.states()["DONE"] == 1, "the run to end")
    run_epochs = [(line[1], line[2]) for line in portal.traced()]
    assert run_epochs == [("1", "began"), ("2", "began"), ("2", "ended")]


def test_a_pool_child_killed_loses_nothing(portal: Portal) -> None:
    portal.supervise()
    portal.worker()
    portal.ask(1, 3)
    wait(lambda: len(portal.traced()) == 1, "the run to begin")
    os.kill(int(portal.traced()[0][3]), signal.SIGKILL)
    wait(lambda: portal.states()["DONE"] == 1, "the run to end")
    assert [line[2] for line in portal.traced()] == ["began", "began", "ended"]


def test_losing_redis_whole_loses_nothing_and_doubles_nothing(portal: Portal) -> None:
    portal.supervise()
    portal.ask(20, 0.1)
    wait(lambda: _published(portal) == 20, "all messages to be sent")
    portal.redis.kill()
    portal.ask(5, 0.1)
    time.sleep(3)
    assert _published(portal) == 20
    portal.redis.start()
    portal.redis.wait_ready()
    portal.worker()
    wait(lambda: portal.states()["DONE"] == 25, "every run to end")
    ended = Counter(line[0] for line in portal.traced() if line[2] == "ended")
    assert len(ended) == 25
    assert set(ended.values()) == {1}


def test_a_pickled_message_is_refused(portal: Portal) -> None:
    worker = portal.worker()
    sender = Celery(broker=portal.redis.url)
    sender.conf.update(task_serializer="pickle", accept_content=["pickle", "json"])
    sender.send_task("tasks.run", args=["x"], queue="scan", serializer="pickle")
    log = portal.var / "worker.log"
    wait(lambda: "ContentDisallowed" in log.read_text(), "the refusal")
    assert group_members(worker.pid)


def _published(portal: Portal) -> int:
    with sqlite3.connect(portal.var / DATABASE, timeout=20) as database:
        query = "SELECT count(*) FROM runs_outbox WHERE published_at IS NOT NULL"
        count: int = database.execute(query).fetchone()[0]
        return count
