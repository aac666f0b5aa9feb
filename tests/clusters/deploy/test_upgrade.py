"""Upgrades a portal on MariaDB from an earlier release while runs go on (docs/deploy.md)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from portal.lake.ids import LakeId
from stack.ledger import Ledger
from stack.servers.mariadb import PORTAL, MariaDb
from stack.servers.redis import Redis
from tests.clusters.deploy.releases import Host, install_former, install_new, wait
from tests.support.lakes import local_lake

ASK = """
from django.utils import timezone
from portal.runs.requests.services import run_request
run = run_request("test.long", lake="main", params={{"until": {until!r}}},
                  requested_by="olga", now=timezone.now())
print("asked", run.pk)
"""


class Site:
    """The databases of a portal, two releases of it, and a host that runs one of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = Ledger(folder / "stack.json")
        self.mariadb = MariaDb(folder, ledger=self.ledger)
        self.redis = Redis(folder, ledger=self.ledger)
        self.host = Host(folder, self.settings())
        self.until = folder / "until"

    def settings(self) -> dict[str, str]:
        """Write lakes.json, and return the environment of all processes."""
        lake = local_lake(self.folder, LakeId("main")).as_dict()
        # The former release knows less of a lake.
        known = (
            *("lake", "thrift_host", "thrift_port", "metastore_db", "default_fs", "spool"),
            *("backup_roots", "time_zone", "spark_master", "deployment_id"),
        )
        lakes = self.folder / "lakes.json"
        lakes.write_text(json.dumps({"main": {name: lake[name] for name in known}}))
        return {
            "LAKEWARDEN_VAR": str(self.folder / "var"),
            "LAKEWARDEN_LAKES": str(lakes),
            "LAKEWARDEN_DB_URL": self.mariadb.portal_url,
            "LAKEWARDEN_REDIS_URL": self.redis.url,
            "LAKEWARDEN_POLL_SECONDS": "1",
            "LAKEWARDEN_WATCHDOG_SECONDS": "2",
            "LAKEWARDEN_STACK": self.ledger.mark,
        }

    @property
    def asking(self) -> str:
        """Return what asks for a run in a shell of the portal."""
        return ASK.format(until=str(self.until))

    def ask(self) -> str:
        """Ask the release that runs for a long run; return its id."""
        said = self.host.done("shell", "-c", self.asking)
        return said.split("asked ")[1].split()[0].replace("-", "")

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Ask the portal's database."""
        with self.mariadb.connect(PORTAL) as link, link.cursor() as cursor:
            cursor.execute(query, values)
            return list(cursor.fetchall())

    def is_waiting(self, run: str) -> bool:
        """Say whether the driver of a run has counted, and the portal has read so."""
        query = "SELECT phase FROM runs_run WHERE id = %s AND state = 'RUNNING'"
        return self.rows(query, run) == [("waiting",)]

    def run(self, run: str) -> tuple[Any, ...]:
        """Return state, attempt and result of a run."""
        query = "SELECT state, epoch, result FROM runs_run WHERE id = %s"
        return self.rows(query, run)[0]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    (tmp_path / "var").mkdir()
    servers = (made.mariadb, made.redis)
    try:
        for server in servers:
            server.start()
        install_former(tmp_path / "former")
        install_new(tmp_path / "new")
        for server in servers:
            server.wait_ready()
        yield made
    finally:
        made.host.close()
        for server in servers:
            server.stop()
        made.ledger.end_all()


def test_runs_of_the_former_release_end_under_the_new_one(site: Site) -> None:
    former, new, host = site.folder / "former", site.folder / "new", site.host
    host.point_to(former)
    host.done("migrate", "--noinput", "-v", "0")
    host.start("former-supervisor", "manage.py", "supervise")
    host.start_worker("former-worker")
    running = site.ask()
    wait(lambda: site.is_waiting(running), "the driver of the former release")

    # Nothing is taken from under a supervisor that still leads.
    host.point_to(new)
    refused = host.manage("migrate", "--noinput", "-v", "0")
    assert refused.returncode == 1
    assert "takes away what the running release reads. supervise" in refused.stderr
    host.stop("former-supervisor")
    living = "SELECT name FROM runs_lease WHERE until > utc_timestamp()"
    wait(lambda: not site.rows(living), "the last lease to end")
    host.done("migrate", "--noinput", "-v", "0")

    # A worker that was forgotten starts runs of the new release: it knows all that it changes.
    host.start("new-supervisor", "manage.py", "supervise")
    begun_by_former = site.ask()
    wait(lambda: site.is_waiting(begun_by_former), "a driver that the forgotten worker starts")
    # It cannot write a row of a table that has a new column; the database says so.
    host.point_to(former)
    lacking = host.manage("shell", "-c", site.asking)
    assert "Field 'application_id' doesn't have a default value" in lacking.stderr
    host.point_to(new)
    host.stop("former-worker")
    host.start_worker("new-worker")

    site.until.touch()
    of_new = site.ask()
    ids = {running: former, begun_by_former: former, of_new: new}
    wait(lambda: all(site.run(run)[0] == "DONE" for run in ids), "all runs to end")
    for run, release in ids.items():
        _, attempt, result = site.run(run)
        assert (attempt, json.loads(result)) == (1, {"n": 7, "release": str(release)})
    assert site.rows("SELECT count(*) FROM runs_run WHERE kind = 'test.long'") == [(3,)]
