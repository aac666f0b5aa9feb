"""What acting does when it cannot know: lost answers, refusals, changes while settle waited."""

import os
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lifecycle.backup.domain.layout import done_name
from lifecycle.backup.engine.drop import drop_items
from lifecycle.backup.engine.extras import ACCURATE as ACCURATE_NAME
from lifecycle.backup.engine.facts import generation_of
from lifecycle.backup.engine.journal.reading import JournalBatch, batches
from lifecycle.backup.engine.journal.records import BatchIntent, ItemIntent, Outcome
from lifecycle.backup.engine.metastore.registry import drop_exactly
from lifecycle.backup.engine.purge.probes import Probed
from lifecycle.backup.engine.settle.batches import settled, write_done
from portal.connectors.metastore import to_json
from portal.lake.errors import DataSafetyError, ExternalFailure, PortalError
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.safety.fence import move_directory
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_extras import dress, extras_of
from tests.support.act_lake import ActLake, TestRules
from tests.support.act_restores import elsewhere, restore, undo
from tests.support.lost_answers import (
    between,
    losing,
    refused,
    repeated,
    silent_metastore,
    unanswered,
)
from tests.support.moves import move, moves_of

PARTS = [("a",), ("b c",), ("50%",)]
LOST = pytest.mark.parametrize("lost", [unanswered, repeated], ids=["unanswered", "repeated"])


@pytest.fixture(
    params=[pytest.param("embedded_stack", marks=pytest.mark.long), "full_stack"],
    ids=["local", "hdfs"],
)
def lake(request: pytest.FixtureRequest) -> Iterator[ActLake]:
    """A fresh database and backup root, on local files and on HDFS."""
    stack: Stack = request.getfixturevalue(request.param)
    yield from make_lake(stack)


@pytest.fixture
def local(embedded_stack: Stack) -> Iterator[ActLake]:
    """A fresh database and backup root on local files."""
    yield from make_lake(embedded_stack)


def moves_item(source: LakePath, target: LakePath) -> bool:
    """Whether a rename moves an item into the backup, or out of it."""
    return "-i00" in f"{source}{target}"


def in_backup(lake: ActLake, run: str) -> list[JournalBatch]:
    return list(batches(lake.fs, lake.day.sealed(run, 1)))


def half_dropped(lake: ActLake, name: TableName) -> str:
    """Drop up to the metadata: the metastore is gone when the call is sent."""
    run = str(uuid.uuid4())
    order, items = lake.order(run), lake.items(name)
    whole = lake.metastore
    for method in ("drop_partitions", "drop_table"):
        lake.metastore = losing(lake.metastore, method, error=silent_metastore(), sent=False)
    with pytest.raises(ExternalFailure):
        drop_items(order, items, rules=TestRules(lake.config), tools=lake.tools(order.fence))
    lake.metastore = whole
    return run


@LOST
@pytest.mark.parametrize("values", [[], PARTS], ids=["table", "parts"])
def test_a_dropped_item_whose_rename_got_no_answer_is_in_the_backup(
    lake: ActLake, lost: Callable[[], PortalError], values: list[tuple[str]]
) -> None:
    name = lake.make_table("t", keys=("dt",)[: len(values)], values=values)
    before, real = lake.snapshot(name), lake.fs
    n_items = len(before.items)
    lake.fs = losing(real, "rename", error=lost(), nth=n_items)
    run, result = lake.drop(name, items=lake.items(name))
    lake.fs = real
    assert result.counts == {"DROPPED": n_items}
    assert lake.restore(run).counts == {"RESTORED": n_items}
    after = lake.snapshot(name)
    assert (after.items, after.files) == (before.items, before.files)


def test_a_rename_that_never_happened_is_not_dropped(lake: ActLake) -> None:
    name = lake.make_table("t", keys=("dt",), values=PARTS)
    before, real = lake.snapshot(name), lake.fs
    run = str(uuid.uuid4())
    order = lake.order(run)
    lake.fs = losing(real, "rename", error=unanswered(), nth=2, sent=False)
    tools, items = lake.tools(order.fence), lake.items(name)
    with pytest.raises(ExternalFailure):
        drop_items(order, items, rules=TestRules(lake.config), tools=tools)
    lake.fs = real
    assert lake.seal(run, approved=True) == {"SKIPPED": 2, "DROPPED": 1}
    assert lake.restore(run).counts == {"SKIPPED": 2, "RESTORED": 1}
    after = lake.snapshot(name)
    assert (after.items, after.files) == (before.items, before.files)


@LOST
def test_a_move_whose_rename_got_no_answer_goes_on(
    lake: ActLake, lost: Callable[[], PortalError]
) -> None:
    name = lake.make_table("t")
    before, real = lake.snapshot(name), lake.fs
    for nth, target in ((1, "there"), (2, "further")):
        lake.fs = losing(real, "rename", error=lost(), nth=nth)
        _, result = move(lake, moves_of(lake, name, lake.db_path.child(target)))
        lake.fs = real
        assert result.counts == {"MOVED": 1}
        assert lake.snapshot(name).files == before.files
        assert lake.metastore.table(name).sd.location.endswith(f"/{target}")


@LOST
def test_a_restore_and_its_undo_go_on_without_an_answer(
    lake: ActLake, lost: Callable[[], PortalError]
) -> None:
    name = lake.make_table("t", keys=("dt",), values=PARTS)
    before, real = lake.snapshot(name), lake.fs
    run, _ = lake.drop(name)
    lake.fs = losing(real, "rename", error=lost(), nth=2, when=moves_item)
    back, result = restore(lake, run, new_name=elsewhere(lake, "t_back"))
    assert result.counts == {"RESTORED": 3}
    assert lake.snapshot(lake.table_name("t_back")).files == before.files
    lake.fs = losing(real, "rename", error=lost(), nth=2, when=moves_item)
    assert undo(lake, run, back).counts == {"UNDONE": 3}
    lake.fs = real
    assert lake.restore(run).counts == {"RESTORED": 3}
    assert lake.snapshot(name).files == before.files


@LOST
def test_settle_takes_back_although_its_own_rename_got_no_answer(
    lake: ActLake, lost: Callable[[], PortalError]
) -> None:
    name = lake.make_table("t", keys=("dt",), values=PARTS)
    before, real = lake.snapshot(name), lake.fs
    run = half_dropped(lake, name)
    lake.fs = losing(real, "rename", error=lost(), nth=2, when=moves_item)
    assert lake.seal(run) == {"RETURNED": 3}
    lake.fs = real
    after = lake.snapshot(name)
    assert (after.items, after.files) == (before.items, before.files)


def _analyze(lake: ActLake, name: TableName) -> None:
    """Change what ANALYZE changes: statistics and the DDL time, nothing else."""
    table = lake.metastore.table(name)
    if not table.partitionKeys:
        table.parameters |= {"numRows": "1", "transient_lastDdlTime": "1800000000"}
        lake.metastore.alter_table_keeping_times(name, table)
        return
    (part,) = lake.metastore.partitions_by_names(name, ["dt=a"])
    part.parameters |= {"numRows": "1", "transient_lastDdlTime": "1800000000"}
    lake.metastore.alter_partitions(name, [part])


def _make_again(lake: ActLake, name: TableName) -> None:
    table = lake.metastore.table(name)
    if not table.partitionKeys:
        lake.metastore.drop_table(name)
        table.parameters |= {"made": "again", "transient_lastDdlTime": "1800000000"}
        lake.metastore.create_table(table)
        return
    (part,) = lake.metastore.drop_partitions(name, ["dt=a"])
    part.parameters |= {"made": "again", "transient_lastDdlTime": "1800000000"}
    lake.metastore.add_partitions([part], if_not_exists=False)


@pytest.mark.parametrize("approved", [True, False], ids=["approved", "lapsed"])
@pytest.mark.parametrize("values", [[], PARTS], ids=["table", "parts"])
@pytest.mark.parametrize("change", [_analyze, _make_again])
def test_what_was_changed_while_settle_waited_gets_its_data_back(
    local: ActLake,
    change: Callable[[ActLake, TableName], None],
    values: list[tuple[str]],
    approved: bool,
) -> None:
    lake = local
    name = lake.make_table("t", keys=("dt",)[: len(values)], values=values)
    files = lake.snapshot(name).files
    run = half_dropped(lake, name)
    change(lake, name)
    key = "dt=a" if values else ""
    place = lake.db_path.child("t", *filter(None, [key]))
    # What a job makes before it writes is no data, and makes room.
    if lake.fs.status(place) is None:
        lake.fs.make_directories(place.child("empty"), mode=0o755)
    others = {"DROPPED" if approved else "RETURNED": len(files) - 1} if values else {}
    counts = lake.seal(run, approved=approved)
    assert sum(counts.values()) == len(files)
    assert counts["RETURNED"] == 1 + others.get("RETURNED", 0)
    assert lake.files(place) == files[key]
    assert key in lake.snapshot(name).items
    assert lake.seal(run, approved=approved) == {}


def test_data_is_not_given_back_into_a_running_job(local: ActLake) -> None:
    lake = local
    name = lake.make_table("t")
    files = lake.snapshot(name).files
    run = half_dropped(lake, name)
    _analyze(lake, name)
    home = lake.db_path.child("t")
    lake.fs.make_directories(home.child("_temporary"), mode=0o755)
    lake.fs.write_new(home.child("_temporary", "part-0"), b"half")
    with pytest.raises(DataSafetyError, match="cannot be brought to rest"):
        lake.seal(run)
    lake.fs.remove_file(home.child("_temporary", "part-0"))
    lake.fs.remove_empty_directory(home.child("_temporary"))
    assert lake.seal(run) == {"RETURNED": 1}
    assert lake.files(home) == files[""]


def test_a_name_that_was_never_dropped_is_damage_and_gets_its_data_back(local: ActLake) -> None:
    """A release that called a changed item done left its data in the backup."""
    lake = local
    name = lake.make_table("t", keys=("dt",), values=PARTS)
    files = lake.snapshot(name).files
    run = half_dropped(lake, name)
    _analyze(lake, name)
    lake.metastore.drop_partitions(name, ["dt=50%25", "dt=b c"])
    move_directory(lake.fs, lake.day.open(run, 1), lake.day.sealed(run, 1))
    (batch,) = in_backup(lake, run)
    outcomes = {item.item: (Outcome.DROPPED, "") for item in batch.intent.items}
    done = settled(batch.intent, outcomes, now=datetime.now(UTC))
    write_done(lake.fs, batch.directory.child(done_name(batch.intent.batch)), done)
    (batch,) = in_backup(lake, run)
    found = {one.partition: one.found for one in lake.probe(batch)}
    assert found == {
        "dt=a": Probed.STRANDED,
        "dt=b c": Probed.CLEAN,
        "dt=50%25": Probed.CLEAN,
    }
    assert lake.restore(run).counts == {"RESTORED": 3}
    after = lake.snapshot(name)
    assert after.files == files
    assert after.items["dt=a"]["parameters"]["numRows"] == "1"
    assert lake.restore(run).counts == {"SKIPPED": 3}


def test_one_item_that_cannot_be_moved_is_left_and_the_rest_go_on(local: ActLake) -> None:
    lake = local
    name = lake.make_table("t", keys=("dt",), values=PARTS)
    real = lake.fs
    lake.fs = losing(real, "rename", error=refused(), nth=2, sent=False)
    run, result = lake.drop(name)
    lake.fs = real
    assert result.counts == {"SKIPPED": 1, "DROPPED": 2}
    assert "the file system refused to move it" in result.skipped[0]["reason"]
    assert len(lake.metastore.partition_names(name)) == 1
    assert lake.restore(run).counts == {"SKIPPED": 1, "RESTORED": 2}


def test_a_batch_that_cannot_go_back_does_not_stop_the_others(local: ActLake) -> None:
    lake = local
    first, second = lake.make_table("t1"), lake.make_table("t2")
    runs = [half_dropped(lake, name) for name in (first, second)]
    real = lake.fs
    lake.fs = losing(real, "rename", error=refused(), nth=2, sent=False)
    with pytest.raises(DataSafetyError, match="Permission denied"):
        lake.seal(runs[0])
    lake.fs = real
    assert lake.seal(runs[0]) == {"RETURNED": 1}
    assert lake.seal(runs[1]) == {"RETURNED": 1}


def test_a_partition_changed_at_the_last_moment_is_not_dropped(local: ActLake) -> None:
    lake = local
    name = lake.make_table("t", keys=("dt",), values=PARTS)
    dress(lake, name)
    before, real = lake.snapshot(name), lake.metastore
    carols = [grant for grant in extras_of(lake, name)["grants"] if "'a'" in grant]

    def change_first(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        _analyze(lake, name)
        return call(*args, **options)

    items = lake.items(name)
    lake.metastore = between(real, "drop_partitions", change_first)
    _, result = lake.drop(name, items=items)
    lake.metastore = real
    assert result.counts == {"DROPPED": 2, "RETURNED": 1}
    after = lake.snapshot(name)
    assert set(after.items) == {"dt=a"}
    assert after.items["dt=a"]["parameters"]["numRows"] == "1"
    assert after.files["dt=a"] == before.files["dt=a"]
    # Added again it has its grants; its column statistics were of another state, and it says so.
    assert len(carols) == 1
    assert [grant for grant in extras_of(lake, name)["grants"] if "'a'" in grant] == carols
    assert "its column statistics did not come back" in result.skipped[0]["reason"]
    assert "COLUMN_STATS" not in after.items["dt=a"]["parameters"].get(ACCURATE_NAME, "")


def test_a_table_made_again_with_partitions_is_never_dropped_whole(local: ActLake) -> None:
    lake = local
    name = lake.make_table("t", keys=("dt",), values=PARTS)
    table = lake.metastore.table(name)
    home = str(lake.db_path.child("t"))
    intent = ItemIntent("i", "", home, generation_of(table), to_json(table), (), ())
    batch = BatchIntent("r", 1, 1, "main", lake.db, "t", "", "", "", "", 15, "{}", (intent,))
    kept = drop_exactly(lake.metastore, name, [intent], batch=batch, on_added=lambda _added: None)
    assert kept == [intent]
    assert len(lake.metastore.partition_names(name)) == 3


def test_a_file_name_that_is_no_text_keeps_only_its_own_item(local: ActLake) -> None:
    lake = local
    name = lake.make_table("t", keys=("dt",), values=PARTS)
    odd = os.fsencode(lake.db_path.child("t", "dt=a").path) + b"/part-\xff"
    Path(os.fsdecode(odd)).write_bytes(b"x")
    run, result = lake.drop(name)
    assert result.counts == {"SKIPPED": 1, "DROPPED": 2}
    assert "no UTF-8 (part-\\udcff)" in result.skipped[0]["reason"]
    assert lake.restore(run).counts == {"RESTORED": 2}


def test_settle_registers_nothing_and_the_probe_does(local: ActLake) -> None:
    lake = local
    name = lake.make_table("t", keys=("dt",), values=PARTS)
    run = half_dropped(lake, name)
    lake.metastore.drop_partitions(name, ["dt=a", "dt=b c", "dt=50%25"])
    lake.make_files(lake.db_path.child("t", "dt=a"), n=7)
    assert lake.seal(run) == {"NEW_DATA": 1, "DROPPED": 2}
    assert lake.metastore.partition_names(name) == []
    (batch,) = in_backup(lake, run)
    assert [one.partition for one in lake.probe(batch) if one.is_registered] == ["dt=a"]
    assert lake.metastore.partition_names(name) == ["dt=a"]


def test_a_partition_added_while_an_undo_drops_its_table_is_registered_again(
    local: ActLake,
) -> None:
    lake = local
    name = lake.make_table("t", keys=("dt",), values=PARTS)
    run, _ = lake.drop(name)
    back, _ = restore(lake, run, new_name=elsewhere(lake, "t_back"))
    real, made = lake.metastore, lake.table_name("t_back")
    (part,) = real.partitions_by_names(made, ["dt=a"])
    part.parameters = {"note": "new"}

    def add_first(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        real.add_partitions([part], if_not_exists=False)
        return call(*args, **options)

    lake.metastore = between(real, "drop_table", add_first)
    assert undo(lake, run, back).counts == {"UNDONE": 3}
    lake.metastore = real
    assert real.partition_names(made) == ["dt=a"]
    assert real.partitions_by_names(made, ["dt=a"])[0].parameters["note"] == "new"


@pytest.mark.parametrize("shape", ["parts", "table"])
def test_one_item_that_cannot_come_back_is_left_and_the_rest_come(
    local: ActLake, shape: str
) -> None:
    keys, values = (("dt",), PARTS) if shape == "parts" else ((), ())
    name = local.make_table("t", keys=keys, values=values)
    before = local.snapshot(name)
    run, _ = local.drop(name)
    real = local.fs
    local.fs = losing(real, "rename", error=refused(), sent=False, when=moves_item)
    _, result = restore(local, run)
    local.fs = real
    (said,) = result.skipped
    n_back = len(before.items) - 1
    assert result.counts == {"SKIPPED": 1} | ({"RESTORED": n_back} if n_back else {})
    assert said["reason"] == "the file system refused to move it: Permission denied."
    assert len(local.metastore.partition_names(name)) == n_back if n_back else True
    assert local.restore(run).counts == {"RESTORED": 1} | ({"SKIPPED": n_back} if n_back else {})
    assert local.snapshot(name) == before
