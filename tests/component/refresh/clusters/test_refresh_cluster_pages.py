"""The pages and the API of clusters.

What admins and operators see and do, and that nobody else does.
"""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from portal.access.models import User
from portal.runs.models import Lease
from refresh.clusters.services.clusters import cluster_read
from refresh.models import Cluster, ClusterFrontEnd, DeclaredTable
from stack.starrocks.front_end import Life
from stack.starrocks.running import RunningCluster
from tests.component.conftest import NOW, People
from tests.component.refresh.reachable import lake_at, password_file
from tests.component.refresh.refresh_rows import cluster as cluster_row
from tests.component.refresh.refresh_rows import declared

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def lake_of_the_cluster(tmp_path: Path, settings: Any) -> None:
    lake_at(tmp_path, settings)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    session = client.session
    session["lw_authenticated_at"] = timezone.now().timestamp()
    session.save()
    return client


@pytest.fixture
def otto(people: People) -> Client:
    return signed_in(people.operator)


@pytest.fixture
def ada(people: People) -> Client:
    return signed_in(people.admin)


def page(client: Client, name: str, *args: str, query: str = "") -> str:
    answer = client.get(reverse(f"refresh:{name}", args=args) + query)
    assert answer.status_code == 200
    return answer.content.decode()


def api(client: Client, name: str, /, *args: str, **said: Any) -> Any:
    address = reverse(f"refresh-api:{name}", args=args)
    return client.post(address, json.dumps(said), content_type="application/json")


def read() -> None:
    """Do what the worker does of what was asked."""
    cluster_read(Cluster.objects.get(), now=timezone.now())


def form(running: RunningCluster, folder: Path, **other: str) -> dict[str, str]:
    host, port = running.addresses()[0]
    file = str(password_file(folder))
    said = {"name": "bi", "addresses": f"{host}:{port}", "user": "svc", "password_file": file}
    return said | other


def test_without_a_cluster_the_page_says_how_to_add_one(otto: Client) -> None:
    text = page(otto, "clusters")
    assert "No clusters yet" in text
    assert reverse("refresh:cluster-add") in text


def test_a_cluster_is_tried_out_then_added(
    otto: Client, cluster: RunningCluster, tmp_path: Path
) -> None:
    address = reverse("refresh:cluster-add")
    said = form(cluster, tmp_path)
    tried = otto.post(address, said | {"do": "test"}).content.decode()
    assert "It can be added" in tried
    assert "lake main" in tried
    assert "Add this cluster" in tried
    assert Cluster.objects.count() == 0
    assert otto.post(address, said | {"do": "add"})["Location"] == reverse(
        "refresh:cluster", args=["bi"]
    )
    waits = page(otto, "cluster", "bi")
    assert "It is being reloaded" in waits
    assert "no worker leads this cluster: start" in waits
    Lease.objects.create(name="refresh:bi", holder="x", until=timezone.now() + timedelta(minutes=1))
    assert "most of a minute" in page(otto, "cluster-reading", "bi")
    read()
    over = otto.get(reverse("refresh:cluster-reading", args=["bi"]))
    assert (over.status_code, over["HX-Refresh"]) == (200, "true")
    text = page(otto, "cluster", "bi")
    assert "being read again" not in text
    assert text.count("Alive") >= 3
    assert "3.5.0-simulator" in text
    assert "No conflicts" in text
    assert "315360000" in text
    assert "secret" not in text
    assert "Kept fresh" in page(otto, "clusters")


def test_what_is_wrong_stands_on_the_form_and_what_was_typed_stays(
    otto: Client, cluster: RunningCluster, tmp_path: Path
) -> None:
    address = reverse("refresh:cluster-add")
    refused = otto.post(address, form(cluster, tmp_path, addresses="fe1:0") | {"do": "test"})
    assert refused.status_code == 400
    assert "is not the address of a front end" in refused.content.decode()
    odd = otto.post(address, form(cluster, tmp_path, user="<b>who</b>") | {"do": "test"})
    text = odd.content.decode()
    assert "It cannot be added yet" in text
    assert "it refuses the login" in text
    assert "&lt;b&gt;who" in text
    assert "<b>who" not in text
    named = otto.post(address, form(cluster, tmp_path, name="Bi B") | {"do": "add"})
    assert named.status_code == 400
    assert "is not a cluster name" in named.content.decode()
    assert otto.post(address, {}).status_code == 400
    assert Cluster.objects.count() == 0


def test_dead_frozen_and_cold_front_ends_are_said_apart(
    otto: Client, cluster: RunningCluster, tmp_path: Path
) -> None:
    otto.post(reverse("refresh:cluster-add"), form(cluster, tmp_path) | {"do": "add"})
    read()
    ClusterFrontEnd.objects.filter(host="127.0.0.2").update(empty_after=NOW)
    cluster.set_life("127.0.0.3", Life.DEAD)
    cluster.set_life("127.0.0.4", Life.FROZEN)
    otto.post(reverse("refresh:cluster-read", args=["bi"]))
    assert "It is being reloaded" in page(otto, "cluster", "bi")
    read()
    text = page(otto, "cluster", "bi")
    for word in ("Cold", "Dead", "Frozen", "restarted with empty caches"):
        assert word in text
    assert "Error" in page(otto, "clusters")
    states = otto.get(reverse("refresh-api:cluster", args=["bi"])).json()["front_ends"]
    assert {one["place"].split(":")[0]: one["state"] for one in states} == {
        "127.0.0.2": "COLD",
        "127.0.0.3": "DEAD",
        "127.0.0.4": "FROZEN",
    }


def test_settings_that_work_against_us_stand_with_their_reason(otto: Client) -> None:
    row = cluster_row()
    config = {"front_end": {"enable_hms_events_incremental_sync": "true"}, "catalogs": {"hive": {}}}
    row.front_ends.update(config=config, config_at=NOW)
    text = page(otto, "cluster", "bi")
    assert "enable_hms_events_incremental_sync" in text
    assert "polls the metastore&#x27;s events itself" in text
    assert "metastore_cache_refresh_interval_sec" in text, "its default of this version"
    found = otto.get(reverse("refresh-api:cluster", args=["bi"])).json()["settings"]
    assert found[0]["front_ends"] == ["127.0.0.2", "127.0.0.3"]


def test_drifted_columns_are_a_state_of_their_own(otto: Client) -> None:
    row = cluster_row(catalog="")
    for name in ("good", "bad", "new"):
        declared(row, name)
    DeclaredTable.objects.filter(table__in=("good", "bad")).update(drift_at=NOW)
    DeclaredTable.objects.filter(table="bad").update(drift="not in Hive: <i>x</i>")
    DeclaredTable.objects.filter(table="new").update(lake="")
    text = page(otto, "cluster-tables", "bi")
    for word in ("As in Hive", "Drifted", "Unknown metastore", "not in Hive: &lt;i&gt;x"):
        assert word in text
    only = page(otto, "cluster-tables", "bi", query="?state=COLUMNS_DRIFTED")
    assert "ext.bad" in only
    assert "ext.good" not in only
    assert "1 Drifted" in page(otto, "cluster", "bi")
    answer = otto.get(reverse("refresh:cluster-tables", args=["bi"]) + "?format=csv&state=NO_LAKE")
    assert b"".join(answer).decode().splitlines()[1].startswith("ext.new,hive0,,shop.sales,NO_LAKE")
    listed = otto.get(reverse("refresh-api:cluster-tables", args=["bi"]) + "?state=AS_HIVE").json()
    assert [one["table"] for one in listed["results"]] == ["good"]


def test_pausing_bounding_and_removing_by_page(ada: Client, otto: Client) -> None:
    row = cluster_row()
    assert otto.post(reverse("refresh:cluster-pause", args=["bi"]), {}).status_code == 400
    otto.post(reverse("refresh:cluster-pause", args=["bi"]), {"reason": "<b>upgrade</b>"})
    assert "Paused by otto" in page(otto, "cluster", "bi")
    assert "&lt;b&gt;upgrade" in page(otto, "cluster", "bi")
    assert "Paused" in page(otto, "clusters", query="?paused=True")
    otto.post(reverse("refresh:cluster-resume", args=["bi"]), {"reason": "done"})
    limits = reverse("refresh:cluster-limits", args=["bi"])
    assert otto.post(limits, {"per_fe": "1", "per_catalog": "9"}).status_code == 400
    assert otto.post(limits, {"per_fe": "x"}).status_code == 400
    odd = {"per_fe": "5", "per_catalog": "9", "large_table_window": "at night"}
    assert otto.post(limits, odd).status_code == 400
    assert otto.post(limits, {"per_fe": "5", "per_catalog": "9"}).status_code == 302
    row.refresh_from_db()
    assert (row.is_paused, row.per_fe, row.per_catalog) == (False, 5, 9)
    remove, said = reverse("refresh:cluster-remove", args=["bi"]), {"reason": "old", "typed": "bi"}
    assert "Remove this cluster" not in page(otto, "cluster", "bi")
    assert otto.post(remove, said).status_code == 403
    assert ada.post(remove, said | {"typed": "b"}).status_code == 400
    assert ada.post(remove, said).status_code == 302
    assert Cluster.objects.count() == 0


def test_the_api_does_what_the_pages_do(
    ada: Client, otto: Client, cluster: RunningCluster, tmp_path: Path
) -> None:
    said: dict[str, Any] = form(cluster, tmp_path)
    said["addresses"] = [said["addresses"]]
    tried = api(otto, "cluster-test", **said)
    assert (tried.status_code, tried.json()["is_good"]) == (200, True)
    assert api(otto, "clusters", **(said | {"addresses": []})).status_code == 400
    assert api(otto, "clusters", **said).status_code == 201
    read()
    listed = otto.get(reverse("refresh-api:clusters")).json()["results"]
    assert (listed[0]["state"], listed[0]["front_ends"]) == ("CLUSTER_KEPT", "3 alive")
    assert api(otto, "cluster-pause", "bi", reason="upgrade").json()["paused_by"] == "otto"
    assert api(otto, "cluster-resume", "bi", reason="done").json()["is_paused"] is False
    assert api(otto, "cluster-limits", "bi", per_fe=5, per_catalog=7).json()["per_fe"] == 5
    assert api(otto, "cluster-limits", "bi", per_fe=0, per_catalog=7).status_code == 400
    asked = api(otto, "cluster-read", "bi")
    assert (asked.status_code, asked.json()["read_requested_at"] is not None) == (202, True)
    read()
    known = otto.get(reverse("refresh-api:cluster", args=["bi"])).json()["cluster"]
    assert (known["read_requested_at"], known["problem"]) == (None, "")
    assert api(otto, "cluster-remove", "bi", reason="old", typed="bi").status_code == 403
    assert api(ada, "cluster-remove", "bi", reason="old", typed="bi").status_code == 204
    assert api(ada, "cluster-read", "bi").status_code == 404


def test_for_others_there_are_no_clusters(people: People) -> None:
    cluster_row()
    for user in (people.owner, people.dba, people.stranger):
        client = signed_in(user)
        for name in ("clusters", "cluster", "cluster-tables"):
            args = [] if name == "clusters" else ["bi"]
            assert client.get(reverse(f"refresh:{name}", args=args)).status_code == 404
            assert client.get(reverse(f"refresh-api:{name}", args=args)).status_code == 404
        assert client.post(reverse("refresh:cluster-add"), {"do": "test"}).status_code == 404
        assert api(client, "cluster-test", addresses=["x"]).status_code == 404
        assert "/refresh/clusters/" not in client.get("/").content.decode()


def test_pages_cost_the_same_with_many_front_ends(
    otto: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    cluster_row(n_fes=40)
    cluster_row("two", n_fes=40)
    with django_assert_max_num_queries(30):
        page(otto, "clusters")
    with django_assert_max_num_queries(30):
        page(otto, "cluster", "bi")


def test_s9_s11_who_has_not_started_and_who_refuses_the_login_are_said(otto: Client) -> None:
    row = cluster_row(n_fes=2)
    row.front_ends.filter(name="bi-fe0").update(login_refused="Access denied for user 'svc'")
    row.front_ends.filter(name="bi-fe1").update(query_port=0, unstarted_at=NOW)
    text = page(otto, "cluster", "bi")
    assert "refuses the login, so nothing is sent to it: Access denied" in text
    assert "Not started yet" in text
    assert '<code title="bi-fe1">127.0.0.3</code>' in text
    assert "Circuit breaker" in text
