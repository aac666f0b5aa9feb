"""What gets bad input: each says so on page, in the API and in the run's log, and loses nothing.

A real metastore on Derby and local files; the jobs run in this process as real runs of the portal.
"""

import json
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone
from pyspark.sql import SparkSession
from pytest_django import Settings

from lifecycle.inventory.services.scan import scan_request
from lifecycle.models import DatabaseSetting, LatestScan
from portal.access.models import User
from portal.access.roles.domain import ADMIN
from portal.audit.models import AuditEvent
from portal.runs.models import Run, RunEvent
from stack.stack import Stack
from tests.support.run_here import run_here
from tests.support.scan_lake import NOW, ScanLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
LAKE = "main"
POLICY = {"LEVEL": "1", "TTL": "30"}
DEFAULT = "__HIVE_DEFAULT_PARTITION__"


class OddLake:
    """A lake of alice's with every odd thing in it, and the people who look at it."""

    def __init__(self, stack: Stack, spark: SparkSession, settings: Settings, var: Path) -> None:
        self.stack, self.spark, self.settings, self.var = stack, spark, settings, var
        self.n_scans = 0
        config = stack.config(LAKE)
        self.lake = ScanLake(config, config.path(f"{stack.lake_root}/odd lake %41"))
        self.alice, self.ada = self._person("alice"), self._person("ada", admin=True)
        self._fill()
        template = f"{self.lake.root}/user/{{owner}}"
        DatabaseSetting.objects.create(lake=LAKE, db=self.db, template=template)

    @staticmethod
    def _person(name: str, *, admin: bool = False) -> Client:
        user = User.objects.create_user(name, f"{name}@example.com", "a long enough password")
        if admin:
            user.groups.add(Group.objects.get_or_create(name=ADMIN)[0])
        client = Client()
        client.force_login(user)
        session = client.session
        session["lw_authenticated_at"] = timezone.now().timestamp()
        session.save()
        return client

    def _fill(self) -> None:
        lake = self.lake
        home = lake.database("odd", owner="alice")
        self.db = lake.db_name("odd")
        for name, owner, parameters in (
            ("words", "alice", {"LEVEL": "1", "TTL": "soon"}),
            ("both", "alice", {"TTL": "1", "ttl": "1", "LEVEL": "1"}),
            ("gone", "alice", POLICY),
            ("orphan", "nobody", POLICY),
        ):
            place = str(home.child(name))
            lake.table("odd", name, owner=owner, location=place, keys=(), parameters=parameters)
            lake.data(place, age=90)
        lake.fs.remove_file(home.child("gone", "part-0"))
        lake.fs.remove_empty_directory(home.child("gone"))
        visits = str(home.child("visits"))
        table = lake.table("odd", "visits", owner="alice", location=visits, parameters=POLICY)
        for value in ("ünï %=:#x", "with space"):
            lake.data(lake.partition(table, value, ddl_age=90), age=90)
        keys = ("dt", "hour")
        hours = str(home.child("hours"))
        by_hour = lake.table(
            "odd", "hours", owner="alice", location=hours, keys=keys, parameters=POLICY
        )
        for values in (("", "1"), (None, "2")):
            lake.data(lake.partition(by_hour, values, ddl_age=90), age=90)
        lake.remove(lake.partition(table, "gone", ddl_age=90))
        lake.partition(table, "dots", location=f"{visits}/../x")
        lake.partition(table, "relative", location="no/path")
        lake.partition(table, "far", location="hdfs://127.0.0.1:1/x")

    def scan(self, *, lakes: Path | None = None) -> Run:
        """Ask for a scan as an admin does and let it run to its end."""
        self.settings.LAKEWARDEN_LAKES = lakes or self.stack.lakes_file
        self.n_scans += 1
        now = NOW + timedelta(minutes=self.n_scans)
        run = scan_request(LAKE, user=User.objects.get(username="ada"), now=now)
        return run_here(run, self.spark)

    def lakes_with(self, **changes: Any) -> Path:
        """Write a lakes.json that differs in some values from the stack's."""
        lakes = json.loads(self.stack.lakes_file.read_text())
        lakes[LAKE] |= changes
        path = self.var / f"lakes-{len(list(self.var.glob('lakes-*')))}.json"
        path.write_text(json.dumps(lakes))
        return path


@pytest.fixture
def odd(
    embedded_stack: Stack, spark: SparkSession, settings: Settings, tmp_path: Path
) -> Iterator[OddLake]:
    settings.LAKEWARDEN_VAR = tmp_path
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    settings.LAKEWARDEN_DIRECTORY = tmp_path / "no-directory.json"
    made = OddLake(embedded_stack, spark, settings, tmp_path)
    yield made
    made.lake.metastore.close()


def text_of(client: Client, address: str) -> str:
    answer = client.get(address, follow=True)
    assert answer.status_code == 200, (address, answer.status_code)
    text = answer.content.decode()
    assert "Traceback" not in text
    return text


def log_of(run: Run) -> str:
    return "\n".join(
        RunEvent.objects.filter(run=run).order_by("seq").values_list("text", flat=True)
    )


@pytest.mark.long
def test_odd_tables_and_places_are_said_on_page_api_and_log(odd: OddLake) -> None:
    run = odd.scan()
    assert run.state == "DONE", run.error
    for table, partition, cls, words in (
        ("gone", "", "MISSING_DIRECTORY", "directory that does not exist"),
        ("words", "", "NOT_ENROLLED", "TTL is &#x27;soon&#x27;, not a number of days"),
        ("both", "", "NOT_ENROLLED", "Both TTL and ttl are set; remove one."),
        ("visits", "dt=gone", "MISSING_DIRECTORY", "directory that does not exist"),
        ("visits", "dt=ünï %25%3D%3A%23x", "CLEAN_NOW", "TTL 30 days"),
        ("visits", "dt=with space", "CLEAN_NOW", "TTL 30 days"),
        ("hours", f"dt={DEFAULT}/hour=1", "CLEAN_NOW", "TTL 30 days"),
        ("hours", f"dt={DEFAULT}/hour=2", "CLEAN_NOW", "TTL 30 days"),
        ("visits", "dt=dots", "NONCONFORMING", "PART_PATH_NOT_IN_TBL"),
        ("visits", "dt=relative", "NONCONFORMING", "PART_PATH_NOT_IN_TBL"),
        ("visits", "dt=far", "NONCONFORMING", "PART_PATH_NOT_IN_TBL"),
    ):
        where = f"{odd.db}/{table}/why/?partition={quote(partition)}"
        assert words in text_of(odd.alice, f"/lifecycle/tables/{where}"), (table, partition)
        said = odd.alice.get(f"/api/v1/lifecycle/tables/{where}").json()
        assert said["item"]["cls"] == cls, said
        assert words.replace("&#x27;", "'") in said["item"]["reason"]
    paths = text_of(odd.alice, "/lifecycle/paths/")
    assert "The location cannot be read as a path" in paths
    assert "The partition is outside its table" in paths
    hints = [row["hint"] for row in odd.alice.get("/api/v1/lifecycle/paths/").json()["results"]]
    assert sum("cannot be read as a path" in hint for hint in hints) == 1
    orphan = text_of(odd.ada, f"/lifecycle/tables/{odd.db}/orphan/")
    assert "<dt>Not known</dt><dd>nobody" in orphan
    known = odd.ada.get(f"/api/v1/lifecycle/tables/{odd.db}/orphan/").json()
    assert (known["unknown_owners"], known["notified"]) == (["nobody"], ["alice"])
    log = log_of(run)
    for line in (
        f"2 directories that the metastore names do not exist; first: {odd.db}.gone",
        "2 tables have an unclear LEVEL or TTL; first: ",
        "Both TTL and ttl are set",
        "times a path rule is broken",
        f"{odd.db}.visits dt=relative at no/path (PART_PATH_NOT_IN_TBL)",
        "1 tables belong to somebody whom neither portal nor directory know; "
        f"first: {odd.db}.orphan of nobody (alice is notified instead).",
    ):
        assert line in log, log
    over = odd.ada.get(f"/api/v1/runs/{run.pk}/").json()["lines"]
    assert any("path rule is broken" in line["text"] for line in over)


def failed_in_words(odd: OddLake, run: Run, *, code: str, words: str) -> None:
    """The run failed with these words on its page, in the API and in its log."""
    assert (run.state, (run.error or {}).get("code")) == ("FAILED", code), run.error
    assert words in text_of(odd.ada, f"/runs/{run.pk}/").replace("&#x27;", "'")
    shown = odd.ada.get(f"/api/v1/runs/{run.pk}/").json()
    assert words in shown["error"]["message"]
    assert any(words in line["text"] and line["level"] == "error" for line in shown["lines"])
    assert words in log_of(run)


def last_good_stands(odd: OddLake, generation: int) -> None:
    """Everybody still sees the last good picture with its age, and that a newer scan failed."""
    assert LatestScan.objects.get(lake=LAKE).generation_id == generation
    for client in (odd.alice, odd.ada):
        page = text_of(client, "/lifecycle/expiring/")
        assert f"{odd.db}.visits" in page
        assert "Lake scanned " in page
        assert "The last scan failed" in page


def test_a_metastore_that_is_down_slow_or_half_keeps_the_last_picture(odd: OddLake) -> None:
    good = odd.scan()
    assert good.state == "DONE", good.error
    generation = LatestScan.objects.get(lake=LAKE).generation

    down = odd.scan(lakes=odd.lakes_with(thrift_port=1))
    failed_in_words(
        odd, down, code="metastore.unreachable", words="The metastore does not answer: "
    )
    assert log_of(down).count("Trying again: The metastore does not answer") == 1
    last_good_stands(odd, generation.pk)

    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        lakes = odd.lakes_with(thrift_port=port, metastore_timeout_seconds=0.5)
        slow = odd.scan(lakes=lakes)
    failed_in_words(odd, slow, code="metastore.unreachable", words="read timeout")
    last_good_stands(odd, generation.pk)

    _make_it_three_times_as_big(generation.results_uri)
    half = odd.scan()
    words = "Half a lake does not vanish in a day"
    failed_in_words(odd, half, code="scan.inventory_shrank", words=words)
    assert half.epoch == 1, "nothing is gained by asking again"
    last_good_stands(odd, generation.pk)
    steps = odd.ada.get(f"/api/v1/runs/{half.pk}/").json()["steps"]
    assert steps[0]["url"] == f"/lifecycle/scans/{half.pk}/smaller/"
    body = json.dumps({"reason": "two thirds were moved to another lake"})
    address = f"/api/v1/lifecycle/scans/{half.pk}/accept-smaller/"
    told = odd.ada.post(address, body, content_type="application/json")
    assert told.status_code == 201
    accepted = run_here(Run.objects.get(pk=told.json()["id"]), odd.spark)
    assert accepted.state == "DONE", accepted.error
    assert LatestScan.objects.get(lake=LAKE).generation.run_id == accepted.pk
    assert AuditEvent.objects.filter(action="scan.smaller_accepted").count() == 1
    assert "The last scan failed" not in text_of(odd.alice, "/lifecycle/expiring/")


def _make_it_three_times_as_big(results_uri: str) -> None:
    """Let the last good scan have seen three times as much as there is."""
    path = Path(results_uri.removeprefix("file://").removeprefix("file:")).parent / "manifest.json"
    manifest = json.loads(path.read_text())
    for name in ("n_databases", "n_tables", "n_partitions"):
        manifest["result"][name] *= 3
    path.write_text(json.dumps(manifest))
