"""The demo's front ends as its portal finds them: alive, one of them slow, one just restarted."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from refresh.core.connectors.front_end import FrontEndClient, Login
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from stack.dashboards import DECLARED, RESTARTED, SECONDS_A_CALL
from tests.browser.demo import Demo


@pytest.fixture
def clusters(demo: Demo) -> dict[str, Any]:
    told = json.loads((demo.var / "starrocks.json").read_text(encoding="utf-8"))
    return {cluster["name"]: cluster for cluster in told}


def client(cluster: dict[str, Any], *, dialect: Dialect) -> FrontEndClient:
    host, port = cluster["front_ends"][0].split(":")
    password = Path(cluster["password_file"]).read_text(encoding="utf-8")
    login = Login(cluster["user"], password)
    found = FrontEndClient.connect(host, int(port), login=login, dialect=dialect)
    assert isinstance(found, FrontEndClient)
    return found


def test_one_was_restarted_after_the_others_and_one_makes_every_refresh_slow(
    clusters: dict[str, Any],
) -> None:
    with client(clusters["bi"], dialect=Dialect.CATALOGS) as leader:
        listed = leader.front_ends()
        places = [f"{fe.host}:{fe.query_port}" for fe in listed]
        assert places == clusters["bi"]["front_ends"]
        assert [fe.is_alive for fe in listed] == [True, True, True]
        assert [fe.host for fe in listed if fe.start > listed[0].start] == [RESTARTED]
        started = time.monotonic()
        assert leader.refresh(ExternalTable(ClusterId("bi"), "hive", "sales", "returns")) is None
        assert time.monotonic() - started > 2 * SECONDS_A_CALL


def test_the_portal_keeps_both_clusters_by_the_addresses_of_their_front_ends(
    demo: Demo, clusters: dict[str, Any]
) -> None:
    rows = demo.portal_rows(
        "select c.name, f.host || ':' || f.query_port from refresh_cluster c"
        " join refresh_clusterfrontend f on f.cluster_id = c.id order by c.name, f.host"
    )
    places = {name: cluster["front_ends"] for name, cluster in clusters.items()}
    assert rows == [(name, place) for name in ("bi", "reports") for place in places[name]]


def test_the_old_cluster_has_tables_of_its_own_names(clusters: dict[str, Any]) -> None:
    with client(clusters["reports"], dialect=Dialect.RESOURCES) as leader:
        assert list(leader.resources()) == ["hive0"]
        assert leader.tables("board") == sorted(table.name for table in DECLARED)
        alerts = ExternalTable(ClusterId("reports"), "", "board", "alerts")
        assert leader.plan(alerts).n_partitions == 60
