"""Undo of a restore: what counts as restored, and what counts as changed."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from pymetastore.hive_metastore import ttypes

from lifecycle.backup.domain.layout import Day
from lifecycle.backup.domain.restore_choice import Choice
from lifecycle.backup.engine.journal.catalogue import Entry
from lifecycle.backup.engine.journal.reading import (
    JournalBatch,
    RestoreStep,
    restored_items,
    standing_items,
)
from lifecycle.backup.engine.journal.records import (
    BatchDone,
    BatchIntent,
    FileFact,
    Generation,
    ItemDone,
    ItemIntent,
    ItemTarget,
    Outcome,
    RestoreIntent,
)
from lifecycle.backup.engine.metastore.tags import tag_of, tagged, tagged_table
from lifecycle.backup.engine.purge.batches import PurgeBatch, _disagrees
from lifecycle.backup.engine.restore.batches import table_choice
from lifecycle.backup.engine.restore.order import NewName, RestoreOrder
from lifecycle.backup.engine.undo.batches import brought_back
from lifecycle.backup.engine.undo.facts import is_as_made, metadata_change
from portal.connectors.metastore import from_json, to_json
from portal.lake.ids import LakeId
from portal.lake.paths import LakePath


def step(restore: str, outcome: Outcome, *items: str, undoes: str = "") -> RestoreStep:
    intent = RestoreIntent(restore, 1, 1, "2026-11-22", "db", "t", "", (), undoes)
    done = tuple(ItemDone(item, "", outcome) for item in items)
    return RestoreStep(restore, intent, BatchDone("run", 1, 1, "2026-11-22", "driver", done))


def test_restored_is_what_came_back_and_was_not_taken_back() -> None:
    first = step("r1", Outcome.RESTORED, "a", "b")
    back = step("u1", Outcome.UNDONE, "a", undoes="r1")
    again = step("r2", Outcome.RESTORED, "a")
    assert restored_items([first]) == {"a", "b"}
    assert restored_items([first, back]) == {"b"}
    # The files of a directory come in the order of their names, not of time.
    for steps in itertools.permutations([first, back, again]):
        assert standing_items(list(steps)) == {("r1", "b"), ("r2", "a")}


def test_a_step_is_written_and_read_with_what_it_undoes() -> None:
    intent = step("u1", Outcome.UNDONE, undoes="r1").intent
    assert RestoreIntent.from_bytes(intent.to_bytes()) == intent


HOME = "file:///lake/db/t"


def storage(location: str) -> ttypes.StorageDescriptor:
    cols = [ttypes.FieldSchema(name="id", type="bigint")]
    serde = ttypes.SerDeInfo(serializationLib="parquet", parameters={"path": location})
    return ttypes.StorageDescriptor(cols=cols, location=location, serdeInfo=serde)


def partition() -> ttypes.Partition:
    parameters = {"transient_lastDdlTime": "7", "note": "x"}
    return ttypes.Partition(
        **{"values": ["a"], "dbName": "db", "tableName": "t", "createTime": 5},
        **{"sd": storage(f"{HOME}/dt=a"), "parameters": parameters},
    )


def whole_table() -> ttypes.Table:
    keys = [ttypes.FieldSchema(name="dt", type="string")]
    return ttypes.Table(
        **{"dbName": "db", "tableName": "t", "owner": "alice", "createTime": 3},
        **{"sd": storage(HOME), "partitionKeys": keys, "parameters": {"TTL": "60"}},
    )


def item() -> ItemIntent:
    return ItemIntent(
        item="b0000001-i000",
        partition="dt=a",
        source=f"{HOME}/dt=a",
        generation=Generation(5, 7, f"{HOME}/dt=a"),
        metadata=to_json(partition()),
        files=(FileFact("", True, 0, 1, "a", "a", 0o755),),
        parents=(),
    )


def batch(*outcomes: Outcome) -> JournalBatch:
    intent = BatchIntent(
        run="run",
        epoch=1,
        batch=1,
        lake="lake",
        db="db",
        table="t",
        table_owner="alice",
        plan="",
        digest="",
        at="",
        keep_days=15,
        table_metadata=to_json(whole_table()),
        items=(item(),),
    )
    done = tuple(ItemDone(item().item, "dt=a", outcome) for outcome in outcomes)
    said = BatchDone("run", 1, 1, "2026-11-22T00:00:00+00:00", "driver", done)
    return JournalBatch(LakePath.parse("file:///backup/x"), intent, said, "sha")


def brought(to: str = "", *, restore: str = "r1", outcome: Outcome = Outcome.RESTORED) -> Any:
    """Return a restore step of the item; `to` is another table name."""
    location = f"file:///lake/db/{to}" if to else ""
    target = ItemTarget(item().item, "dt=a", f"{location or HOME}/dt=a")
    intent = RestoreIntent(
        restore, 1, 1, "2026-11-23T00:00:00", "db", to or "t", location, (target,)
    )
    done = BatchDone("run", 1, 1, "", "driver", (ItemDone(item().item, "dt=a", outcome),))
    return RestoreStep(restore, intent, done)


def restored(to: str = "") -> ttypes.Partition:
    """Return the partition as the metastore has it after that step; its create time is its own."""
    step = brought(to).intent
    rename = (step.db, step.table, step.location) if to else None
    tag = tag_of(batch().intent, item())
    found = tagged(partition(), tag=tag, rename=rename, target=step.items[0].target)
    found.createTime = 99
    return from_json(ttypes.Partition, to_json(found))


@pytest.mark.parametrize("to", ["", "copy"])
def test_what_a_restore_registered_is_known_again(to: str) -> None:
    assert metadata_change(batch(), item(), brought(to).intent, restored(to)) == ""
    live = restored(to)
    live.sd.location = live.sd.location.replace("file:///", "file:/")
    assert metadata_change(batch(), item(), brought(to).intent, live) == ""
    assert metadata_change(batch(), item(), brought(to).intent, None).startswith("its name is not")


def _set(name: str, value: str) -> Callable[[Any], object]:
    return lambda struct: struct.parameters.__setitem__(name, value)


@pytest.mark.parametrize(
    "change",
    [
        _set("TTL", "90"),
        _set("transient_lastDdlTime", "8"),
        lambda struct: struct.parameters.pop("note"),
        lambda struct: setattr(struct.sd, "location", "file:///lake/db/other"),
        lambda struct: setattr(struct.sd, "inputFormat", "other"),
        lambda struct: struct.sd.cols.append(ttypes.FieldSchema(name="new", type="int")),
        lambda struct: struct.sd.serdeInfo.parameters.__setitem__("field.delim", ";"),
    ],
)
@pytest.mark.parametrize("to", ["", "copy"])
def test_whatever_was_altered_since_is_seen(change: Callable[[Any], object], to: str) -> None:
    live = restored(to)
    change(live)
    found = metadata_change(batch(), item(), brought(to).intent, live)
    assert found == "its metadata was changed since the restore"
    _set("lakewarden.restored_from", "another/1/b0000001-i000")(live)
    found = metadata_change(batch(), item(), brought(to).intent, live)
    assert found == "something else is registered under its name"


def test_a_table_made_for_its_partitions_is_ours_only_while_nobody_altered_it() -> None:
    step = brought("copy").intent
    rename = (step.db, step.table, step.location)
    live = tagged_table(whole_table(), rename=rename)
    live.createTime, live.parameters["transient_lastDdlTime"] = 99, "99"
    assert is_as_made(batch(), step, live)
    live.parameters["TTL"] = "61"
    assert not is_as_made(batch(), step, live)
    live = tagged_table(whole_table(), rename=rename)
    live.parameters.pop("lakewarden.generation")
    assert not is_as_made(batch(), step, live)


def test_a_table_of_another_name_is_ours_by_its_mark_only() -> None:
    """Two tables may have been made in one second."""
    place = LakePath.parse("file:///lake/db/copy")
    order = RestoreOrder("r", 1, LakeId("lake"), (), new_name=NewName("db", "copy", place))
    other = whole_table()
    other.tableName = "copy"
    assert table_choice(order, batch(), other) == (Choice.NAME_TAKEN, "")
    assert table_choice(replace(order, new_name=None), batch(), other) is None
    assert table_choice(order, batch(), tagged_table(other, rename=None)) is None


def test_only_what_this_restore_brought_and_nobody_took_back_stands() -> None:
    left_alone = brought(outcome=Outcome.SKIPPED)
    steps = [left_alone, brought(), brought(restore="r2", outcome=Outcome.CONFLICT)]
    (one,) = brought_back(batch(), steps, by="r1")
    assert (one.home, str(one.live)) == (item().item, f"{HOME}/dt=a")
    assert brought_back(batch(), steps, by="r2") == []
    steps.append(step("u1", Outcome.UNDONE, item().item, undoes="r1"))
    assert brought_back(batch(), steps, by="r1") == []


def test_the_time_out_of_the_backup_is_added_to_its_days() -> None:
    back = step("u1", Outcome.UNDONE, item().item, undoes="r1")
    assert back.done is not None
    known = JournalBatch(LakePath.parse("file:///b"), batch().intent, back.done, "sha")
    day = Day(LakePath.parse("file:///b"), date(2026, 11, 22))
    first = step("r1", Outcome.RESTORED, item().item)
    later = replace(back, done=replace(back.done, at="2026-11-25"))
    entry = Entry(day, known, back.done, [first, later], is_purged=False, is_empty=False)
    assert entry.away == timedelta(days=3)
    assert entry.restored == frozenset()


def test_a_purge_waits_until_the_catalogue_knows_what_the_files_say() -> None:
    directory = LakePath.parse("file:///b")
    wanted = PurgeBatch("id", "db.t", directory, 1, "sha", None, n_left=0)  # type: ignore[arg-type]  # not read here
    assert _disagrees(wanted, []) is None
    assert _disagrees(wanted, [item()]) == ("the catalogue knows of 0 items in it, the files of 1")
