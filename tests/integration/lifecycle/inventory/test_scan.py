"""A scan of a small odd lake: a real metastore on Derby, local files."""

import dataclasses
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lifecycle.expiry.domain.words import explain_row
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure, StaleState
from portal.lake.names import TableName
from tests.support.scan_lake import NOW, ScanLake, ScanRun
from tests.support.scan_spark import job_for, scan_here

POLICY = {"LEVEL": "1", "TTL": "30"}
Rows = dict[tuple[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def lake(embedded_stack: Any) -> ScanLake:
    """The odd lake, made through Thrift."""
    config: LakeConfig = embedded_stack.config("main")
    root = config.path(embedded_stack.lake_root).child("odd lake %41")
    lake = ScanLake(config, root)
    sales = lake.database("sales", owner="alice")
    _visits(lake, str(sales.child("visits")))
    for name, parameters in {
        "forever": {"LEVEL": "0", "TTL": "1"},
        "plain": {},
        "both": {"TTL": "1", "ttl": "1", "LEVEL": "1"},
        "words": {"LEVEL": "1", "TTL": "soon"},
        "iceberg": {**POLICY, "table_type": "ICEBERG"},
        "flat": POLICY,
        "gone": POLICY,
    }.items():
        place = str(sales.child(name))
        lake.table("sales", name, owner="alice", location=place, keys=(), parameters=parameters)
        lake.data(place, age=90, files=("a", "b/c"))
    _remove_tree(lake, str(sales.child("gone")))
    _shared(lake, str(sales))
    other = lake.database("other", owner="bob")
    stray = str(root.child("user", "carol", "stray"))
    astray = lake.table("other", "stray", owner="carol", location=stray, parameters=POLICY)
    lake.data(lake.partition(astray, "away", location=f"{root}/away"), age=90)
    lake.partition(astray, "odd", location="no/path")
    lake.table("other", "nobody", owner="nobody", location=str(other.child("n")), parameters=POLICY)
    return lake


def _visits(lake: ScanLake, place: str) -> None:
    table = lake.table("sales", "visits", owner="alice", location=place, parameters=POLICY)
    for value, ddl_age, age in [
        ("old", 100, 100),
        ("fresh-ddl", 3, 100),
        ("fresh-files", 100, 3),
        ("soon", 25, 25),
        ("held", 100, 100),
        ("ünï %=:#x", 90, 90),
    ]:
        lake.data(lake.partition(table, value, ddl_age=ddl_age), age=age)
    lake.data(lake.partition(table, [None], ddl_age=90), age=90)
    lake.data(lake.partition(table, "read", ddl_age=90), age=90, read_age=2)
    deep = lake.partition(table, "deep-write", ddl_age=90)
    lake.data(deep, age=90, files=("sub/old", "sub/new"))
    new = lake.config.path(deep).child("sub", "new")
    lake.set_times(new, changed=int(NOW.timestamp()) - 60, read=int(NOW.timestamp()))
    lake.data(lake.partition(table, "unready", parameters={"commit": " FALSE "}), age=90)
    lake.remove(lake.partition(table, "gone"))
    file = lake.partition(table, "file")
    lake.remove(file)
    lake.fs.write_new(lake.config.path(file), b"12345")
    lake.data(lake.partition(table, "outside", location=f"{lake.root}/elsewhere"), age=90)
    lake.partition(table, "dots", location=f"{place}/../x")
    lake.partition(table, "relative", location="no/path")
    lake.partition(table, "far", location="hdfs://127.0.0.1:1/x")
    bad = {"transient_lastDdlTime": "yesterday"}
    lake.data(lake.partition(table, "bad-ddl", parameters=bad), age=90)


def _shared(lake: ScanLake, sales: str) -> None:
    """Two partitions of one table at the same place, and one inside another's."""
    table = lake.table(
        "sales", "shared", owner="alice", location=f"{sales}/shared", parameters=POLICY
    )
    lake.data(lake.partition(table, "1"), age=90)
    lake.partition(table, "2", location=f"{sales}/shared/dt=1")
    lake.data(lake.partition(table, "3"), age=90)
    lake.partition(table, "4", location=f"{sales}/shared/dt=3/inside")
    lake.data(f"{sales}/shared/dt=3/inside", age=90)
    lake.data(lake.partition(table, "5"), age=90)


def _remove_tree(lake: ScanLake, place: str) -> None:
    for status in reversed(list(lake.fs.walk(lake.config.path(place)))):
        if status.is_dir:
            lake.fs.remove_empty_directory(status.path)
        else:
            lake.fs.remove_file(status.path)


def params_of(lake: ScanLake) -> dict[str, Any]:
    hold = {
        "db": lake.db_name("sales"),
        "table": "visits",
        "partitions": ["dt=held"],
        "until": None,
        "kind": "LEGAL",
        "reason": "audit",
    }
    template = f"{lake.root}/user/{{owner}}"
    return {"template": template, "databases": {}, "holds": [hold], "previous": None}


@pytest.fixture(scope="module")
def scanned(lake: ScanLake, spark: SparkSession) -> ScanRun:
    """One scan of the odd lake."""
    return scan_here(spark, lake.config, params_of(lake))


@pytest.fixture(scope="module")
def items(scanned: ScanRun) -> Rows:
    """The items by (table, partition) of the two databases."""
    return {(row["tbl"], row["part_name"]): row for row in scanned.rows("items")}


@pytest.mark.parametrize(
    ("table", "part", "cls", "says"),
    [
        ("visits", "dt=old", "CLEAN_NOW", "the later counts (metadata)"),
        ("visits", "dt=fresh-ddl", "NOT_NOW", "files not checked"),
        ("visits", "dt=fresh-files", "NOT_NOW", "the later counts (files)"),
        ("visits", "dt=deep-write", "NOT_NOW", "the later counts (files)"),
        ("visits", "dt=soon", "SOON", "due 2026-11-27"),
        ("visits", "dt=held", "HELD", "legal hold until it is released: audit"),
        ("visits", "dt=ünï %25%3D%3A%23x", "CLEAN_NOW", "TTL 30 days"),
        ("visits", "dt=__HIVE_DEFAULT_PARTITION__", "CLEAN_NOW", "TTL 30 days"),
        ("visits", "dt=read", "STILL_READ", "last read 2026-11-20"),
        ("visits", "dt=unready", "UNREADY", "commit=false"),
        ("visits", "dt=gone", "MISSING_DIRECTORY", "does not exist"),
        ("visits", "dt=file", "UNKNOWN", "It is a file, not a directory"),
        ("visits", "dt=outside", "NONCONFORMING", "PART_PATH_NOT_IN_TBL"),
        ("visits", "dt=dots", "NONCONFORMING", "PART_PATH_NOT_IN_TBL"),
        ("visits", "dt=relative", "NONCONFORMING", "PART_PATH_NOT_IN_TBL"),
        ("visits", "dt=far", "NONCONFORMING", "PART_PATH_NOT_IN_TBL"),
        ("visits", "dt=bad-ddl", "NOT_NOW", "Created (no DDL time)"),
        ("forever", "", "KEEP_FOREVER", "LEVEL 0"),
        ("plain", "", "NOT_ENROLLED", "no LEVEL and TTL of its own"),
        ("both", "", "NOT_ENROLLED", "Both TTL and ttl"),
        ("words", "", "NOT_ENROLLED", "'soon'"),
        ("iceberg", "", "UNSUPPORTED", "Iceberg"),
        ("flat", "", "CLEAN_NOW", "TTL 30 days"),
        ("gone", "", "MISSING_DIRECTORY", "does not exist"),
    ],
)
@pytest.mark.rows("L2", "L4")
def test_every_kind_of_item_has_its_class_and_reason(
    items: Rows, lake: ScanLake, table: str, part: str, cls: str, says: str
) -> None:
    row = items[table, part]
    said = explain_row(row, lake.config.zone)
    assert (row["cls"], says in said) == (cls, True), (said, row)


def test_an_item_carries_both_clocks_and_what_was_walked(items: Rows) -> None:
    row = items["flat", ""]
    assert (row["part_id"], row["n_files"], row["n_bytes"], row["level"]) == (0, 2, 10, 1)
    assert row["mtime_ms"] is not None
    assert row["ddl_time"] is not None
    assert row["updated_ms"] == max(row["ddl_time"] * 1000, row["mtime_ms"]) + 1
    settled = items["visits", "dt=fresh-ddl"]
    assert (settled["n_files"], settled["atime_ms"]) == (None, None)


def test_shared_locations_are_named(items: Rows, lake: ScanLake) -> None:
    name = f"{lake.db_name('sales')}.shared"
    assert items["shared", "dt=1"]["shared_with"] == f"{name}/dt=2"
    assert items["shared", "dt=2"]["shared_with"] == f"{name}/dt=1"
    assert items["shared", "dt=3"]["shared_with"] == f"{name}/dt=4"
    assert items["shared", "dt=5"]["shared_with"] is None
    assert items["visits", "dt=old"]["shared_with"] is None


@pytest.mark.rows("L1")
def test_what_does_not_conform_is_a_finding(scanned: ScanRun, lake: ScanLake) -> None:
    found = {(row["kind"], row["tbl"], row["part_name"]): row for row in scanned.rows("findings")}
    parts = {part for kind, _, part in found if kind == "PARTITION"}
    assert parts == {"dt=outside", "dt=dots", "dt=relative", "dt=far", "dt=away", "dt=odd"}
    assert "cannot be read as a path" in found["PARTITION", "visits", "dt=relative"]["hint"]
    stray = found["TABLE", "stray", ""]["reasons"]
    assert stray == ["TBL_NOT_SUB_DB"]
    assert found["TABLE", "nobody", ""]["reasons"] == ["OWNER_PATH_FAIL"]
    assert scanned.result["reasons"]["PART_PATH_NOT_IN_TBL"] == 6
    assert lake.db_name("sales") not in {
        row["db"] for row in scanned.rows("findings") if row["kind"] == "DATABASE"
    }


def test_the_sums_are_those_of_the_items(scanned: ScanRun) -> None:
    rows = scanned.rows("items")
    result = scanned.result
    for cls, sums in result["classes"].items():
        mine = [row for row in rows if row["cls"] == cls]
        assert sums["n"] == len(mine)
        assert sums["bytes"] == sum(row["n_bytes"] or 0 for row in mine)
        assert sums["files"] == sum(row["n_files"] or 0 for row in mine)
    assert result["n_partitions"] == sum(row["part_id"] != 0 for row in rows)
    assert result["missing_directories"] == 2
    tables = {(row["db"], row["tbl"]): row for row in scanned.rows("tables")}
    assert len(tables) == result["n_tables"]
    for (db, tbl), table in tables.items():
        mine = [row for row in rows if (row["db"], row["tbl"]) == (db, tbl)]
        assert table["n_partitions"] == sum(row["part_id"] != 0 for row in mine)
        assert table["n_clean_now"] == sum(row["cls"] == "CLEAN_NOW" for row in mine)
        falls_due = ("CLEAN_NOW", "SOON", "STILL_READ", "NOT_NOW")
        due = [r["due_on"] for r in mine if r["cls"] in falls_due]
        assert table["next_due_on"] == min(due, default=None)


def test_ranges_and_examples_cover_the_items_in_order(scanned: ScanRun) -> None:
    rows = scanned.rows("items")
    keys = [(row["db"], row["tbl"], row["part_name"]) for row in rows]
    assert keys == sorted(keys)
    ranges = scanned.rows("ranges")
    assert sum(row["n"] for row in ranges) == len(rows)
    visits = [row["cls"] for row in rows if row["tbl"] == "visits"]
    runs = [cls for n, cls in enumerate(visits) if n == 0 or visits[n - 1] != cls]
    assert [row["cls"] for row in ranges if row["tbl"] == "visits"] == runs
    assert len(scanned.rows("examples")) == len(rows)


def test_progress_tells_each_phase(scanned: ScanRun) -> None:
    phases = [step.phase for step in scanned.spool.progress_after(0)]
    assert list(dict.fromkeys(phases)) == ["metastore", "items", "changes", "summary"]
    assert set(scanned.result["phases"]) == set(phases)


@pytest.mark.rows("L1")
def test_what_is_waived_passes_until_its_day_and_is_still_named(
    lake: ScanLake, spark: SparkSession
) -> None:
    until = "2027-01-31"
    waivers = [
        {"db": lake.db_name("other"), "table": "stray", "reason": reason, "until": until}
        for reason in ("TBL_NOT_SUB_DB", "PART_PATH_NOT_IN_TBL")
    ]
    run = scan_here(spark, lake.config, {**params_of(lake), "waivers": waivers})
    items = {row["part_name"]: row["cls"] for row in run.rows("items") if row["tbl"] == "stray"}
    assert items == {"dt=away": "CLEAN_NOW", "dt=odd": "NONCONFORMING"}
    found = {row["part_name"]: row for row in run.rows("findings") if row["tbl"] == "stray"}
    assert (found[""]["reasons"], found[""]["waived"]) == ([], ["TBL_NOT_SUB_DB"])
    assert found["dt=away"]["reasons"] == []
    assert found["dt=away"]["waived"] == ["PART_PATH_NOT_IN_TBL"]
    assert found["dt=away"]["excepted_until"].isoformat() == until
    # A location that cannot be read is never waived.
    assert found["dt=odd"]["reasons"] == ["PART_PATH_NOT_IN_TBL"]
    over = [{**one, "until": "2026-11-21"} for one in waivers]
    again = scan_here(spark, lake.config, {**params_of(lake), "waivers": over})
    assert {row["cls"] for row in again.rows("items") if row["tbl"] == "stray"} == {"NONCONFORMING"}


def test_a_metastore_with_half_of_yesterday_stops_the_scan(
    scanned: ScanRun, lake: ScanLake, spark: SparkSession
) -> None:
    manifest = dict(scanned.manifest)
    job = job_for(spark, lake.config, {})
    inflated = {**scanned.result, "n_partitions": scanned.result["n_partitions"] * 2}
    job.spool.write_manifest({**manifest, "result": inflated})
    previous = {"previous": str(job.spool.results)}
    with pytest.raises(ExternalFailure) as error:
        scan_here(spark, lake.config, {**params_of(lake), **previous})
    assert error.value.code == "scan.inventory_shrank"
    assert "partitions" in error.value.message
    barely = {**scanned.result, "n_partitions": scanned.result["n_partitions"] * 2 - 1}
    job.spool.write_manifest({**manifest, "result": barely})
    assert scan_here(spark, lake.config, {**params_of(lake), **previous}).result


def test_a_metastore_that_is_down_is_said_so(lake: ScanLake, spark: SparkSession) -> None:
    config = dataclasses.replace(lake.config, thrift_port=1)
    with pytest.raises(ExternalFailure) as error:
        scan_here(spark, config, params_of(lake))
    assert (error.value.code, error.value.service) == ("metastore.unreachable", "metastore")


def test_a_database_that_is_down_is_said_so(lake: ScanLake, spark: SparkSession) -> None:
    port = lake.config.metastore_db.port
    url = lake.config.metastore_db.jdbc_url.replace(str(port), "1")
    database = dataclasses.replace(lake.config.metastore_db, jdbc_url=url)
    config = dataclasses.replace(lake.config, metastore_db=database)
    with pytest.raises(ExternalFailure) as error:
        scan_here(spark, config, params_of(lake))
    assert (error.value.code, error.value.service) == ("metastore_db.failed", "metastore_db")


def test_a_cancelled_scan_stops(lake: ScanLake, spark: SparkSession) -> None:
    from lifecycle.inventory.jobs import scan

    job = job_for(spark, lake.config, params_of(lake))
    job.spool.write_control({"cancel": True})
    with pytest.raises(StaleState) as error:
        scan.run(spark, job)
    assert error.value.code == "run.cancelled"


def test_what_changes_during_the_scan_is_not_now(
    lake: ScanLake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partition altered between the two notification ids waits for the next scan."""
    from lifecycle.inventory.jobs import scan

    before = scan.Scan._build
    table = TableName(lake.config.lake, lake.db_name("sales"), "visits")

    def build(self: scan.Scan, *args: Any) -> Any:
        (partition,) = lake.metastore.partitions_by_names(table, ["dt=old"])
        lake.metastore.alter_partitions(table, [partition])
        return before(self, *args)

    monkeypatch.setattr(scan.Scan, "_build", build)
    found = scan_here(spark, lake.config, params_of(lake))
    rows = {row["part_name"]: row for row in found.rows("items") if row["tbl"] == "visits"}
    assert rows["dt=old"]["cls"] == "NOT_NOW"
    said = explain_row(rows["dt=old"], lake.config.zone)
    assert "Changed while the scan was reading" in said
    assert rows["dt=read"]["cls"] == "STILL_READ"
