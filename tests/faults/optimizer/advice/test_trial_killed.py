"""A trial killed -9 at every step: main is whole, and the next clean-up leaves nothing of it."""

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from stack.stack import Stack
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable
from tests.support.scan_spark import local_session
from tests.support.trials import Seen, cleaned, loaded, order_of, trial_branches

pytestmark = pytest.mark.spark
REPO = Path(__file__).resolve().parents[4]
LONG = pytest.mark.long
HAS_BRANCH = frozenset(
    {"branch:after", "mark:after", "write:after", "commit:before", "commit:after", "drop:before"}
)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session: the JVM that is shared with the jobs that are killed."""
    session = local_session()
    yield session
    session.stop()


@pytest.fixture
def lake(embedded_stack: Stack, spark: SparkSession) -> IcebergLake:
    """A database of Iceberg tables."""
    config = embedded_stack.config("main")
    root = config.path(embedded_stack.lake_root).child("trials killed")
    return IcebergLake.make(spark, config, db="trials_killed", root=str(root))


def killed_at(table: WrittenTable, point: str) -> str:
    """Let a trial die at a point; returns its run."""
    lake, run = table.lake, str(uuid.uuid4())
    gateway: Any = lake.spark.sparkContext._gateway
    found = gateway.gateway_parameters
    order = {"config": lake.config.as_dict(), "params": order_of(table), "run": run}
    environment = {
        **os.environ,
        "PYSPARK_GATEWAY_PORT": str(found.port),
        "PYSPARK_GATEWAY_SECRET": str(found.auth_token),
        "LW_FAILPOINTS_ENABLED": "1",
        "LW_FAILPOINT": f"{point}:kill",
    }
    ended = subprocess.run(
        [sys.executable, "-m", "tests.faults.trial_driver"],
        cwd=REPO,
        env=environment,
        input=json.dumps(order),
        text=True,
        capture_output=True,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr[-2000:]
    return run


@pytest.mark.parametrize(
    "point",
    [
        pytest.param("branch:before", marks=LONG),
        "branch:after",
        "mark:after",
        pytest.param("write:after", marks=LONG),
        "commit:before",
        "commit:after",
        "drop:before",
        "drop:after",
        pytest.param("sweep:before", marks=LONG),
        "close:before",
        pytest.param("forget:before", marks=LONG),
        pytest.param("sweep:after", marks=LONG),
    ],
)
def test_killed_anywhere_main_is_whole_and_the_clean_up_leaves_nothing(
    lake: IcebergLake, point: str
) -> None:
    table = loaded(lake, days=DAYS[:1])
    table.add_branch("mine")
    before = Seen.of(table)
    run = killed_at(table, point)
    left = Seen.of(table)
    assert (left.snapshot, left.rows, left.files) == (before.snapshot, before.rows, before.files)
    assert left.history == before.history
    assert bool(trial_branches(table)) is (point in HAS_BRANCH)
    if point != "branch:before":
        assert left != before, "a death leaves something; else this proves nothing"
    table.append([(-1, DAYS[0], "meanwhile")])
    later = Seen.of(table)
    for _ in range(2):
        assert "problem" not in cleaned(table, run)
    found = Seen.of(table)
    assert found.rows == later.rows
    assert found.refs.keys() == {"main", "mine"}
    assert found.data == later.data - (left.data - before.data)
    assert found.metadata == later.metadata - (left.metadata - before.metadata)
    assert table.unknown_files() == set()
