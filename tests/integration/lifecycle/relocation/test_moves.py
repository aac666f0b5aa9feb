"""N7: moving data to where the path rules want it, on local files and on HDFS."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pymetastore.hive_metastore import ttypes

from lifecycle.backup.domain.control import Control, HoldRule
from lifecycle.backup.engine.move.records import move_batches
from portal.lake.errors import StaleState
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_lake import ActLake, Snapshot
from tests.support.moves import move, move_of, moves_of


@pytest.fixture(params=[pytest.param("embedded_stack", marks=pytest.mark.long), "full_stack"])
def lake(request: pytest.FixtureRequest) -> Iterator[ActLake]:
    yield from make_lake(request.getfixturevalue(request.param))


def there_and_back(lake: ActLake, name: TableName, stray: LakePath) -> tuple[Snapshot, Snapshot]:
    """Move a table to a stray place and back below its database; returns both states."""
    before, home = lake.snapshot(name), lake.db_path.child(name.table)
    _, result = move(lake, moves_of(lake, name, stray))
    assert result.counts == {"MOVED": 1}, result.skipped
    away = lake.snapshot(name)
    assert lake.files(home) == ()
    assert away.files == before.files
    _, result = move(lake, moves_of(lake, name, home), must_conform=True)
    assert result.counts == {"MOVED": 1}, result.skipped
    assert result.window is not None
    assert lake.snapshot(name) == before
    assert lake.files(stray) == ()
    return before, away


def locations(lake: ActLake, name: TableName) -> list[str]:
    structs = [lake.metastore.table(name)]
    structs += lake.metastore.partitions_by_names(name, lake.metastore.partition_names(name))
    return [str(lake.config.path(struct.sd.location)) for struct in structs]


def ddl_times(lake: ActLake, name: TableName) -> list[str]:
    table = lake.metastore.table(name)
    names = lake.metastore.partition_names(name) if table.partitionKeys else []
    structs = [table, *lake.metastore.partitions_by_names(name, names)]
    return [struct.parameters["transient_lastDdlTime"] for struct in structs]


def test_a_table_moves_and_comes_back_with_everything_it_had(lake: ActLake) -> None:
    name = lake.make_table("plain", external=True)
    times, stray = ddl_times(lake, name), lake.base.child("stray plain")
    there_and_back(lake, name, stray)
    assert ddl_times(lake, name) == times


def test_a_partitioned_table_takes_its_own_partitions_along_and_outside_ones_come_in(
    lake: ActLake,
) -> None:
    values = [("with space",), ("50%",), (None,)]
    name = lake.make_table("parts", keys=("dt",), values=values, file_format="parquet")
    times, stray = ddl_times(lake, name), lake.base.child("stray")
    there_and_back(lake, name, stray)
    assert ddl_times(lake, name) == times
    partition = lake.metastore.partition_names(name)[0]
    home, outside = lake.db_path.child("parts", partition), lake.base.child("outside")
    before = lake.snapshot(name)
    move(lake, [move_of(lake, name, partition, home, outside)])
    assert str(outside) in locations(lake, name)
    # The table goes, the partition outside stays where it is; its turn comes by itself.
    move(lake, moves_of(lake, name, stray))
    assert [place for place in locations(lake, name) if stray.path not in place] == [str(outside)]
    move(lake, moves_of(lake, name, lake.db_path.child("parts")), must_conform=True)
    item = move_of(lake, name, partition, outside, home)
    _, result = move(lake, [item], must_conform=True)
    assert result.counts == {"MOVED": 1}, result.skipped
    assert lake.snapshot(name) == before
    assert ddl_times(lake, name) == times
    _, again = move(lake, [item])
    assert again.counts == {"SKIPPED": 1}


def test_spark_datasource_tables_get_their_serde_path_and_keep_their_placeholder(
    lake: ActLake,
) -> None:
    name = lake.make_table("source", file_format="parquet")
    home, stray = lake.db_path.child("source"), lake.base.child("stray_source")
    placeholder = f"{lake.db_path}/source-__PLACEHOLDER__"
    table = lake.metastore.table(name)
    table.parameters["spark.sql.sources.provider"] = "parquet"
    table.sd.serdeInfo.parameters["path"] = str(home)
    table.sd.location = placeholder
    lake.metastore.alter_table_keeping_times(name, table)
    _, result = move(lake, moves_of(lake, name, stray))
    assert result.counts == {"MOVED": 1}, result.skipped
    moved = lake.metastore.table(name)
    assert moved.sd.serdeInfo.parameters["path"].endswith(stray.path)
    assert moved.sd.location.endswith("source-__PLACEHOLDER__")
    assert lake.files(home) == ()
    assert lake.files(stray)


def test_what_is_not_as_approved_is_left_and_reported(lake: ActLake) -> None:
    """Files, metadata, target, place, hold and format are asked again right before a move."""
    names = ("written", "altered", "taken", "placed", "held", "iceberg", "fine")
    tables = {name: lake.make_table(name) for name in names}
    stray = lake.base.child("strays")
    lake.fs.make_directory(stray, mode=0o755)
    items = [item for name in names for item in moves_of(lake, tables[name], stray.child(name))]
    items[3] = replace(items[3], target=str(lake.base.child("no such parent", "placed")))
    lake.fs.write_new(lake.db_path.child("written", "late"), b"new")
    change(lake, tables["altered"], transient_lastDdlTime="1700009999")
    lake.fs.make_directory(stray.child("taken"), mode=0o755)
    change(lake, tables["iceberg"], table_type="ICEBERG")
    hold = Control(holds=(HoldRule(lake.db, "held", reason="legal"),))
    before = {name: lake.snapshot(tables[name]) for name in names}
    run, result = move(lake, items, control=hold)
    assert result.counts == {"SKIPPED": 6, "MOVED": 1}, result.skipped
    said = {entry["item"].partition(".")[2]: entry["reason"] for entry in result.skipped}
    assert "number of files was" in said["written"]
    assert "DDL time was" in said["altered"]
    assert "is there already" in said["taken"]
    assert "is missing" in said["placed"]
    assert said["held"] == "held: legal"
    assert "Iceberg" in said["iceberg"]
    for name in names[:-1]:
        assert lake.snapshot(tables[name]) == before[name]
    papers = list(move_batches(lake.fs, lake.day.moved(run, 1)))
    assert len(papers) == len(names)
    assert all(batch.done for batch in papers)
    _, result = move(
        lake, moves_of(lake, tables["taken"], lake.base.child("no place")), must_conform=True
    )
    assert "its database is elsewhere now" in result.skipped[0]["reason"]
    with pytest.raises(StaleState, match="emergency stop"):
        move(lake, items, control=Control(stop="emergency stop: test", paused=True))


def change(lake: ActLake, name: TableName, **parameters: Any) -> None:
    table: ttypes.Table = lake.metastore.table(name)
    table.parameters |= parameters
    lake.metastore.alter_table_keeping_times(name, table)
