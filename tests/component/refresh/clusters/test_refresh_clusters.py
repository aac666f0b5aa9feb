"""Taking a cluster in, stopping, bounding and giving it up; and every way in which that fails."""

import io
import socket
import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from portal.audit.models import AuditEvent
from portal.lake.errors import NotAllowed, RuleViolation
from refresh.clusters.services.clusters import (
    Actor,
    cluster_add,
    cluster_limits,
    cluster_pause,
    cluster_read,
    cluster_read_ask,
    cluster_remove,
    cluster_resume,
)
from refresh.clusters.services.fe_client import BRIEF, PATIENT
from refresh.clusters.services.reach import ANYWHERE
from refresh.clusters.services.trial import ClusterParams, StandsFor, cluster_test
from refresh.core.connectors.front_end import Budget
from refresh.core.domain.versions import Dialect
from refresh.models import Cluster, ClusterFrontEnd
from refresh.worker.domain.scheduling import Limits
from stack.process import LOOPBACK
from stack.starrocks.front_end import Life
from stack.starrocks.running import RunningCluster
from stack.starrocks.spec import Member, Privilege
from tests.component.conftest import NOW, People
from tests.component.refresh.reachable import lake_at, password_file
from tests.component.stack.starrocks.starrocks_cluster import QUICK, URIS, spec
from tests.support.small_hive import SmallHive

pytestmark = pytest.mark.django_db
KEEPER = Actor("otto", is_staff=True, is_admin=False)
ADMIN = Actor("ada", is_staff=True, is_admin=True)


@pytest.fixture(autouse=True)
def lake_of_the_cluster(tmp_path: Path, settings: Any) -> None:
    lake_at(tmp_path, settings)


def wish(
    running: RunningCluster, folder: Path, *, user: str = "svc", only: int = 1
) -> ClusterParams:
    places = tuple(f"{host}:{port}" for host, port in running.addresses()[:only])
    return ClusterParams(places, user, str(password_file(folder)))


def added(running: RunningCluster, folder: Path) -> Cluster:
    return cluster_add("bi", wish(running, folder), by=KEEPER, now=NOW)


def closed_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as server:
        return int(server.getsockname()[1])


def test_n12_a_trial_says_who_answers_what_we_may_and_which_lake_it_reads(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    report = cluster_test(wish(cluster, tmp_path))
    assert report.is_good
    assert [one.words for one in report.reached] == ["", "", ""]
    assert (report.version, report.dialect) == ("3.5.0-simulator", Dialect.CATALOGS)
    assert report.rights["OPERATE"].startswith("yes")
    assert report.rights["SELECT"] == report.rights["ALTER"] == "yes: on all tables of its catalogs"
    assert report.stands_for == [StandsFor("hive", URIS, "main")]
    assert report.warnings == []
    assert Cluster.objects.count() == 0


def test_s12_a_trial_says_which_rights_on_tables_are_missing(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    cluster.set_user("svc", "secret", frozenset({Privilege.OPERATE, Privilege.SELECT}))
    report = cluster_test(wish(cluster, tmp_path))
    assert report.is_good
    assert report.rights["ALTER"] == "no: not on the tables of hive"
    assert any("lacks ALTER on tables of hive" in one for one in report.warnings)
    assert report.rights["SELECT"].startswith("yes")
    cluster.set_user("svc", "secret", frozenset({Privilege.OPERATE}))
    report = cluster_test(wish(cluster, tmp_path))
    assert any("no Hive catalog or resource that this user sees" in one for one in report.warnings)


def test_a_trial_of_the_old_version_reads_resources(
    old_cluster: RunningCluster, tmp_path: Path
) -> None:
    report = cluster_test(wish(old_cluster, tmp_path))
    assert report.dialect is Dialect.RESOURCES
    assert report.rights["ALTER"].startswith("not tested")
    assert report.stands_for == [StandsFor("hive0", URIS, "main")]


def test_what_is_not_well_but_no_hindrance_is_a_warning(
    cluster: RunningCluster, tmp_path: Path, settings: Any
) -> None:
    lake_at(tmp_path, settings, 1)
    cluster.set_life("127.0.0.3", Life.DEAD)
    cluster.set_life("127.0.0.4", Life.FROZEN)
    asked = wish(cluster, tmp_path)
    # Bound and not listened on: nobody else can answer there.
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        report = cluster_test(replace(asked, addresses=(*asked.addresses, f"localhost:{port}")))
    assert report.is_good
    said = "\n".join(report.warnings)
    assert "127.0.0.3:" in said
    assert "nothing listens there" in said
    assert "no front end answers there in time" in said
    assert f"localhost:{port}: nothing listens" in said
    assert f"localhost:{port} is not how the cluster itself calls" in said
    assert f"hive reads {URIS}, the metastore of no lake here" in said


@pytest.mark.parametrize(
    ("user", "words"),
    [("who", "it refuses the login. Compare the user"), ("nobody", "needs the privilege OPERATE")],
)
def test_a_login_that_may_not_stops_it_with_the_next_step(
    cluster: RunningCluster, tmp_path: Path, user: str, words: str
) -> None:
    asked = wish(cluster, tmp_path, user=user)
    assert words in " ".join(cluster_test(asked).problems)
    with pytest.raises(RuleViolation, match="bi was not added"):
        cluster_add("bi", asked, by=KEEPER, now=NOW)
    assert Cluster.objects.count() == 0
    assert "secret" not in " ".join(cluster_test(asked).problems)


def test_a_place_where_no_front_end_answers_stops_it(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    asked = wish(cluster, tmp_path)
    for address, words in (
        (f"{LOOPBACK}:{closed_port()}", "nothing listens there"),
        ("no-such-host.invalid:9030", "no front end answers there in time"),
    ):
        report = cluster_test(replace(asked, addresses=(address,)), reach=ANYWHERE)
        assert words in report.problems[0], address
    for life in (Life.GARBAGE, Life.FROZEN):
        cluster.set_life("127.0.0.2", life)
        assert "another program's port" in cluster_test(asked).problems[0]


def test_a_password_file_that_is_not_private_stops_it(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    asked = wish(cluster, tmp_path)
    password_file(tmp_path, mode=0o644)
    assert "chmod 600" in cluster_test(asked).problems[0]
    gone = replace(asked, password_file=str(tmp_path / "none"))
    assert "cannot be read" in cluster_test(gone).problems[0]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("BI", {}),
        ("bi\n", {}),
        ("ümläut", {}),
        ("", {}),
        ("b" * 33, {}),
        ("bi", {"addresses": ()}),
        ("bi", {"addresses": ("fe1:0",)}),
        ("bi", {"addresses": tuple(f"fe{n}:9030" for n in range(21))}),
        ("bi", {"user": ""}),
        ("bi", {"user": "a\x00b"}),
        ("bi", {"user": "u" * 129}),
        ("bi", {"password_file": "relative"}),
        ("bi", {"password_file": "/" + "p" * 2000}),
    ],
)
def test_what_is_no_cluster_is_refused(
    cluster: RunningCluster, tmp_path: Path, name: str, change: dict[str, Any]
) -> None:
    with pytest.raises(RuleViolation):
        cluster_add(name, replace(wish(cluster, tmp_path), **change), by=KEEPER, now=NOW)
    assert Cluster.objects.count() == 0
    assert AuditEvent.objects.count() == 0


def test_an_added_cluster_is_read_by_the_worker_and_twice_is_no_change(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    row = added(cluster, tmp_path)
    assert (row.read_requested_at, row.front_ends.count()) == (NOW, 0)
    cluster_read(row, now=NOW)
    row.refresh_from_db()
    assert row.read_requested_at is None
    assert row.front_ends.count() == 3
    assert row.catalogs.get().lake == "main"
    assert row.problem == ""
    assert ClusterFrontEnd.objects.exclude(config={}).count() == 3
    assert added(cluster, tmp_path) == row
    event = AuditEvent.objects.get()
    assert (event.action, event.actor, event.object_id) == ("refresh.cluster_added", "otto", "bi")
    assert "secret" not in str(event.data)
    with pytest.raises(RuleViolation, match="already, with other addresses"):
        cluster_add("bi", wish(cluster, tmp_path, only=2), by=KEEPER, now=NOW)


def test_pausing_and_going_on_are_said_why_and_recorded_once(
    cluster: RunningCluster, tmp_path: Path, now: datetime
) -> None:
    row = added(cluster, tmp_path)
    for _ in range(2):
        cluster_pause(row, by=KEEPER, reason=" upgrade ", now=now)
    row.refresh_from_db()
    assert (row.is_paused, row.paused_by, row.paused_at, row.paused_reason) == (
        True,
        "otto",
        now,
        "upgrade",
    )
    for _ in range(2):
        cluster_resume(row, by=ADMIN, reason="done", now=now)
    row.refresh_from_db()
    assert (row.is_paused, row.paused_by, row.paused_at, row.paused_reason) == (False, "", None, "")
    actions = list(AuditEvent.objects.order_by("seq").values_list("action", "actor"))[1:]
    assert actions == [("refresh.cluster_paused", "otto"), ("refresh.cluster_resumed", "ada")]
    with pytest.raises(RuleViolation, match="Enter a reason"):
        cluster_pause(row, by=KEEPER, reason=" ", now=now)


def test_limits_leave_each_lane_its_place(
    cluster: RunningCluster, tmp_path: Path, now: datetime
) -> None:
    row = added(cluster, tmp_path)
    cluster_limits(row, Limits(5, 7), hours="Mon-Sun 20:00-06:00", by=KEEPER, now=now)
    row.refresh_from_db()
    assert (row.per_fe, row.per_catalog, row.large_table_window) == (5, 7, "Mon-Sun 20:00-06:00")
    with pytest.raises(RuleViolation, match="lanes needs a place"):
        Limits(1, 7)
    with pytest.raises(RuleViolation, match="At most 64"):
        cluster_limits(row, Limits(5, 65), hours="", by=KEEPER, now=now)


def test_only_an_admin_who_types_its_name_removes_it(
    cluster: RunningCluster, tmp_path: Path, now: datetime
) -> None:
    row = added(cluster, tmp_path)
    with pytest.raises(NotAllowed, match="Only an admin"):
        cluster_remove(row, by=KEEPER, typed="bi", reason="old", now=now)
    with pytest.raises(RuleViolation, match="Type bi"):
        cluster_remove(row, by=ADMIN, typed="BI", reason="old", now=now)
    cluster_remove(row, by=ADMIN, typed="bi", reason="old", now=now)
    assert Cluster.objects.count() == ClusterFrontEnd.objects.count() == 0


def test_a_stranger_changes_nothing(
    cluster: RunningCluster, tmp_path: Path, people: People, now: datetime
) -> None:
    row = added(cluster, tmp_path)
    for user in (people.stranger, people.owner, people.dba):
        by = Actor.of(user, lake="")
        with pytest.raises(NotAllowed):
            cluster_add("two", wish(cluster, tmp_path), by=by, now=now)
        with pytest.raises(NotAllowed):
            cluster_read_ask(row, by=by, now=now)
        for change in (cluster_pause, cluster_resume):
            with pytest.raises(NotAllowed):
                change(row, by=by, reason="x", now=now)
        with pytest.raises(NotAllowed):
            cluster_limits(row, Limits(), hours="", by=by, now=now)
        with pytest.raises(NotAllowed):
            cluster_remove(row, by=by, typed="bi", reason="x", now=now)


def test_the_command_adds_lists_pauses_and_resumes(cluster: RunningCluster, tmp_path: Path) -> None:
    host, port = cluster.addresses()[0]
    file = str(password_file(tmp_path))
    add = ["add", "bi", "--at", f"{host}:{port}", "--user", "svc", "--password-file", file]
    assert command(*add) == command(*add)
    assert f"bi (kept fresh): {host}:{port} alive" in command("list")
    assert "bi (paused: upgrade)" in command("pause", "bi", "--reason", "upgrade")
    assert "bi (kept fresh)" in command("resume", "bi", "--reason", "done")
    with pytest.raises(CommandError, match="There is no cluster other"):
        command("pause", "other", "--reason", "x")
    with pytest.raises(CommandError, match=r"cluster\.name: 'B B' is not"):
        command("add", "B B", *add[2:])


def command(*arguments: str) -> str:
    said = io.StringIO()
    call_command("refresh_cluster", *arguments, stdout=said)
    return said.getvalue()


def test_who_asks_while_it_is_read_is_not_answered_by_that_reading(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    row = added(cluster, tmp_path)
    cluster_read_ask(row, by=KEEPER, now=NOW + timedelta(seconds=1))
    cluster_read(row, now=NOW)
    assert Cluster.objects.get().read_requested_at == NOW + timedelta(seconds=1)
    cluster_read(row, now=NOW + timedelta(seconds=2))
    assert Cluster.objects.get().read_requested_at is None


def test_a_page_does_not_wait_for_a_listing_that_a_frozen_one_holds_up(
    small_hive: SmallHive, tmp_path: Path
) -> None:
    slow = replace(QUICK, listing_with_a_frozen_one=5.0)
    with RunningCluster(spec(timings=slow), hives={URIS: small_hive}) as running:
        running.set_life("127.0.0.4", Life.FROZEN)
        asked = wish(running, tmp_path, only=2)
        began = time.monotonic()
        report = cluster_test(asked, budget=Budget(query_timeout=1, connect=1.0, beyond=0))
        assert time.monotonic() - began < 5.0
    (said,) = report.problems
    assert "did not list the front ends within 1 s" in said
    assert "manage.py refresh_cluster" in said
    assert BRIEF.read < PATIENT.read


def test_front_ends_of_one_host_are_a_warning(small_hive: SmallHive, tmp_path: Path) -> None:
    twins = replace(spec(), members=(Member("127.0.0.2"), Member("127.0.0.2")))
    with RunningCluster(twins, hives={URIS: small_hive}) as running:
        report = cluster_test(wish(running, tmp_path))
    assert report.is_good
    assert "2 front ends are on 127.0.0.2" in " ".join(report.warnings)
