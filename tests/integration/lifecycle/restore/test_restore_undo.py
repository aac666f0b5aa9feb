"""Taking a restore back on a real metastore (N5, L7): undo(restore(b)) == b, and no more goes.

Killed half way: tests/faults/grid.py. On HDFS: test_act_spark.py.
"""

import uuid
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from pymetastore.hive_metastore import ttypes

from lifecycle.backup.domain.control import Control, HoldRule
from lifecycle.backup.engine.metastore.extras_change import CHANGED
from lifecycle.backup.engine.restore.order import NewName
from portal.lake.names import TableName
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_extras import dress, extras_of, grant_more, revoke
from tests.support.act_lake import ODD_VALUES, ActLake
from tests.support.act_restores import backup_of, elsewhere, lake_of, restore, undo
from tests.support.sql import SqlShell


@pytest.fixture(scope="module")
def lake(embedded_stack: Stack) -> Iterator[ActLake]:
    """One database for all tests of this file; each has tables of its own."""
    yield from make_lake(embedded_stack)


def parts(lake: ActLake, table: str, values: str = "abc") -> TableName:
    return lake.make_table(table, keys=("dt",), values=[(value,) for value in values])


@settings(
    max_examples=2,
    deadline=None,
    database=None,
    # Each example is a table on a real metastore: there is no hunt for a smaller one.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    n_keys=st.integers(0, 2),
    values=st.lists(st.sampled_from(ODD_VALUES), min_size=2, max_size=3, unique=True),
    external=st.booleans(),
    is_renamed=st.booleans(),
    table_goes_too=st.booleans(),
)
@example(n_keys=2, values=["a/b:c", None], external=False, is_renamed=True, table_goes_too=False)
@example(n_keys=1, values=["50%25", "été"], external=True, is_renamed=False, table_goes_too=True)
@pytest.mark.rows("N5", "L7")
def test_taking_a_restore_back_gives_the_lake_and_the_backup_that_were(
    lake: ActLake,
    n_keys: int,
    values: list[str | None],
    external: bool,
    is_renamed: bool,
    table_goes_too: bool,
) -> None:
    rows = [(value, "x y")[:n_keys] for value in values if value in lake.odd_values]
    name = lake.make_table(
        f"t{uuid.uuid4().hex[:8]}",
        keys=("dt", "h")[:n_keys],
        values=rows if n_keys else (),
        external=external,
    )
    n_items = len(rows) if n_keys else 1
    dress(lake, name)
    there, belongs = lake.snapshot(name), extras_of(lake, name)
    run, _ = lake.drop(name)
    if n_keys and table_goes_too:
        lake.metastore.drop_table(name)
    was = lake_of(lake), backup_of(lake, run)
    place = elsewhere(lake, f"{name.table}_back") if is_renamed else None
    back, result = restore(lake, run, new_name=place)
    assert result.counts == {"RESTORED": n_items}, result.skipped
    assert lake_of(lake) != was[0]
    assert undo(lake, run, back).counts == {"UNDONE": n_items}
    assert (lake_of(lake), backup_of(lake, run)) == was
    assert undo(lake, run, back).counts == {}
    assert lake.restore(run).counts == {"RESTORED": n_items}
    assert (lake.snapshot(name), extras_of(lake, name)) == (there, belongs)


def test_what_was_touched_since_the_restore_stays(lake: ActLake) -> None:
    name = parts(lake, "touched", "abcde")
    before = lake.snapshot(name)
    run, _ = lake.drop(name)
    back, _ = restore(lake, run)
    lake.fs.write_new(lake.db_path.child("touched", "dt=a", "late"), b"new")
    (altered,) = lake.metastore.partitions_by_names(name, ["dt=b"])
    altered.parameters["transient_lastDdlTime"] = "1800000000"
    lake.metastore.alter_partitions(name, [altered])
    lake.metastore.drop_partitions(name, ["dt=c"])
    hold = Control(holds=(HoldRule(lake.db, "touched", "dt=d", reason="a case"),))
    result = undo(lake, run, back, control=lambda: hold)
    assert result.counts == {"CONFLICT": 4, "UNDONE": 1}
    assert {entry["item"][-1]: entry["reason"] for entry in result.skipped} == {
        "a": "its files were changed since the restore",
        "b": "its metadata was changed since the restore",
        "c": "its name is not registered any more",
        "d": "held: a case",
    }
    assert lake.metastore.partition_names(name) == ["dt=a", "dt=b", "dt=d"]
    assert backup_of(lake, run)["dt=e"] == before.files["dt=e"]
    # The hold that the restore itself placed does not keep what it brought.
    own = Control(holds=(HoldRule(lake.db, "touched", "dt=d", reason=f"restored by run {back}"),))
    assert undo(lake, run, back, control=lambda: own).counts == {"CONFLICT": 3, "UNDONE": 1}


def test_partitions_come_into_a_table_that_was_moved_and_go_out_of_it_again(lake: ActLake) -> None:
    name = parts(lake, "moved")
    before = lake.snapshot(name)
    run, _ = lake.drop(name)
    place = NewName(lake.db, "moved", lake.db_path.child("new_home"), into=True)
    lake.fs.make_directory(place.location, mode=0o750)
    table = lake.metastore.table(name)
    table.sd.location = str(place.location)
    table.sd.cols.append(ttypes.FieldSchema(name="newer", type="int"))
    lake.metastore.alter_table_keeping_times(name, table)
    was = lake_of(lake), backup_of(lake, run)
    back, result = restore(lake, run, new_name=place)
    assert result.counts == {"RESTORED": 3}
    after = lake.snapshot(name)
    assert after.files == before.files
    assert {lake.config.path(item["sd"]["location"]) for item in after.items.values()} == {
        place.location.child(f"dt={value}") for value in "abc"
    }
    assert {len(item["sd"]["cols"]) for item in after.items.values()} == {2}
    assert undo(lake, run, back).counts == {"UNDONE": 3}
    assert (lake_of(lake), backup_of(lake, run)) == was


def test_a_table_that_restores_made_goes_with_the_last_of_them_unless_somebody_altered_it(
    lake: ActLake,
) -> None:
    run, _ = lake.drop(parts(lake, "mine"))
    was = lake_of(lake)
    to = elsewhere(lake, "copy")
    first, _ = restore(lake, run, new_name=to, partitions=frozenset({"dt=a"}))
    second, _ = restore(lake, run, new_name=to)
    assert undo(lake, run, first).counts == {"UNDONE": 1}
    copy = lake.table_name("copy")
    assert lake.metastore.partition_names(copy) == ["dt=b", "dt=c"]
    assert undo(lake, run, second).counts == {"UNDONE": 2}
    assert lake_of(lake) == was

    back, _ = restore(lake, run, new_name=to)
    table = lake.metastore.table(copy)
    table.parameters["note"] = "mine now"
    lake.metastore.alter_table_keeping_times(copy, table)
    result = undo(lake, run, back)
    assert result.counts == {"UNDONE": 3}
    assert [entry["reason"] for entry in result.skipped] == [
        "the table that the restore made was altered since"
    ]
    assert lake.metastore.table(copy).parameters["note"] == "mine now"


def test_what_somebody_granted_or_took_since_the_restore_is_not_lost(lake: ActLake) -> None:
    granted, revoked, whole = (lake.make_table(name) for name in ("given", "taken", "asis"))
    for name in (granted, revoked, whole):
        dress(lake, name)
    runs = {name: lake.drop(name)[0] for name in (granted, revoked, whole)}
    back = {name: restore(lake, run)[0] for name, run in runs.items()}
    grant_more(lake, granted, "zoe")
    revoke(lake, revoked, "bob")
    results = {name: undo(lake, run, back[name]) for name, run in runs.items()}
    assert {name.table: result.counts for name, result in results.items()} == {
        "given": {"CONFLICT": 1},
        "taken": {"CONFLICT": 1},
        "asis": {"UNDONE": 1},
    }
    assert results[granted].skipped[0]["reason"] == CHANGED
    assert "zoe" in str(extras_of(lake, granted)["grants"])


MADE_BY_SPARK = {
    "spark_text": "STORED AS TEXTFILE",
    "spark_parquet": "USING parquet",
    "spark_orc": "STORED AS ORC",
}


def test_unpartitioned_tables_made_by_spark_go_back_when_nobody_touched_them(
    lake: ActLake, embedded_sql: SqlShell
) -> None:
    properties = "TBLPROPERTIES ('LEVEL'='1', 'TTL'='60')"
    for table, storage in MADE_BY_SPARK.items():
        made = (
            f"CREATE TABLE {lake.db}.{table} {storage} {properties} AS VALUES (1L), (2L) AS t(id)"
        )
        embedded_sql.run(made)
    dropped = {table: lake.drop(lake.table_name(table))[0] for table in MADE_BY_SPARK}
    back = {table: restore(lake, run) for table, run in dropped.items()}
    assert [result.counts for _, result in back.values()] == [{"RESTORED": 1}] * 3
    embedded_sql.run(f"ALTER TABLE {lake.db}.spark_orc SET TBLPROPERTIES ('note'='mine')")
    undone = {table: undo(lake, run, back[table][0]) for table, run in dropped.items()}
    assert {table: result.counts for table, result in undone.items()} == {
        "spark_text": {"UNDONE": 1},
        "spark_parquet": {"UNDONE": 1},
        "spark_orc": {"CONFLICT": 1},
    }
    assert undone["spark_orc"].skipped[0]["reason"] == "its metadata was changed since the restore"
