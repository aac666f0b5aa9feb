"""Restores with choices on a real metastore (N5, L7): what is missing, elsewhere, if it fits."""

from collections.abc import Iterator

import pytest

from portal.lake.names import PartitionName, TableName
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_lake import ActLake
from tests.support.act_restores import backup_of, elsewhere, restore


@pytest.fixture(scope="module")
def lake(embedded_stack: Stack) -> Iterator[ActLake]:
    """One database for all tests of this file; each has tables of its own."""
    yield from make_lake(embedded_stack)


def parts(lake: ActLake, table: str, values: str = "abc") -> TableName:
    return lake.make_table(table, keys=("dt",), values=[(value,) for value in values])


@pytest.mark.parametrize("seconds_later", [0, 5])
def test_only_what_is_missing_comes_back_and_nothing_is_overwritten(
    lake: ActLake, seconds_later: int
) -> None:
    name = parts(lake, f"missing_{seconds_later}")
    before = lake.snapshot(name)
    (old,) = lake.metastore.partitions_by_names(name, ["dt=b"])
    run, _ = lake.drop(name)
    table = lake.metastore.table(name)
    struct = lake._partition(table, PartitionName(("dt",), ("b",)), 9)
    lake.metastore.add_partitions([struct], if_not_exists=False)
    (struct,) = lake.metastore.partitions_by_names(name, ["dt=b"])
    struct.createTime = old.createTime + seconds_later
    lake.metastore.alter_partitions(name, [struct])
    newer = lake.snapshot(name).files["dt=b"]
    _, result = restore(lake, run, only_missing=True)
    assert result.counts == {"SKIPPED": 1, "RESTORED": 2}, result.skipped
    after = lake.snapshot(name)
    assert after.files == {**before.files, "dt=b": newer}
    _, result = restore(lake, run)
    assert result.counts == {"SKIPPED": 2, "CONFLICT": 1}
    assert backup_of(lake, run)["dt=b"] == before.files["dt=b"]


def test_another_name_becomes_a_table_of_its_own(lake: ActLake) -> None:
    name = parts(lake, "orders")
    before = lake.snapshot(name)
    run, _ = lake.drop(name)
    back = elsewhere(lake, "orders_back")
    _, result = restore(lake, run, new_name=back, partitions=frozenset({"dt=a"}))
    assert result.counts == {"RESTORED": 1}
    copy = lake.table_name("orders_back")
    assert lake.snapshot(copy).files == {"dt=a": before.files["dt=a"]}
    assert lake.metastore.partition_names(name) == []
    # What comes later under that name comes beside it, while it still fits.
    table = lake.metastore.table(copy)
    table.sd.cols[0].name = "ident"
    lake.metastore.alter_table_keeping_times(copy, table)
    _, result = restore(lake, run, new_name=back)
    assert result.counts == {"SKIPPED": 1, "CONFLICT": 2}
    assert "its column 1 is ident bigint, the backup's is id bigint" in result.skipped[1]["reason"]
    table.sd.cols[0].name = "id"
    lake.metastore.alter_table_keeping_times(copy, table)
    _, result = restore(lake, run, new_name=back)
    assert lake.snapshot(copy).files == before.files


def test_what_does_not_fit_is_named_and_stays(lake: ActLake) -> None:
    run, _ = lake.drop(parts(lake, "source"))
    before = backup_of(lake, run)
    other = parts(lake, "other", "z")
    keys = lake.make_table("keys", keys=("dt", "h"), values=[("a", "1")])
    format_ = lake.make_table("format", keys=("dt",), values=[], file_format="parquet")
    plain = lake.make_table("plain")
    gone = lake.table_name("gone")
    table = lake.metastore.table(other)
    table.sd.cols[0].name = "ident"
    lake.metastore.alter_table_keeping_times(other, table)
    for name, why in (
        (other, "its column 1 is ident bigint, the backup's is id bigint"),
        (keys, "its partition keys are dt string, h string, the backup's are dt string"),
        (format_, "its file format is"),
        (plain, "its partition keys are none"),
        (gone, "it does not exist"),
    ):
        _, result = restore(lake, run, new_name=elsewhere(lake, name.table, into=True))
        assert result.counts == {"CONFLICT": 3}
        reason = result.skipped[0]["reason"]
        assert f"it does not fit into {name}: {why}" in reason
        assert "restore under a new name, or repair that table first" in reason
    _, result = restore(lake, run, new_name=elsewhere(lake, "other"))
    assert {entry["reason"] for entry in result.skipped} == {
        "something newer is registered under this name; restore under another name"
    }
    assert backup_of(lake, run) == before
