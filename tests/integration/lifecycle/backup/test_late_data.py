"""Late data at the place of what was dropped: where it is registered again, and with what."""

from collections.abc import Iterator

import pytest

from lifecycle.backup.engine.journal.reading import batches
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_extras import dress, extras_of
from tests.support.act_lake import ActLake


@pytest.fixture
def local(embedded_stack: Stack) -> Iterator[ActLake]:
    """A fresh database and backup root on local files."""
    yield from make_lake(embedded_stack)


def test_late_data_is_registered_only_where_nothing_else_has_its_place(local: ActLake) -> None:
    lake = local
    name = lake.make_table("t", keys=("dt",), values=[("a",), ("b c",), ("50%",)])
    run, _ = lake.drop(name)
    home = lake.db_path.child("t")
    for value in ("dt=a", "dt=b c"):
        lake.make_files(home.child(value), n=7)
    other = lake.make_table("other", external=True)
    struct = lake.metastore.table(other)
    struct.sd.location = str(home.child("dt=a", "nested dir"))
    lake.metastore.alter_table_keeping_times(other, struct)
    (batch,) = batches(lake.fs, lake.day.sealed(run, 1))
    found = {one.partition: one for one in lake.probe(batch)}
    assert found["dt=b c"].is_registered
    assert not found["dt=a"].is_registered
    assert "nested dir is there" in found["dt=a"].detail
    assert lake.metastore.partition_names(name) == ["dt=b c"]


@pytest.mark.parametrize("shape", ["parts", "table", "parts of a table that is gone"])
def test_late_data_has_the_grants_and_constraints_of_the_old(local: ActLake, shape: str) -> None:
    keys, values = ((), ()) if shape == "table" else (("dt",), [("a",)])
    name = local.make_table("t", keys=keys, values=values)
    dress(local, name)
    belongs = extras_of(local, name)
    run, _ = local.drop(name)
    if shape.endswith("gone"):
        local.metastore.drop_table(name)
    local.make_files(local.db_path.child("t", *(["dt=a"] if keys else [])), n=7)
    (batch,) = batches(local.fs, local.day.sealed(run, 1))
    (found,) = local.probe(batch)
    assert found.is_registered
    now = extras_of(local, name)
    assert now["grants"] == belongs["grants"]
    assert now["constraints"] == belongs["constraints"]
    # They describe data that lies in the backup.
    assert now["partitions" if keys else "statistics"] == "[]"
    assert "its column statistics did not come back: its data" in found.detail
