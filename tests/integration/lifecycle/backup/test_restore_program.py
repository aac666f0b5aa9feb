"""The program beside a backup restores it with the portal out of play: restore(backup(x)) == x.

The tables are made up by hypothesis; the program's own functions run in the tests' Spark session
(test_act_spark.py starts it by spark-submit, as a person would).
"""

import json
import uuid
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from lifecycle.backup.engine.journal.reading import batches, read_batch, restore_steps
from lifecycle.backup.jobs import restore_backup
from lifecycle.backup.jobs.restore_backup import REFUSED, REGISTER, RESTORE, THERE, Backup
from portal.lake.errors import StaleState
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_lake import ODD_VALUES, ActLake

pytestmark = pytest.mark.spark


class Program:
    """The program, called on the backups of one lake."""

    def __init__(self, spark: SparkSession, lake: ActLake) -> None:
        self.spark, self.lake = spark, lake

    def run(
        self, run: str, *, partition: list[str] | None = None, dry_run: bool = False
    ) -> dict[str, int]:
        place = str(self.lake.day.sealed(run, 1))
        backup = Backup(self.spark, place, self.lake.config.metastore_uri)
        wanted = Namespace(table="", partition=partition, dry_run=dry_run)
        return restore_backup.restore(backup, wanted)


@pytest.fixture(params=[pytest.param("embedded_stack", marks=pytest.mark.long), "full_stack"])
def program(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Program]:
    stack: Stack = request.getfixturevalue(request.param)
    for lake in make_lake(stack):
        yield Program(spark, lake)


@pytest.fixture
def here(embedded_stack: Stack, spark: SparkSession) -> Iterator[Program]:
    for lake in make_lake(embedded_stack):
        yield Program(spark, lake)


@settings(
    max_examples=8,
    deadline=None,
    database=None,
    # Each example is a table on a real metastore: there is no hunt for a smaller one.
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    n_keys=st.integers(0, 2),
    values=st.lists(st.sampled_from(ODD_VALUES), min_size=2, max_size=4, unique=True),
    external=st.booleans(),
    file_format=st.sampled_from(["text", "parquet"]),
    table_goes_too=st.booleans(),
)
@pytest.mark.rows("L7")
def test_restore_of_a_backup_gives_what_was_there(
    program: Program,
    n_keys: int,
    values: list[str | None],
    external: bool,
    file_format: str,
    table_goes_too: bool,
) -> None:
    lake = program.lake
    rows = [(value, "x y")[:n_keys] for value in values if value in lake.odd_values]
    name = lake.make_table(
        f"t{uuid.uuid4().hex[:8]}",
        keys=("dt", "h")[:n_keys],
        values=rows if n_keys else (),
        external=external,
        file_format=file_format,
    )
    n_items = len(rows) if n_keys else 1
    before, times = lake.snapshot(name), ddl_times(lake, name)
    run, dropped = lake.drop(name)
    assert dropped.counts == {"DROPPED": n_items}
    if n_keys and table_goes_too:
        lake.metastore.drop_table(name)
        with suppress(StaleState):  # of two keys the first one's directories stay, empty
            lake.fs.remove_empty_directory(lake.db_path.child(name.table))
    assert program.run(run, dry_run=True) == {RESTORE: n_items}
    assert [b.done is None for b in batches(lake.fs, lake.day.sealed(run, 1))] == [False]
    assert program.run(run) == {RESTORE: n_items}
    assert lake.snapshot(name) == before
    assert ddl_times(lake, name) == times
    assert program.run(run) == {THERE: n_items}
    # A portal that comes back reads what the program wrote.
    assert lake.restore(run).counts == {"SKIPPED": n_items}
    assert lake.snapshot(name) == before


def ddl_times(lake: ActLake, name: TableName) -> dict[str, str]:
    names = lake.metastore.partition_names(name) if lake.metastore.table(name).partitionKeys else []
    structs = lake.metastore.partitions_by_names(name, names) or [lake.metastore.table(name)]
    return {
        str(struct.sd.location): struct.parameters["transient_lastDdlTime"] for struct in structs
    }


def test_what_is_newer_stays_and_the_rest_comes_back(here: Program) -> None:
    lake = here.lake
    name = lake.make_table("some", keys=("dt",), values=[(value,) for value in "abcd"])
    run, _ = lake.drop(name)
    lake.make_files(lake.db_path.child("some", "dt=a"), n=7)
    lake.fs.make_directory(lake.db_path.child("some", "dt=b"), mode=0o755)
    assert here.run(run, partition=["dt=a", "dt=b"]) == {REFUSED: 1, RESTORE: 1}
    table = lake.metastore.table(name)
    (taken,) = lake.metastore.partitions_by_names(name, ["dt=b"])
    taken.values, taken.sd.location = ["c"], str(lake.base.child("elsewhere"))
    taken.parameters = {}
    lake.metastore.add_partitions([taken], if_not_exists=False)
    assert here.run(run) == {REFUSED: 2, THERE: 1, RESTORE: 1}
    lake.metastore.drop_table(name)
    table.createTime = 0
    table.parameters.pop("lakewarden.generation", None)
    lake.metastore.create_table(table)
    assert here.run(run) == {REFUSED: 4}


def test_a_damaged_backup_is_refused(here: Program) -> None:
    lake = here.lake
    name = lake.make_table("whole")
    run, _ = lake.drop(name)
    (batch,) = batches(lake.fs, lake.day.sealed(run, 1))
    lake.fs.remove_file(batch.directory.child(batch.intent.items[0].item, "part-00001"))
    assert here.run(run) == {REFUSED: 1}
    assert lake.metastore.table_or_none(name) is None


def test_stopped_half_way_it_goes_on_where_it_was(here: Program) -> None:
    lake = here.lake
    name = lake.make_table("half", keys=("dt",), values=[("a",), ("b",), ("c",)])
    before = lake.snapshot(name)
    run, _ = lake.drop(name)
    sealed = lake.day.sealed(run, 1)
    (batch,) = batches(lake.fs, sealed)
    _begin_step(lake, sealed, [item.item for item in batch.intent.items[:2]])
    first = batch.intent.items[0]
    lake.fs.rename(sealed.child(first.item), LakePath.parse(first.source))
    assert here.run(run, dry_run=True) == {REGISTER: 1, RESTORE: 2}
    assert here.run(run) == {THERE: 2, RESTORE: 1}
    assert lake.snapshot(name) == before
    steps = restore_steps(lake.fs, sealed, 1)
    assert [step.done is not None for step in steps] == [True, True]
    assert read_batch(lake.fs, sealed, 1).done is not None


def _begin_step(lake: ActLake, sealed: LakePath, items: list[str]) -> None:
    step = {
        **{"version": 1, "restore": "script-1", "restore_epoch": 1, "batch": 1, "at": "2026-11-22"},
        **{"db": lake.db, "table": "half", "location": ""},
        "items": [{"item": item, "partition": "", "target": ""} for item in items],
    }
    path = sealed.child("restore.script-1.1.1.intent.json")
    lake.fs.write_new(path, json.dumps(step).encode())


def test_what_was_moved_but_not_dropped_goes_back(here: Program) -> None:
    lake = here.lake
    name = lake.make_table("begun", keys=("dt",), values=[("a",)])
    before = lake.snapshot(name)
    run, _ = lake.drop(name)
    assert here.run(run) == {RESTORE: 1}
    (batch,) = batches(lake.fs, lake.day.sealed(run, 1))
    item = batch.intent.items[0]
    lake.fs.rename(LakePath.parse(item.source), batch.directory.child(item.item))
    assert here.run(run) == {restore_backup.MOVE: 1}
    assert lake.snapshot(name) == before
