"""Taking a restore back on a real metastore (N5, L7): undo(restore(b)) == b, and no more goes."""

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from portal.act.control import Control, HoldRule
from portal.act.restore import NewName
from portal.act.restore_settle import settle_restores
from portal.connectors.metastore import Metastore
from portal.lake.errors import StaleState
from portal.lake.names import TableName
from stack.stack import Stack
from tests.integration.act_cases import make_lake
from tests.support.act_lake import ODD_VALUES, ActLake
from tests.support.act_restores import backup_of, elsewhere, restore, undo


@pytest.fixture(params=["embedded_stack", "full_stack"])
def lake(request: pytest.FixtureRequest) -> Iterator[ActLake]:
    stack: Stack = request.getfixturevalue(request.param)
    yield from make_lake(stack)


@pytest.fixture
def here(embedded_stack: Stack) -> Iterator[ActLake]:
    yield from make_lake(embedded_stack)


def parts(lake: ActLake, table: str, values: str = "abc") -> TableName:
    return lake.make_table(table, keys=("dt",), values=[(value,) for value in values])


@settings(
    max_examples=5,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    n_keys=st.integers(0, 2),
    values=st.lists(st.sampled_from(ODD_VALUES), min_size=2, max_size=3, unique=True),
    external=st.booleans(),
    is_renamed=st.booleans(),
    table_goes_too=st.booleans(),
)
def test_taking_a_restore_back_gives_the_backup_that_was(
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
    there = lake.snapshot(name)
    run, _ = lake.drop(name)
    if n_keys and table_goes_too:
        lake.metastore.drop_table(name)
    before = backup_of(lake, run)
    place = elsewhere(lake, f"{name.table}_back") if is_renamed else None
    back, result = restore(lake, run, new_name=place)
    assert result.counts == {"RESTORED": n_items}, result.skipped
    assert undo(lake, run, back).counts == {"UNDONE": n_items}
    assert backup_of(lake, run) == before
    stands = lake.table_name(place.table) if place else name
    table = lake.metastore.table_or_none(stands)
    assert table is None or lake.metastore.partition_names(stands) == []
    assert (table is None) is not bool(n_keys and not place and not table_goes_too)
    assert undo(lake, run, back).counts == {}
    assert lake.restore(run).counts == {"RESTORED": n_items}
    assert lake.snapshot(name) == there


def test_what_was_touched_since_the_restore_stays(here: ActLake) -> None:
    name = parts(here, "touched", "abcde")
    before = here.snapshot(name)
    run, _ = here.drop(name)
    back, _ = restore(here, run)
    here.fs.write_new(here.db_path.child("touched", "dt=a", "late"), b"new")
    (altered,) = here.metastore.partitions_by_names(name, ["dt=b"])
    altered.parameters["transient_lastDdlTime"] = "1800000000"
    here.metastore.alter_partitions(name, [altered])
    here.metastore.drop_partitions(name, ["dt=c"])
    hold = Control(holds=(HoldRule(here.db, "touched", "dt=d", reason="a case"),))
    result = undo(here, run, back, control=lambda: hold)
    assert result.counts == {"CONFLICT": 4, "UNDONE": 1}
    assert {entry["item"][-1]: entry["reason"] for entry in result.skipped} == {
        "a": "its files were changed since the restore",
        "b": "its metadata was changed since the restore",
        "c": "its name is not registered any more",
        "d": "held: a case",
    }
    assert here.metastore.partition_names(name) == ["dt=a", "dt=b", "dt=d"]
    assert backup_of(here, run)["dt=e"] == before.files["dt=e"]
    # The hold that the restore itself placed does not keep what it brought.
    own = Control(holds=(HoldRule(here.db, "touched", "dt=d", reason=f"restored by run {back}"),))
    assert undo(here, run, back, control=lambda: own).counts == {"CONFLICT": 3, "UNDONE": 1}


@pytest.mark.parametrize("is_dropped", [False, True], ids=["moved", "dropped"])
def test_an_undo_that_died_is_brought_to_rest(here: ActLake, is_dropped: bool) -> None:
    name = parts(here, "died", "ab")
    before = here.snapshot(name)
    run, _ = here.drop(name)
    back, _ = restore(here, run)

    with pytest.raises(StaleState, match="driver is gone"):
        undo(here, run, back, metastore=_Dying(here.metastore, is_dropped=is_dropped))
    if is_dropped:
        assert here.metastore.partition_names(name) == []
        assert backup_of(here, run) == before.files
    else:
        assert here.snapshot(name).files == before.files
        assert undo(here, run, back).counts == {"UNDONE": 2}
    assert settle_restores(here.day.sealed(run, 1), here.settle_tools()) == {}
    assert here.restore(run).counts == {"RESTORED": 2}


class _Dying(Metastore):
    """The connection of a driver that dies right before, or right after, its DROP was sent."""

    def __init__(self, real: Metastore, *, is_dropped: bool) -> None:
        super().__init__(real._client, real._transport)
        self._is_dropped = is_dropped

    def drop_partitions(
        self, table: TableName, names: Sequence[str], *, delete_data: bool = False
    ) -> list[Any]:
        if self._is_dropped:
            super().drop_partitions(table, names, delete_data=delete_data)
        raise StaleState("test.dead", "The driver is gone.")


def test_partitions_go_back_out_of_a_table_that_was_moved(here: ActLake) -> None:
    name = parts(here, "moved")
    run, _ = here.drop(name)
    before = backup_of(here, run)
    place = NewName(here.db, "moved", here.db_path.child("new_home"), into=True)
    here.fs.make_directory(place.location, mode=0o750)
    table = here.metastore.table(name)
    table.sd.location = str(place.location)
    here.metastore.alter_table_keeping_times(name, table)
    back, _ = restore(here, run, new_name=place)
    assert undo(here, run, back).counts == {"UNDONE": 3}
    assert here.metastore.table_or_none(name) is not None
    assert backup_of(here, run) == before


def test_a_table_that_the_restore_made_stays_where_somebody_altered_it(here: ActLake) -> None:
    name = parts(here, "mine")
    run, _ = here.drop(name)
    back, _ = restore(here, run, new_name=elsewhere(here, "copy"))
    copy = here.table_name("copy")
    table = here.metastore.table(copy)
    table.parameters["note"] = "mine now"
    here.metastore.alter_table_keeping_times(copy, table)
    result = undo(here, run, back)
    assert result.counts == {"UNDONE": 3}
    assert [entry["reason"] for entry in result.skipped] == [
        "the table that the restore made was altered since"
    ]
    assert here.metastore.table(copy).parameters["note"] == "mine now"
