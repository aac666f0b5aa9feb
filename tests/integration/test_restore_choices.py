"""Restores with choices on a real metastore (N5, L7): what is missing, elsewhere, if it fits."""

from collections.abc import Iterator

import pytest
from pymetastore.hive_metastore import ttypes

from portal.act.restore import NewName
from portal.lake.names import PartitionName, TableName
from stack.stack import Stack
from tests.integration.act_cases import make_lake
from tests.support.act_lake import ActLake
from tests.support.act_restores import backup_of, elsewhere, restore


@pytest.fixture(params=["embedded_stack", "full_stack"])
def lake(request: pytest.FixtureRequest) -> Iterator[ActLake]:
    stack: Stack = request.getfixturevalue(request.param)
    yield from make_lake(stack)


@pytest.fixture
def here(embedded_stack: Stack) -> Iterator[ActLake]:
    yield from make_lake(embedded_stack)


def parts(lake: ActLake, table: str, values: str = "abc") -> TableName:
    return lake.make_table(table, keys=("dt",), values=[(value,) for value in values])


def test_only_what_is_missing_comes_back_and_nothing_is_overwritten(lake: ActLake) -> None:
    name = parts(lake, "missing")
    before = lake.snapshot(name)
    run, _ = lake.drop(name)
    table = lake.metastore.table(name)
    struct = lake._partition(table, PartitionName(("dt",), ("b",)), 9)
    lake.metastore.add_partitions([struct], if_not_exists=False)
    newer = lake.snapshot(name).files["dt=b"]
    _, result = restore(lake, run, only_missing=True)
    assert result.counts == {"SKIPPED": 1, "RESTORED": 2}
    after = lake.snapshot(name)
    assert after.files == {**before.files, "dt=b": newer}
    _, result = restore(lake, run)
    assert result.counts == {"SKIPPED": 2, "CONFLICT": 1}
    assert backup_of(lake, run)["dt=b"] == before.files["dt=b"]


def test_partitions_come_into_a_table_that_was_moved(lake: ActLake) -> None:
    name = parts(lake, "moved")
    before = lake.snapshot(name)
    run, _ = lake.drop(name)
    place = NewName(lake.db, "moved", lake.db_path.child("new_home"), into=True)
    lake.fs.make_directory(place.location, mode=0o750)
    table = lake.metastore.table(name)
    table.sd.location = str(place.location)
    table.sd.cols.append(ttypes.FieldSchema(name="newer", type="int"))
    lake.metastore.alter_table_keeping_times(name, table)
    _, result = restore(lake, run, new_name=place)
    assert result.counts == {"RESTORED": 3}
    after = lake.snapshot(name)
    assert after.files == before.files
    assert {lake.config.path(item["sd"]["location"]) for item in after.items.values()} == {
        place.location.child(f"dt={value}") for value in "abc"
    }
    assert {len(item["sd"]["cols"]) for item in after.items.values()} == {2}


def test_another_name_becomes_a_table_of_its_own(here: ActLake) -> None:
    name = parts(here, "orders")
    before = here.snapshot(name)
    run, _ = here.drop(name)
    back = elsewhere(here, "orders_back")
    _, result = restore(here, run, new_name=back, partitions=frozenset({"dt=a"}))
    assert result.counts == {"RESTORED": 1}
    copy = here.table_name("orders_back")
    assert here.snapshot(copy).files == {"dt=a": before.files["dt=a"]}
    assert here.metastore.partition_names(name) == []
    # What comes later under that name comes beside it, while it still fits.
    table = here.metastore.table(copy)
    table.sd.cols[0].name = "ident"
    here.metastore.alter_table_keeping_times(copy, table)
    _, result = restore(here, run, new_name=back)
    assert result.counts == {"SKIPPED": 1, "CONFLICT": 2}
    assert "its column 1 is ident bigint, the backup's is id bigint" in result.skipped[1]["reason"]
    table.sd.cols[0].name = "id"
    here.metastore.alter_table_keeping_times(copy, table)
    _, result = restore(here, run, new_name=back)
    assert here.snapshot(copy).files == before.files


def test_what_does_not_fit_is_named_and_stays(here: ActLake) -> None:
    run, _ = here.drop(parts(here, "source"))
    before = backup_of(here, run)
    other = parts(here, "other", "z")
    keys = here.make_table("keys", keys=("dt", "h"), values=[("a", "1")])
    format_ = here.make_table("format", keys=("dt",), values=[], file_format="parquet")
    plain = here.make_table("plain")
    gone = here.table_name("gone")
    table = here.metastore.table(other)
    table.sd.cols[0].name = "ident"
    here.metastore.alter_table_keeping_times(other, table)
    for name, why in (
        (other, "its column 1 is ident bigint, the backup's is id bigint"),
        (keys, "its partition keys are dt string, h string, the backup's are dt string"),
        (format_, "its file format is"),
        (plain, "its partition keys are none"),
        (gone, "it does not exist"),
    ):
        _, result = restore(here, run, new_name=elsewhere(here, name.table, into=True))
        assert result.counts == {"CONFLICT": 3}
        reason = result.skipped[0]["reason"]
        assert f"it does not fit into {name}: {why}" in reason
        assert "restore under a new name, or mend that table first" in reason
    _, result = restore(here, run, new_name=elsewhere(here, "other"))
    assert {entry["reason"] for entry in result.skipped} == {
        "something newer is registered under this name; restore under another name"
    }
    assert backup_of(here, run) == before
