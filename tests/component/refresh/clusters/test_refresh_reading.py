"""What the portal knows of a cluster after it was read: front ends, names, settings, problems."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from portal.lake.errors import ExternalFailure, RuleViolation
from portal.reliability.breaker import Breaker
from refresh.clusters.domain.frontends import Contact, FeState
from refresh.clusters.services.fe_cache_settings import settings_read
from refresh.clusters.services.front_ends import front_ends_read, login_of
from refresh.clusters.services.table_names import names_read
from refresh.models import Cluster, ClusterFrontEnd
from stack.starrocks.front_end import Life
from stack.starrocks.running import RunningCluster
from stack.starrocks.spec import OLD
from tests.component.conftest import NOW
from tests.component.refresh.reachable import lake_at, password_file, row_of
from tests.component.stack.starrocks.starrocks_cluster import ON_RESOURCE, QUICK, spec
from tests.support.small_hive import SmallHive
from tests.support.thrift_lake import ThriftLake, served

pytestmark = pytest.mark.django_db
ONE, TWO, THREE = "127.0.0.2", "127.0.0.3", "127.0.0.4"


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def front_end(cluster: Cluster, host: str) -> ClusterFrontEnd:
    return cluster.front_ends.get(host=host)


def states(cluster: Cluster) -> dict[str, FeState]:
    return {row.host: row.state for row in cluster.front_ends.all()}


def test_r1_one_address_is_enough_to_know_all_front_ends(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    row = row_of(cluster, tmp_path, only=1)
    front_ends_read(row, now=NOW)
    assert states(row) == dict.fromkeys((ONE, TWO, THREE), FeState.ALIVE)
    one = front_end(row, ONE)
    assert (one.is_leader, one.version, one.contact, one.contact_at) == (
        True,
        "3.5.0-simulator",
        Contact.ANSWERED,
        NOW,
    )
    assert (row.read_at, row.problem) == (NOW, "")
    front_ends_read(row, now=later(5))
    assert row.front_ends.count() == 3
    assert front_end(row, ONE).empty_after is None


def test_dead_frozen_and_babbling_ones_are_told_apart_and_kept(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    row = row_of(cluster, tmp_path)
    front_ends_read(row, now=NOW)
    cluster.set_life(TWO, Life.DEAD)
    cluster.set_life(THREE, Life.FROZEN)
    front_ends_read(row, now=later(5))
    assert states(row) == {ONE: FeState.ALIVE, TWO: FeState.DEAD, THREE: FeState.FROZEN}
    cluster.set_life(THREE, Life.GARBAGE)
    front_ends_read(row, now=later(10))
    assert states(row)[THREE] is FeState.FROZEN, "whatever speaks there, its process may live"


def test_a_restarted_one_began_with_empty_caches(cluster: RunningCluster, tmp_path: Path) -> None:
    row = row_of(cluster, tmp_path)
    front_ends_read(row, now=NOW)
    known = front_end(row, TWO).seen_start
    ClusterFrontEnd.objects.filter(host=TWO).update(seen_start="2026-11-19 08:00:00")
    cluster.restart(TWO)
    front_ends_read(row, now=later(30))
    found = front_end(row, TWO)
    assert found.seen_start >= known
    # The leader lists what it heard last, so the restart may be older than our last look.
    assert found.empty_after == later(-60)
    assert found.seen_start_at == later(30)
    assert front_end(row, ONE).empty_after is None
    front_ends_read(row, now=later(60))
    assert front_end(row, TWO).empty_after == later(-60), "it stays until the next restart"


def test_a_dead_one_keeps_the_start_that_was_seen_last(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    row = row_of(cluster, tmp_path)
    front_ends_read(row, now=NOW)
    seen = front_end(row, TWO).seen_start
    cluster.set_life(TWO, Life.DEAD)
    front_ends_read(row, now=later(30))
    found = front_end(row, TWO)
    assert (found.start, found.seen_start, found.seen_start_at) == ("", seen, NOW)


def test_nobody_answers_and_nothing_is_forgotten(cluster: RunningCluster, tmp_path: Path) -> None:
    row = row_of(cluster, tmp_path)
    front_ends_read(row, now=NOW)
    for host in (ONE, TWO, THREE):
        cluster.set_life(host, Life.DEAD)
    front_ends_read(row, now=later(5))
    assert set(states(row).values()) == {FeState.DEAD}
    assert row.read_at == NOW
    assert row.problem.startswith("Front ends: The front end 127.0.0.2:")
    cluster.set_life(TWO, Life.RUNNING)
    front_ends_read(row, now=later(10))
    assert row.problem == ""


def test_who_is_registered_no_more_owes_nothing(cluster: RunningCluster, tmp_path: Path) -> None:
    row = row_of(cluster, tmp_path)
    ClusterFrontEnd.objects.create(
        cluster=row,
        name="10.9.9.9_9010_7",
        host="10.9.9.9",
        query_port=9030,
        is_alive=False,
        is_leader=False,
        listed_at=NOW,
    )
    front_ends_read(row, now=later(5))
    assert set(states(row)) == {ONE, TWO, THREE}


def test_reading_leaves_the_workers_own_fields_and_newer_contacts(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    row = row_of(cluster, tmp_path)
    front_ends_read(row, now=NOW)
    row.front_ends.filter(host=ONE).update(
        n_failed=2, contact=Contact.TIMED_OUT, contact_at=later(60)
    )
    front_ends_read(row, now=later(30))
    found = front_end(row, ONE)
    assert found.breaker == Breaker(n_failed=2)
    assert found.state is FeState.FROZEN


@pytest.mark.parametrize(
    ("user", "words"),
    [("nobody", "Access denied; you need"), ("who", "Access denied for user 'who'")],
)
def test_a_login_that_may_not_is_a_problem_and_no_error(
    cluster: RunningCluster, tmp_path: Path, user: str, words: str
) -> None:
    row = row_of(cluster, tmp_path, user=user)
    front_ends_read(row, now=NOW)
    assert words in row.problem
    assert "secret" not in row.problem
    assert row.front_ends.count() == 0


def test_the_password_file_must_be_private_and_hold_a_password(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    row = row_of(cluster, tmp_path)
    assert login_of(row).password == "secret"
    file = password_file(tmp_path, mode=0o640)
    with pytest.raises(RuleViolation, match="may be read or changed by others"):
        login_of(row)
    front_ends_read(row, now=NOW)
    assert row.problem.startswith("Front ends: ")
    for content in (b"", b"\n", b"a\nb\n", b"\xff\xfe", b"x" * 2000):
        file.write_bytes(content)
        file.chmod(0o600)
        with pytest.raises(RuleViolation, match="holds no password"):
            login_of(row)
    for path in ("starrocks.password", "", "/x\0y"):
        with pytest.raises(RuleViolation, match="no absolute path"):
            login_of(replace_file(row, path))
    with pytest.raises(RuleViolation, match="no plain file"):
        login_of(replace_file(row, str(tmp_path)))
    with pytest.raises(ExternalFailure, match="cannot be read"):
        login_of(replace_file(row, str(tmp_path / "none")))


def replace_file(row: Cluster, path: str) -> Cluster:
    row.password_file = path
    return row


def test_n12_catalogs_stand_for_the_lake_whose_metastore_they_read(
    small_hive: SmallHive, tmp_path: Path, settings: Any
) -> None:
    lake_at(tmp_path, settings)
    strange = "thrift://elsewhere:9083"
    wide = replace(spec(), catalogs={**spec().catalogs, "other": strange, "härte ' \"": strange})
    with RunningCluster(
        wide, hives=dict.fromkeys((*wide.catalogs.values(),), small_hive)
    ) as cluster:
        row = row_of(cluster, tmp_path)
        front_ends_read(row, now=NOW)
        names_read(row, now=NOW)
        assert row.problem == ""
        lakes = dict(row.catalogs.values_list("name", "lake"))
        assert lakes == {"hive": "main", "other": "", "härte ' \"": ""}
        for host in (ONE, TWO, THREE):
            cluster.set_life(host, Life.DEAD)
        names_read(row, now=later(5))
    assert row.catalogs.count() == 3
    assert row.names_read_at == NOW
    assert row.problem.startswith("Names: ")


def test_n12_tables_on_resources_stand_for_hive_tables_and_show_their_drift(
    small_hive: SmallHive, tmp_path: Path, settings: Any
) -> None:
    gone = replace(ON_RESOURCE, name="gone_in_sr", hive_table="gone")
    tables = (ON_RESOURCE, replace(ON_RESOURCE, name="again", hive_table="SALES"), gone)
    with served(ThriftLake(small_hive, tmp_path)) as port:
        uris = f"thrift://127.0.0.1:{port}"
        lake_at(tmp_path, settings, port)
        old = replace(spec(OLD, timings=QUICK), resources={"hive0": uris}, tables=tables)
        with RunningCluster(old, hives={uris: small_hive}) as cluster:
            row = row_of(cluster, tmp_path)
            front_ends_read(row, now=NOW)
            names_read(row, now=NOW)
            assert row.problem == ""
            found = {one.table: one for one in row.declared.all()}
            assert {one.hive_table for one in found.values()} == {"sales", "gone"}
            assert found["again"].lake == "main"
            assert found["sales_in_sr"].drift == "not in StarRocks: note, price"
            assert found["sales_in_sr"].drift_at == NOW
            assert found["gone_in_sr"].drift == "The Hive table is not there."
            lake_at(tmp_path, settings, 1)
            names_read(row, now=later(5))
            assert dict(row.declared.values_list("table", "lake"))["again"] == ""
            assert row.declared.get(table="again").drift_at == NOW, "known before, with its age"


def test_n12_a_metastore_that_is_down_takes_no_name_away(
    old_cluster: RunningCluster, tmp_path: Path, settings: Any
) -> None:
    lake_at(tmp_path, settings)
    row = row_of(old_cluster, tmp_path)
    front_ends_read(row, now=NOW)
    names_read(row, now=NOW)
    one = row.declared.get()
    assert (str(one), one.lake, one.drift, one.drift_at) == ("ext.sales_in_sr", "main", "", None)
    assert "columns were not compared, lake main" in row.problem


def test_n16_each_front_ends_own_settings_are_known(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    row = row_of(cluster, tmp_path)
    front_ends_read(row, now=NOW)
    cluster.set_life(TWO, Life.DEAD)
    front_ends_read(row, now=later(5))
    settings_read(row, now=later(5))
    config = front_end(row, ONE).config
    assert config["front_end"]["enable_hms_events_incremental_sync"] == "false"
    assert config["catalogs"]["hive"]["metastore_cache_ttl_sec"] == "315360000"
    assert "hive.metastore.uris" not in config["catalogs"]["hive"]
    assert front_end(row, TWO).config_at is None
    assert row.problem == ""
