"""What simulated front ends say by PyMySQL, word for word, by version.

It is read by refresh's own readers: those and the simulator follow the same facts.
"""

import pymysql
import pytest

from refresh.clusters.domain.column_drift import column_drift
from refresh.clusters.domain.external_tables import (
    read_catalog,
    read_resource_table,
    read_resources,
)
from refresh.core.domain.answers import ErrorKind, read_answer
from refresh.core.domain.versions import Dialect
from refresh.verify.domain.probing import Picture, read_ddl
from stack.starrocks.front_end import Life
from stack.starrocks.running import RunningCluster
from stack.starrocks.spec import NEW, OLD, Member, from_json
from tests.component.stack.starrocks.starrocks_cluster import URIS, Client, listed, spec
from tests.support.small_hive import COLUMNS, DAY

SALES = "hive.shop.sales"
ALL = "SELECT * FROM hive.shop.sales"
REFRESH = f"REFRESH EXTERNAL TABLE {SALES}"
OLD_REFRESH = "REFRESH EXTERNAL TABLE ext.sales_in_sr"


def test_the_front_ends_of_both_versions_are_listed(
    cluster: RunningCluster, old_cluster: RunningCluster
) -> None:
    for running_cluster, dialect in (
        (cluster, Dialect.CATALOGS),
        (old_cluster, Dialect.RESOURCES),
    ):
        found = listed(Client(running_cluster, 2))
        assert [(fe.host, fe.query_port) for fe in found] == running_cluster.addresses()
        assert [fe.is_leader for fe in found] == [True, False, False]
        assert all(fe.is_alive and fe.version.dialect is dialect for fe in found)
    assert len(Client(cluster).run("SHOW FRONTENDS")[0]) == 17
    row = Client(old_cluster).run("SHOW PROC '/frontends'")[0]
    assert "Id" not in row
    assert row["IsMaster"] == "true"


def test_catalogs_and_tables_are_declared_as_the_reader_wants_them(
    cluster: RunningCluster,
) -> None:
    client = Client(cluster)
    assert [row["Catalog"] for row in client.run("SHOW CATALOGS")] == ["default_catalog", "hive"]
    assert read_catalog(client.run("SHOW CREATE CATALOG hive")[0]["Create Catalog"]) == URIS
    ddl = client.run(f"SHOW CREATE TABLE {SALES}")[0]["Create Table"]
    assert read_ddl(ddl) == Picture(ddl_time=1000, location="hdfs://lake/shop/sales")
    assert client.run("SHOW DATABASES FROM hive") == [{"Database": "shop"}]
    assert len(client.run("SHOW TABLES FROM `hive`.`shop`")) == 2
    shown = {row["Key"]: row["Value"] for row in client.run("ADMIN SHOW FRONTEND CONFIG")}
    assert shown["enable_background_refresh_connector_metadata"] == "false"


def test_resources_and_their_tables_are_declared_as_the_reader_wants_them(
    old_cluster: RunningCluster,
) -> None:
    client = Client(old_cluster)
    assert read_resources(client.run("SHOW RESOURCES")) == {"hive0": URIS}
    assert client.run("SHOW TABLES FROM ext") == [{"Tables_in_ext": "sales_in_sr"}]
    ddl = client.run("SHOW CREATE TABLE ext.sales_in_sr")[0]["Create Table"]
    table = read_resource_table(ddl)
    assert table is not None
    assert (table.resource, table.hive_db, table.hive_table) == ("hive0", "shop", "sales")
    drift = column_drift(starrocks=table.columns, hive=(*COLUMNS, *DAY))
    assert drift.not_in_starrocks == ("note", "price")


@pytest.mark.parametrize(
    ("sql", "code", "text", "meaning"),
    [
        (
            "REFRESH EXTERNAL TABLE x.shop.sales",
            5078,
            "Getting analyzing error. Detail message: Unknown catalog 'x'.",
            ErrorKind.CATALOG_UNKNOWN,
        ),
        (
            "REFRESH EXTERNAL TABLE hive.nodb.t",
            5502,
            "Getting analyzing error. Detail message: Unknown table 'nodb'.",
            ErrorKind.NAME_UNKNOWN,
        ),
        (
            "EXPLAIN COSTS SELECT * FROM hive.nodb.t",
            5501,
            "Getting analyzing error. Detail message: Unknown database 'nodb'.",
            ErrorKind.NAME_UNKNOWN,
        ),
        (
            "REFRESH EXTERNAL TABLE hive.shop.nope",
            1064,
            "Failed to get table [shop.nope], msg: NoSuchObjectException: shop.nope table not"
            " found",
            ErrorKind.NAME_UNKNOWN,
        ),
        (
            f"{REFRESH} PARTITION ('dt=2099-01-01')",
            1064,
            "null value in entry: dt=2099-01-01=null",
            ErrorKind.PARTITION_UNKNOWN,
        ),
        (
            "REFRESH EXTERNAL TABLE sales",
            1046,
            "Getting analyzing error. Detail message: No database selected.",
            ErrorKind.BAD_STATEMENT,
        ),
        (
            "REFRESH TABLE sales",
            1064,
            "Getting syntax error at line 1, column 8. Detail message: No viable statement for"
            " input 'REFRESH TABLE'.",
            ErrorKind.BAD_STATEMENT,
        ),
    ],
)
def test_errors_have_the_codes_and_words_that_were_seen(
    cluster: RunningCluster, sql: str, code: int, text: str, meaning: ErrorKind
) -> None:
    said = Client(cluster).error(sql)
    assert said == (code, text)
    assert read_answer(*said, dialect=Dialect.CATALOGS).meaning is meaning


@pytest.mark.parametrize(
    ("sql", "code", "meaning"),
    [
        ("REFRESH EXTERNAL TABLE nodb.t", 1049, ErrorKind.UNLINKED),
        ("REFRESH EXTERNAL TABLE ext.t", 1051, ErrorKind.UNLINKED),
        (f"{OLD_REFRESH} PARTITION ('dt=2099')", 1064, ErrorKind.NAME_UNKNOWN),
    ],
)
def test_errors_of_the_old_version(
    old_cluster: RunningCluster, sql: str, code: int, meaning: ErrorKind
) -> None:
    said = Client(old_cluster).error(sql)
    assert said[0] == code
    assert read_answer(*said, dialect=Dialect.RESOURCES).meaning is meaning


def test_who_may_not_is_told_so(cluster: RunningCluster, old_cluster: RunningCluster) -> None:
    with pytest.raises(pymysql.err.OperationalError) as refused:
        Client(cluster, user="stranger")
    assert refused.value.args == (
        1045,
        "Access denied for user 'stranger' (using password: YES)",
    )
    reader = Client(cluster, user="reader")
    code, text = reader.error(REFRESH)
    assert code == 5203
    assert "(at least one of) the ALTER privilege(s) on TABLE sales for this" in text
    assert reader.error("SHOW FRONTENDS")[0] == 5203
    assert "partitions=2/2" in reader.costs(SALES)
    assert Client(cluster, user="nobody").error(f"EXPLAIN COSTS {ALL}")[0] == 5203
    assert Client(old_cluster, user="reader").error(OLD_REFRESH) == (
        1142,
        "REFRESH TABLE command denied to user 'reader'@'127.0.0.2' for table 'sales_in_sr'",
    )


def test_s13_what_a_user_has_no_right_on_is_hidden(cluster: RunningCluster) -> None:
    nobody, reader = Client(cluster, user="nobody"), Client(cluster, user="reader")
    assert [row["Catalog"] for row in nobody.run("SHOW CATALOGS")] == ["default_catalog"]
    assert nobody.run("SHOW DATABASES FROM hive") == []
    assert nobody.run("SHOW TABLES FROM hive.shop") == []
    assert nobody.run("SHOW GRANTS") == []
    assert [row["Catalog"] for row in reader.run("SHOW CATALOGS")] == ["default_catalog", "hive"]
    assert [row["Grants"] for row in reader.run("SHOW GRANTS")] == [
        "GRANT USAGE ON CATALOG hive TO USER 'reader'@'%'",
        "GRANT SELECT ON ALL TABLES IN ALL DATABASES TO USER 'reader'@'%'",
    ]


def test_s13_without_a_leader_nobody_lists_the_front_ends(cluster: RunningCluster) -> None:
    for host in ("127.0.0.2", "127.0.0.3"):
        cluster.set_life(host, Life.DEAD)
    assert Client(cluster, 3).error("SHOW FRONTENDS")[0] == 1064


def test_s9_one_that_is_registered_and_not_started_has_no_port(cluster: RunningCluster) -> None:
    name = cluster.register(Member("127.0.0.5", is_started=False))
    row = Client(cluster).run("SHOW FRONTENDS")[3]
    assert (row["Name"], row["QueryPort"], row["RpcPort"]) == (name, "0", "0")
    assert (row["Alive"], row["StartTime"], row["Version"]) == ("false", "NULL", "NULL")
    said = Client(cluster).error(REFRESH)
    assert said == (
        5074, "refresh external table failed: refresh fe 127.0.0.5 failed: Invalid port 0;",
    )  # fmt: skip
    cluster.set_life("127.0.0.5", Life.RUNNING)
    assert listed(Client(cluster))[3].is_alive
    assert Client(cluster, 4).run("SHOW FRONTENDS")


def test_s5_what_admin_set_changed_is_lost_at_a_restart(cluster: RunningCluster) -> None:
    show = "ADMIN SHOW FRONTEND CONFIG LIKE 'max_hive_partitions_per_rpc'"
    Client(cluster).run('ADMIN SET FRONTEND CONFIG ("max_hive_partitions_per_rpc" = "100")')
    assert Client(cluster).run(show)[0]["Value"] == "100"
    assert Client(cluster, 2).run(show)[0]["Value"] == "5000"
    cluster.restart("127.0.0.2")
    assert Client(cluster).run(show)[0]["Value"] == "5000"


def test_a_hundred_thousand_partitions_are_one_statement(cluster: RunningCluster) -> None:
    names = [f"dt=2026-11-22/number={number:06d}" for number in range(100_000)]
    listed_names = ", ".join(f"'{name}'" for name in names)
    code, text = Client(cluster, timeout=60).error(f"{REFRESH} PARTITION ({listed_names})")
    assert (code, text) == (1064, f"null value in entry: {names[0]}=null")


def test_a_spec_survives_its_file() -> None:
    for version in (NEW, OLD):
        assert from_json(spec(version).as_json()) == spec(version)
