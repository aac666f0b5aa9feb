"""A scan as a program: spark-submit logs in by the keytab, and reads metastore and HDFS."""

import time
from pathlib import Path

from stack.kerberized_stack import KerberizedStack
from tests.support.scan_lake import ScanLake, run_scan

POLICY = {"LEVEL": "1", "TTL": "30"}


def test_a_scan_judges_every_partition(secured: KerberizedStack, tmp_path: Path) -> None:
    config = secured.config()
    root = config.path(f"/tmp/scan {time.time_ns()}")
    lake = ScanLake(config, root)
    sales = lake.database("sales", owner="alice")
    place = str(sales.child("visits"))
    table = lake.table("sales", "visits", owner="alice", location=place, parameters=POLICY)
    for value, ddl_age, age in [("old", 100, 100), ("fresh-files", 100, 3), ("soon", 25, 25)]:
        lake.data(lake.partition(table, value, ddl_age=ddl_age), age=age)
    template = f"{root}/user/{{owner}}"
    scanned = run_scan(config, {"template": template}, log_file=tmp_path / "scan.log")
    rows = {row["part_name"]: row for row in scanned.rows("items") if row["tbl"] == "visits"}
    assert {name: row["cls"] for name, row in rows.items()} == {
        "dt=old": "CLEAN_NOW",
        "dt=fresh-files": "NOT_NOW",
        "dt=soon": "SOON",
    }
