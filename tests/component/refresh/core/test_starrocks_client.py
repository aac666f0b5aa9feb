"""The client of one front end against simulated ones: reading, refreshing, what may go wrong."""

import threading
import time

import pytest

from portal.lake.errors import ExternalFailure
from refresh.clusters.domain.frontends import Contact
from refresh.core.connectors.front_end import Budget, FrontEndClient, Login, contact_of
from refresh.core.domain.answers import Answer, ErrorKind, Outcome, outcomes
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.verify.domain.probing import Picture
from stack.starrocks.front_end import Life
from stack.starrocks.link import Trouble
from stack.starrocks.running import RunningCluster
from tests.component.stack.starrocks.starrocks_cluster import URIS
from tests.support.small_hive import SmallHive

BI = ClusterId("bi")
SALES = ExternalTable(BI, "hive", "shop", "sales")
IN_SR = ExternalTable(BI, "", "ext", "sales_in_sr")
ONE, TWO = "127.0.0.2", "127.0.0.3"
SVC = Login("svc", "secret")
PATIENT = Budget(query_timeout=20)
HASTY = Budget(connect=0.3)


def connect(
    cluster: RunningCluster,
    number: int = 1,
    *,
    login: Login = SVC,
    dialect: Dialect = Dialect.CATALOGS,
    budget: Budget = PATIENT,
) -> FrontEndClient | Answer:
    host, port = cluster.addresses()[number - 1]
    return FrontEndClient.connect(host, port, login=login, dialect=dialect, budget=budget)


def client(
    cluster: RunningCluster,
    number: int = 1,
    *,
    user: str = "svc",
    dialect: Dialect = Dialect.CATALOGS,
    budget: Budget = PATIENT,
) -> FrontEndClient:
    login = Login(user, "secret")
    found = connect(cluster, number, login=login, dialect=dialect, budget=budget)
    assert isinstance(found, FrontEndClient)
    return found


def test_everything_that_a_cluster_declares_is_read(
    cluster: RunningCluster, old_cluster: RunningCluster
) -> None:
    with client(cluster) as new:
        assert [(fe.host, fe.query_port) for fe in new.front_ends()] == cluster.addresses()
        assert new.catalogs() == {"hive": URIS}
        assert new.tables("shop", catalog="hive") == ["sales", "shops"]
        assert new.plan(SALES).n_partitions == 2
        kept = new.kept_table(SALES)
        assert kept == Picture(ddl_time=1000, location="hdfs://lake/shop/sales")
        assert new.config("%ttl%") == {"hive_meta_cache_ttl_s": "315360000"}
    with client(old_cluster, dialect=Dialect.RESOURCES) as old:
        assert old.resources() == {"hive0": URIS}
        assert old.tables("ext") == ["sales_in_sr"]
        table = old.resource_table(IN_SR)
        assert table is not None
        assert table.hive_table == "sales"
        assert old.refresh(IN_SR) is None


def test_r5_a_refresh_is_seen_everywhere_and_tells_who_missed_it(
    small_hive: SmallHive, cluster: RunningCluster
) -> None:
    with client(cluster) as one, client(cluster, 2) as two:
        before = [one.plan(SALES), two.plan(SALES)]
        small_hive.put("sales", "dt=2026-11-02", size=1_000_000)
        assert one.refresh(SALES, ["dt=2026-11-02"]) is None
        after = [one.plan(SALES), two.plan(SALES)]
        assert before[0] == before[1] != after[0] == after[1]
        every = one.front_ends()
        cluster.set_life(TWO, Life.DEAD)
        answer = one.refresh(SALES)
        assert answer is not None
        assert answer.meaning is ErrorKind.PARTIAL
        came = outcomes(answer.text, coordinator=every[0], every=every)
        assert came[every[1].name].outcome is Outcome.FAILED
        assert came[every[2].name].outcome is Outcome.DONE


def test_an_error_of_the_front_end_leaves_the_connection_open(cluster: RunningCluster) -> None:
    with client(cluster) as one:
        answer = one.refresh(SALES, ["dt=2099-01-01"])
        assert answer is not None
        assert answer.meaning is ErrorKind.PARTITION_UNKNOWN
        assert contact_of(answer) is Contact.ANSWERED
        assert one.refresh(SALES) is None
        cluster.set_weather(None, Trouble.DOWN)
        with pytest.raises(ExternalFailure) as failed:
            one.tables("other", catalog="hive")
        assert failed.value.code == "starrocks.name_unknown"
        assert failed.value.retryable
        answer = one.refresh(SALES)
        assert answer is not None
        assert answer.meaning is ErrorKind.METASTORE_DOWN
        assert "\n" in answer.text
        assert "\n" not in answer.short


def test_names_of_any_kind_arrive_as_they_are(
    small_hive: SmallHive, cluster: RunningCluster
) -> None:
    odd = 'dt=it\'s 100% "ünïcode" \\ ; -- 🦭'
    small_hive.put("sales", odd, size=1)
    with client(cluster) as one:
        assert one.refresh(SALES, [odd]) is None
        answer = one.refresh(ExternalTable(BI, "hive", "shop", "täble; DROP"))
        assert answer is not None
        assert "shop.täble; DROP table not found" in answer.text


@pytest.mark.parametrize(
    ("user", "password"), [("svc", "wrong"), ("svc", ""), ("stranger", "secret")]
)
def test_a_wrong_login_is_no_fault_of_the_front_end(
    cluster: RunningCluster, user: str, password: str
) -> None:
    answer = connect(cluster, login=Login(user, password))
    assert isinstance(answer, Answer)
    assert answer.meaning is ErrorKind.BAD_LOGIN
    assert contact_of(answer) is Contact.ANSWERED
    assert "secret" not in repr(SVC)


def test_a_missing_right_is_said(cluster: RunningCluster) -> None:
    with client(cluster, user="reader") as reader:
        answer = reader.refresh(SALES)
        assert answer is not None
        assert answer.meaning is ErrorKind.NO_RIGHT
        with pytest.raises(ExternalFailure) as refused:
            reader.front_ends()
        assert (refused.value.code, refused.value.retryable) == ("starrocks.no_right", False)


def test_dead_frozen_and_babbling_are_told_apart(cluster: RunningCluster) -> None:
    for life, meaning in (
        (Life.DEAD, ErrorKind.FE_REFUSED),
        (Life.FROZEN, ErrorKind.FE_SILENT),
        (Life.GARBAGE, ErrorKind.FE_SILENT),
    ):
        cluster.set_life(ONE, life)
        answer = connect(cluster, budget=HASTY)
        assert isinstance(answer, Answer)
        assert answer.meaning is meaning
        assert contact_of(answer) is not Contact.ANSWERED
        cluster.set_life(ONE, Life.RUNNING)


@pytest.mark.parametrize("life", [Life.DEAD, Life.FROZEN, Life.GARBAGE])
def test_what_happens_under_an_open_connection_ends_it(cluster: RunningCluster, life: Life) -> None:
    with client(cluster, budget=Budget(query_timeout=1, beyond=0)) as one:
        cluster.set_life(ONE, life)
        answer = one.refresh(SALES)
        assert answer is not None
        assert answer.meaning is ErrorKind.FE_SILENT
        cluster.set_life(ONE, Life.RUNNING)
        with pytest.raises(ExternalFailure):
            one.front_ends()


def test_a_slow_statement_has_its_time_though_a_connection_has_not(
    small_hive: SmallHive, cluster: RunningCluster
) -> None:
    with client(cluster, budget=Budget(query_timeout=20, connect=0.5)) as one:
        assert one.refresh(SALES) is None
        release = small_hive.held["table sales"] = threading.Event()
        threading.Timer(0.8, release.set).start()
        started = time.monotonic()
        assert one.refresh(SALES) is None
        assert time.monotonic() - started > 0.5


def test_the_front_end_is_told_its_bound(cluster: RunningCluster) -> None:
    with client(cluster, budget=Budget(query_timeout=7)):
        sent = [entry.statement for entry in cluster.cluster.audit]
    assert "SET query_timeout = 7" in sent
    assert Budget(query_timeout=30).read > 30 + 10 + 50  # a frozen metastore takes 51 s
