"""How simulated front ends pass refreshes on, and what their faults look like to a client."""

import threading
import time

import pymysql
import pytest

from refresh.core.domain.answers import ErrorKind, Outcome, outcomes, read_answer
from refresh.core.domain.versions import Dialect
from refresh.verify.domain.probing import read_costs
from stack.starrocks.front_end import Life
from stack.starrocks.link import Trouble
from stack.starrocks.running import RunningCluster
from stack.starrocks.spec import NEW, Spec, Timings
from tests.component.stack.starrocks.starrocks_cluster import (
    URIS,
    Client,
    listed,
    running,
    spec,
    wait_until,
)
from tests.support.small_hive import SmallHive

SALES = "hive.shop.sales"
REFRESH = f"REFRESH EXTERNAL TABLE {SALES}"
OLD_REFRESH = "REFRESH EXTERNAL TABLE ext.sales_in_sr"
DAY_2 = "dt=2026-11-02"
PART = f"PARTITION ('{DAY_2}')"
ONE, TWO, THREE = "127.0.0.2", "127.0.0.3", "127.0.0.4"
NO_ANSWER = (pymysql.MySQLError, AssertionError, ValueError, IndexError, TypeError)


def estimates(cluster: RunningCluster) -> list[int | None]:
    """What each believes of all partitions once a query has loaded them."""
    for number in (1, 2, 3):
        Client(cluster, number).query(SALES)
    return [read_costs(Client(cluster, n).costs(SALES)).cardinality for n in (1, 2, 3)]


# -- refresh and its fan-out ---------------------------------------------------------------


def test_r5_a_refresh_reaches_every_front_end(
    small_hive: SmallHive, cluster: RunningCluster
) -> None:
    before = estimates(cluster)
    small_hive.put("sales", DAY_2, size=1_000_000)
    assert estimates(cluster) == before
    Client(cluster, 3).run(f"{REFRESH} PARTITION ('{DAY_2}')")
    after = estimates(cluster)
    assert len(set(after)) == 1
    assert after != before


@pytest.mark.parametrize(
    ("life", "why"),
    [
        (Life.DEAD, "java.net.ConnectException: Connection refused"),
        (Life.FROZEN, "java.net.SocketTimeoutException: Read timed out"),
    ],
)
def test_r5_one_that_fails_is_named_and_the_others_are_refreshed(
    small_hive: SmallHive, cluster: RunningCluster, life: Life, why: str
) -> None:
    before = estimates(cluster)
    every = listed(Client(cluster))
    cluster.set_life(TWO, life)
    small_hive.put("sales", DAY_2, size=1_000_000)
    client = Client(cluster)
    client.run("SET query_timeout = 1")
    code, text = client.error(REFRESH)
    assert (code, text) == (
        5074,
        f"refresh external table failed: refresh fe {TWO} failed: {why};",
    )
    came = outcomes(text, coordinator=every[0], every=every)
    assert [came[fe.name].outcome for fe in every] == [
        Outcome.DONE,
        Outcome.FAILED,
        Outcome.DONE,
    ]
    (fe,) = [fe for fe in listed(client) if not fe.is_alive]
    assert fe.host == TWO
    assert fe.error == ("Connection refused" if life is Life.DEAD else "Read timed out")
    assert fe.start == ""
    cluster.set_life(TWO, Life.RUNNING)
    Client(cluster, 2).run(REFRESH)  # its repair: the same statement on itself
    assert estimates(cluster) != before


def test_a_front_end_that_died_since_the_last_refresh_closes_the_pooled_connection(
    cluster: RunningCluster,
) -> None:
    client = Client(cluster)
    client.run(REFRESH)
    cluster.set_life(TWO, Life.DEAD)
    cluster.set_life(THREE, Life.DEAD)
    closed, refused = "Socket is closed by peer.", "java.net.ConnectException: Connection refused"
    for why in (closed, refused):
        assert client.error(REFRESH)[1] == (
            f"refresh external table failed: refresh fe {TWO} failed: {why};"
            f"refresh fe {THREE} failed: {why};"
        )


def test_a_refresh_that_fails_here_asks_nobody_else(cluster: RunningCluster) -> None:
    Client(cluster).error(f"{REFRESH} PARTITION ('dt=2099-01-01')")
    calls = cluster.cluster.calls()
    assert [sum(calls[fe.name].values()) > 0 for fe in cluster.cluster.front_ends] == [
        True,
        False,
        False,
    ]


def test_another_front_ends_own_failure_comes_with_its_words(cluster: RunningCluster) -> None:
    client = Client(cluster)
    client.run(REFRESH)
    cluster.set_weather(TWO, Trouble.FROZEN)
    assert client.error(REFRESH) == (
        5074,
        f"refresh external table failed: refresh fe {TWO} failed: Failed to get table"
        " [shop.sales], msg: SocketTimeoutException: Read timed out;",
    )


def test_the_old_version_passes_refreshes_on_too(
    small_hive: SmallHive, old_cluster: RunningCluster
) -> None:
    small_hive.put("sales", "dt=2026-11-03", size=1)
    Client(old_cluster).run(OLD_REFRESH)
    assert "partitions=3/3" in Client(old_cluster, 3).costs("ext.sales_in_sr")


def test_front_ends_on_one_host_skip_each_other(small_hive: SmallHive) -> None:
    alone = spec()
    one, two = alone.members[:2]
    members = (one, one, two, two)
    shared = Spec(NEW, members, alone.catalogs, users=alone.users, timings=alone.timings)
    with RunningCluster(shared, hives={URIS: small_hive}) as cluster:
        Client(cluster).run(REFRESH)
        calls = cluster.cluster.calls()
        assert [bool(calls[fe.name]) for fe in cluster.cluster.front_ends] == [
            True,
            False,
            True,
            True,
        ]
        for fe in cluster.cluster.front_ends[2:]:
            cluster.set_life(fe.name, Life.DEAD)
        assert Client(cluster).error(REFRESH)[1].count(f"refresh fe {TWO} failed: ") == 2


# -- faults of processes and of the metastore ----------------------------------------------


def test_a_frozen_front_end_takes_connections_and_says_nothing_until_it_thaws(
    cluster: RunningCluster,
) -> None:
    client = Client(cluster, 2, timeout=0.3)
    cluster.set_life(TWO, Life.FROZEN)
    code, text = client.error("SHOW CATALOGS")
    assert read_answer(code, text, dialect=Dialect.CATALOGS).meaning is ErrorKind.FE_SILENT
    with pytest.raises(pymysql.err.OperationalError) as silent:
        Client(cluster, 2, timeout=0.3)
    assert silent.value.args[0] in (2003, 2013)
    cluster.set_life(TWO, Life.RUNNING)
    assert Client(cluster, 2).run("SHOW CATALOGS")


def test_a_dead_one_breaks_its_connections_and_a_restarted_one_is_cold(
    small_hive: SmallHive, cluster: RunningCluster
) -> None:
    client, before = Client(cluster, 2), estimates(cluster)
    started = listed(client)[1].start
    small_hive.put("sales", DAY_2, size=1_000_000)
    cluster.set_life(TWO, Life.DEAD)
    assert client.error("SHOW CATALOGS")[0] in (2006, 2013)
    with pytest.raises(pymysql.err.OperationalError) as refused:
        Client(cluster, 2)
    said = read_answer(*refused.value.args, dialect=Dialect.CATALOGS)
    assert said.meaning is ErrorKind.FE_REFUSED
    cluster.set_life(TWO, Life.RUNNING)
    fresh = Client(cluster, 2)
    assert listed(fresh)[1].start > started
    now = estimates(cluster)
    assert now[0] == before[0]
    assert now[1] != before[1]  # what it has, it has just loaded


def test_one_that_dies_in_the_middle_says_nothing_more(
    small_hive: SmallHive, cluster: RunningCluster
) -> None:
    hold = small_hive.held["table sales"] = threading.Event()
    client, said = Client(cluster), []
    asking = threading.Thread(target=lambda: said.append(client.error(REFRESH)))
    asking.start()
    wait_until(lambda: sum(cluster.cluster.calls()[f"{ONE}_9010_1"].values()) > 1)
    cluster.restart(ONE)
    asking.join(10)
    assert said[0][0] == 2013
    hold.set()
    assert Client(cluster).run("SHOW CATALOGS")


def test_one_that_freezes_in_the_middle_asks_nothing_until_it_thaws(
    small_hive: SmallHive, cluster: RunningCluster
) -> None:
    Client(cluster).run(REFRESH)
    calls, name = cluster.cluster.calls, f"{TWO}_9010_2"
    hold = small_hive.held["partitions sales"] = threading.Event()
    client, said = Client(cluster, 2, timeout=30), []
    asking = threading.Thread(target=lambda: said.append(client.run(f"{REFRESH} {PART}")))
    before = calls()[name]["get_partitions_by_names"]
    asking.start()
    wait_until(lambda: calls()[name]["get_partitions_by_names"] > before)
    cluster.set_life(TWO, Life.FROZEN)
    hold.set()
    there = calls()[name]
    asking.join(0.1)
    assert asking.is_alive()
    assert calls()[name] == there
    cluster.set_life(TWO, Life.RUNNING)
    asking.join(10)
    assert said == [[]]
    assert calls()[name]["get_partitions_statistics_req"] == 1


def test_garbage_is_garbage(cluster: RunningCluster) -> None:
    client = Client(cluster)
    cluster.set_life(ONE, Life.GARBAGE)
    with pytest.raises(NO_ANSWER):
        client.run("SHOW CATALOGS")
    with pytest.raises(NO_ANSWER):
        Client(cluster, timeout=1)


def test_the_metastore_down_is_said_as_it_was_seen(cluster: RunningCluster) -> None:
    client = Client(cluster)
    client.run(REFRESH)
    cluster.set_weather(None, Trouble.DOWN)
    assert client.error("REFRESH EXTERNAL TABLE hive.other.t")[0] == 5502
    code, text = client.error("SHOW DATABASES FROM hive")
    assert code == 1064
    assert text.startswith(
        "Failed to getAllDatabases, msg: MetaException: Could not connect to meta store using any"
        " of the URIs provided. "
    )
    assert "\n\tat " in text
    said = read_answer(*client.error(REFRESH), dialect=Dialect.CATALOGS)
    assert said.meaning is ErrorKind.METASTORE_DOWN
    cluster.set_weather(None, Trouble.NONE)
    client.run(REFRESH)


def test_a_frozen_metastore_outlasts_the_query_timeout(cluster: RunningCluster) -> None:
    client = Client(cluster)
    client.run(REFRESH)
    client.run("SET query_timeout = 0")
    cluster.set_weather(ONE, Trouble.FROZEN)
    started = time.monotonic()
    said = client.error(REFRESH)
    assert said == (
        1064,
        "Failed to get table [shop.sales], msg: SocketTimeoutException: Read timed out",
    )
    assert time.monotonic() - started >= 5 * 0.05


def test_a_dead_one_is_listed_alive_until_a_heartbeat_is_missed(small_hive: SmallHive) -> None:
    with running(small_hive, timings=Timings(heartbeat=60)) as cluster:
        client = Client(cluster)
        cluster.set_life(TWO, Life.DEAD)
        assert all(fe.is_alive for fe in listed(client))
        cluster.cluster.front_end(TWO).changed_at -= 60
        assert [fe.is_alive for fe in listed(client)] == [True, False, True]
        cluster.set_life(TWO, Life.RUNNING)
        cluster.set_life(ONE, Life.DEAD)
        assert [fe.is_leader for fe in listed(Client(cluster, 3))] == [False, True, False]
