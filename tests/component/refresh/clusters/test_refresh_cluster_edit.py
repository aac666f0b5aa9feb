"""Changing how a cluster is reached: tried first, once for two people, its history stays."""

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse

from portal.audit.models import AuditEvent
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from refresh.clusters.services.clusters import Actor, cluster_read
from refresh.clusters.services.editing import cluster_edit
from refresh.clusters.services.trial import ClusterParams, cluster_retest
from refresh.models import Cluster, RefreshTarget
from stack.starrocks.running import RunningCluster
from tests.component.conftest import NOW, People
from tests.component.refresh.clusters.test_refresh_cluster_pages import api, page, signed_in
from tests.component.refresh.clusters.test_refresh_clusters import command
from tests.component.refresh.reachable import lake_at, password_file, row_of
from tests.component.refresh.refresh_tables import statement, target
from tests.component.stack.starrocks.starrocks_cluster import URIS, spec
from tests.support.small_hive import SmallHive

pytestmark = pytest.mark.django_db
KEEPER = Actor("otto", is_staff=True, is_admin=False)


@pytest.fixture(autouse=True)
def lake_of_the_cluster(tmp_path: Path, settings: Any) -> None:
    lake_at(tmp_path, settings)


@pytest.fixture
def row(cluster: RunningCluster, tmp_path: Path) -> Cluster:
    """A cluster that is known by one address and was read."""
    found = row_of(cluster, tmp_path, only=1)
    cluster_read(found, now=NOW)
    return found


def places(running: RunningCluster) -> tuple[str, ...]:
    return tuple(f"{host}:{port}" for host, port in running.addresses())


def test_other_addresses_are_tried_out_kept_and_recorded_and_the_history_stays(
    row: Cluster, cluster: RunningCluster, now: datetime
) -> None:
    table = target(row, "orders", now=NOW)
    statement(table, began=NOW)
    before = ClusterParams.of(row)
    wish = replace(before, addresses=tuple(reversed(places(cluster))))
    assert cluster_retest(row, wish).warnings == []
    cluster_edit(row, wish, version=0, by=KEEPER, now=now)
    assert Cluster.objects.get().read_requested_at == now, "by the worker"
    cluster_read(row, now=now)
    kept = Cluster.objects.get()
    assert (ClusterParams.of(kept), kept.version) == (wish, 1)
    assert (kept.front_ends.count(), kept.problem) == (3, "")
    assert RefreshTarget.objects.get().history.count() == 1
    event = AuditEvent.objects.get()
    assert (event.action, event.actor, event.object_id) == ("refresh.cluster_edited", "otto", "bi")
    assert event.data["before"]["addresses"] == list(before.addresses)
    assert event.data["after"]["addresses"] == list(wish.addresses)
    assert "secret" not in str(event.data)
    cluster_edit(row, wish, version=1, by=KEEPER, now=now)
    assert AuditEvent.objects.count() == 1, "the same once more is no change"


def test_what_does_not_answer_changes_nothing(row: Cluster, now: datetime) -> None:
    before = ClusterParams.of(row)
    for change in (
        {"addresses": ("127.0.0.1:1",)},
        {"addresses": ()},
        {"user": "who"},
        {"user": ""},
        {"password_file": "/none/at/all"},
    ):
        with pytest.raises(RuleViolation):
            cluster_edit(row, replace(before, **change), version=0, by=KEEPER, now=now)
    kept = Cluster.objects.get()
    assert (ClusterParams.of(kept), kept.version, kept.front_ends.count()) == (before, 0, 3)
    assert AuditEvent.objects.count() == 0


def test_of_two_people_at_once_the_second_is_told(
    row: Cluster, cluster: RunningCluster, now: datetime
) -> None:
    first, second = (replace(ClusterParams.of(row), addresses=places(cluster)[:n]) for n in (2, 3))
    seen = Cluster.objects.get()
    cluster_edit(row, first, version=0, by=KEEPER, now=now)
    for found in (seen, Cluster.objects.get()):
        with pytest.raises(StaleState, match="Load its page again"):
            cluster_edit(found, second, version=0, by=KEEPER, now=now)
    assert ClusterParams.of(Cluster.objects.get()) == first


def test_front_ends_of_the_old_place_are_asked_no_more_and_another_cluster_is_warned_of(
    row: Cluster, small_hive: SmallHive, now: datetime
) -> None:
    old = set(row.front_ends.values_list("name", flat=True))
    members = tuple(replace(one, host=f"127.0.0.{n}") for n, one in enumerate(spec().members, 12))
    with RunningCluster(replace(spec(), members=members), hives={URIS: small_hive}) as other:
        wish = replace(ClusterParams.of(row), addresses=places(other)[:1])
        assert "If this is another cluster" in " ".join(cluster_retest(row, wish).warnings)
        cluster_edit(row, wish, version=0, by=KEEPER, now=now)
        assert row.front_ends.count() == 0
        cluster_read(row, now=now)
        found = {fe.name: f"{fe.host}:{fe.query_port}" for fe in row.front_ends.all()}
    assert not old & set(found)
    assert set(found.values()) == set(places(other))


def test_a_stranger_changes_no_address(row: Cluster, people: People, now: datetime) -> None:
    for user in (people.stranger, people.owner, people.dba):
        with pytest.raises(NotAllowed):
            cluster_edit(row, ClusterParams.of(row), version=0, by=Actor.of(user, lake=""), now=now)
        client = signed_in(user)
        address = reverse("refresh:cluster-edit", args=["bi"])
        assert client.get(address).status_code == client.post(address).status_code == 404
        assert api(client, "cluster-edit", "bi").status_code == 404


def test_the_page_shows_what_is_tests_what_is_typed_and_keeps_it(
    row: Cluster, cluster: RunningCluster, people: People
) -> None:
    otto = signed_in(people.operator)
    address = reverse("refresh:cluster-edit", args=["bi"])
    assert address in page(otto, "cluster", "bi")
    shown = page(otto, "cluster-edit", "bi")
    assert places(cluster)[0] in shown
    assert "Save the connection" not in shown
    said = form(row, addresses="\n".join(places(cluster)))
    tried = otto.post(address, said | {"do": "test"}).content.decode()
    assert "The connection works" in tried
    assert "Save the connection" in tried
    assert Cluster.objects.get().version == 0
    assert otto.post(address, said | {"do": "keep"})["Location"].endswith("/clusters/bi/")
    assert "this was changed 1 time since" in page(otto, "cluster", "bi")
    late = otto.post(address, said | {"do": "keep", "user": "reader"})
    assert late.status_code == 409
    assert "Load its page again" in late.content.decode()
    bad = otto.post(address, form(row, addresses="fe1:0", version="1") | {"do": "test"})
    assert bad.status_code == 400
    assert "is not the address of a front end" in bad.content.decode()
    assert otto.post(address, {"do": "keep"}).status_code == 400


def form(row: Cluster, **other: str) -> dict[str, str]:
    known = {"user": row.user, "password_file": row.password_file, "version": str(row.version)}
    return known | other


def test_the_api_and_the_command_edit_too(
    row: Cluster, cluster: RunningCluster, people: People, tmp_path: Path
) -> None:
    otto = signed_in(people.operator)
    known = otto.get(reverse("refresh-api:cluster", args=["bi"])).json()["cluster"]
    said = {name: known[name] for name in ("addresses", "user", "password_file", "version")}
    said["addresses"] = list(places(cluster)[:2])
    assert api(otto, "cluster-edit", "bi", **said).json()["version"] == 1
    assert api(otto, "cluster-edit", "bi", **(said | {"user": "x"})).status_code == 409
    assert api(otto, "cluster-edit", "bi", **(said | {"version": -1})).status_code == 400
    other = tmp_path / "other"
    other.mkdir()
    file = str(password_file(other))
    assert "bi (kept fresh)" in command("edit", "bi", "--password-file", file)
    kept = Cluster.objects.get()
    assert (kept.password_file, kept.addresses, kept.version) == (file, said["addresses"], 2)
    with pytest.raises(CommandError, match="was not changed"):
        command("edit", "bi", "--user", "who")
    with pytest.raises(CommandError, match="There is no cluster other"):
        command("edit", "other")
    actors = list(AuditEvent.objects.order_by("seq").values_list("actor", flat=True))
    assert actors == ["otto", "shell"]
    assert json.loads(json.dumps(said)) == said


def test_no_client_reaches_the_page_without_a_log_in(row: Cluster) -> None:
    answer = Client().get(reverse("refresh:cluster-edit", args=[row.name]))
    assert answer.status_code == 302
