"""Programs on Spark's standalone master, whose executors have nothing but delegation tokens."""

import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.reach.lake_check import check_lake
from stack.kerberized_stack import KerberizedStack
from stack.lake.session import ICEBERG
from stack.servers.base import running
from stack.servers.secured_spark import SecuredSpark
from tests.clusters.kerberos.conftest import LONG_WRITER, TOKEN_SECONDS
from tests.clusters.programs import Program, table_settings
from tests.support.scan_lake import ScanLake, run_scan

_WAIT_SECONDS = str(2 * TOKEN_SECONDS + 5)


@pytest.fixture(scope="module")
def standalone(secured: KerberizedStack) -> Iterator[SecuredSpark]:
    """A standalone master and its worker."""
    with running(SecuredSpark(secured.var, ledger=secured.ledger)) as spark:
        yield spark


@pytest.fixture
def lake(secured: KerberizedStack, standalone: SecuredSpark) -> LakeConfig:
    """The secured lake, whose programs run on the standalone master."""
    config = secured.config()
    return replace(
        config,
        spark_master=standalone.master.url,
        spark_properties_file=str(standalone.properties_file),
        spark_conf={**config.spark_conf, "spark.executor.memory": "600m", "spark.cores.max": "2"},
    )


def test_a_program_writes_on_after_its_tokens_are_over(
    secured: KerberizedStack, standalone: SecuredSpark, lake: LakeConfig, tmp_path: Path
) -> None:
    db = f"standalone_{uuid.uuid4().hex[:8]}"
    location = lake.path(f"/user/{db}")
    program = Program.submit(
        lake,
        table_settings(lake),
        *(LONG_WRITER, db, str(location), _WAIT_SECONDS),
        folder=tmp_path / "program",
    )
    assert program.output(timeout=400).splitlines()[-3:] == [
        f"{db}.plain [1, 2]",
        f"{ICEBERG}.{db}.iceberg [1, 2]",
        f"{db}.hudi [1, 2]",
    ]
    fs = open_file_system(location, config=lake)
    assert {found.owner for found in fs.walk(location)} == {"lakewarden"}


def test_a_scan_judges_every_partition(lake: LakeConfig, tmp_path: Path) -> None:
    root = lake.path(f"/tmp/scan {time.time_ns()}")
    made = ScanLake(lake, root)
    sales = made.database("sales", owner="alice")
    table = made.table(
        "sales",
        "visits",
        owner="alice",
        location=str(sales.child("visits")),
        parameters={"LEVEL": "1", "TTL": "30"},
    )
    for value, ddl_age, age in [("old", 100, 100), ("fresh-files", 100, 3)]:
        made.data(made.partition(table, value, ddl_age=ddl_age), age=age)
    template = f"{root}/user/{{owner}}"
    scanned = run_scan(lake, {"template": template}, log_file=tmp_path / "scan.log")
    rows = {row["part_name"]: row for row in scanned.rows("items") if row["tbl"] == "visits"}
    assert {name: row["cls"] for name, row in rows.items()} == {
        "dt=old": "CLEAN_NOW",
        "dt=fresh-files": "NOT_NOW",
    }


def test_the_master_is_named_as_reached(lake: LakeConfig) -> None:
    (row,) = [row for row in check_lake(lake) if row.system == "Spark master"]
    assert row.is_reached
