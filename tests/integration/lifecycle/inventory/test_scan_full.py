"""The same scan as a program: MariaDB metastore, a real HDFS, a standalone master and worker."""

import time
from pathlib import Path
from typing import Any

import pytest

from portal.connectors.lake_config import LakeConfig
from portal.spark.launch import is_alive, kill
from tests.support.scan_lake import ScanLake, ScanRun, run_scan, start_job

POLICY = {"LEVEL": "1", "TTL": "30"}


@pytest.fixture(scope="module")
def lake(full_stack: Any) -> ScanLake:
    """A small lake on HDFS."""
    config: LakeConfig = full_stack.config("main")
    root = config.path(f"/tmp/scan {time.time_ns()}")
    lake = ScanLake(config, root)
    sales = lake.database("sales", owner="alice")
    place = str(sales.child("visits"))
    table = lake.table("sales", "visits", owner="alice", location=place, parameters=POLICY)
    for value, ddl_age, age in [
        ("old", 100, 100),
        ("fresh-ddl", 3, 100),
        ("fresh-files", 100, 3),
        ("soon", 25, 25),
        ("ünï %=x", 90, 90),
    ]:
        lake.data(lake.partition(table, value, ddl_age=ddl_age), age=age)
    lake.data(lake.partition(table, "read", ddl_age=90), age=90, read_age=2)
    lake.data(lake.partition(table, "deep", ddl_age=90), age=90, files=("a/b/c", "d"))
    lake.remove(lake.partition(table, "gone"))
    lake.data(lake.partition(table, "outside", location=f"{root}/elsewhere"), age=90)
    lake.partition(table, "far", location="hdfs://127.0.0.1:1/x")
    return lake


@pytest.fixture(scope="module")
def scanned(lake: ScanLake, tmp_path_factory: pytest.TempPathFactory) -> ScanRun:
    """One scan by spark-submit to the standalone master."""
    log_file = tmp_path_factory.mktemp("scan") / "scan.log"
    template = f"{lake.root}/user/{{owner}}"
    return run_scan(lake.config, {"template": template}, log_file=log_file, seconds=420)


@pytest.mark.rows("L4", "L9", "N11")
def test_every_partition_is_judged_on_hdfs(scanned: ScanRun) -> None:
    rows = {row["part_name"]: row for row in scanned.rows("items") if row["tbl"] == "visits"}
    assert {name: row["cls"] for name, row in rows.items()} == {
        "dt=old": "CLEAN_NOW",
        "dt=fresh-ddl": "NOT_NOW",
        "dt=fresh-files": "NOT_NOW",
        "dt=soon": "SOON",
        "dt=ünï %25%3Dx": "CLEAN_NOW",
        "dt=read": "STILL_READ",
        "dt=deep": "CLEAN_NOW",
        "dt=gone": "MISSING_DIRECTORY",
        "dt=outside": "NONCONFORMING",
        "dt=far": "NONCONFORMING",
    }
    assert (rows["dt=deep"]["n_files"], rows["dt=deep"]["n_bytes"]) == (2, 10)
    assert rows["dt=old"]["location"].startswith("hdfs://")


def test_the_numbers_are_those_of_the_metastore(scanned: ScanRun, full_stack: Any) -> None:
    with full_stack.mariadb.connect() as link, link.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM PARTITIONS")
        assert cursor.fetchone() == (scanned.result["n_partitions"],)
        cursor.execute("SELECT COUNT(*) FROM TBLS")
        assert cursor.fetchone() == (scanned.result["n_tables"] + scanned.result["n_views"],)


def test_a_killed_scan_leaves_no_process_and_no_manifest(lake: ScanLake, tmp_path: Path) -> None:
    spool, launched = start_job(lake.config, {}, log_file=tmp_path / "scan.log")
    deadline = time.monotonic() + 120
    while not spool.progress_after(0) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert is_alive(launched)
    kill(launched)
    assert not is_alive(launched)
    kill(launched)
    assert spool.read_manifest() is None
