"""Grants of what is registered again come back, also when the program ends between the two."""

from datetime import timedelta
from pathlib import Path

import pytest
from pymetastore.hive_metastore import ttypes

from lifecycle.backup.domain.layout import done_name, intent_name, item_name
from lifecycle.backup.engine.extras import ExtrasReader
from lifecycle.backup.engine.facts import generation_of, list_here
from lifecycle.backup.engine.journal.reading import DirectoryNames, read_batch
from lifecycle.backup.engine.journal.records import (
    BatchDone,
    BatchIntent,
    ItemDone,
    ItemIntent,
    Outcome,
    files_of,
)
from lifecycle.backup.engine.metastore.extras_return import return_to_added
from lifecycle.backup.engine.metastore.registry import drop_exactly
from lifecycle.backup.engine.metastore.tags import EXTRAS_DUE
from lifecycle.backup.engine.purge.probes import ProbeResult, probe_batch
from lifecycle.backup.engine.settle.batches import SettleTools, settle_directory
from portal.connectors.local_filesystem import LocalFileSystem
from portal.connectors.metastore import from_json, to_json
from portal.connectors.metastore_extras import MetastoreExtras
from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from tests.support.granting_hive import GrantingHive, broken
from tests.support.small_backup import DROPPED_AT, intent_of

FS = LocalFileSystem()
NAME = TableName(LakeId("main"), "sales", "orders")
PARTS = ("dt=a", "dt=b")


class World:
    """A table in a small metastore, its files, and one batch of a drop that moved its data."""

    def __init__(self, root: Path) -> None:
        base = LakePath.parse(f"file://{root}")
        self.live, self.backup = base.child("live"), base.child("run")
        self.hive = GrantingHive()
        self.hive.make(str(self.live), parts=PARTS)
        self.metastore = self.hive.connect()
        self.intent = self._move()

    def _move(self) -> BatchIntent:
        structs = self.hive.partitions
        reader = ExtrasReader(self.metastore)
        extras = reader.of_partitions(NAME, structs)
        items = []
        for n, part in enumerate(PARTS):
            home = self.backup.child(item_name(1, n))
            FS.make_directories(home, mode=0o755)
            FS.write_new(home.child("part-0"), b"data")
            items.append(
                ItemIntent(
                    item=item_name(1, n),
                    partition=part,
                    source=str(self.live.child(part)),
                    generation=generation_of(structs[part]),
                    metadata=to_json(structs[part]),
                    files=files_of(list_here(FS)([home])[home], root=home),
                    parents=(),
                    extras=extras[part],
                )
            )
        FS.make_directories(self.live, mode=0o755)
        intent = intent_of(
            items,
            table_metadata=to_json(self.hive.table),
            table_extras=reader.of_table(NAME, self.hive.table),
        )
        FS.write_new(self.backup.child(intent_name(1)), intent.to_bytes())
        return intent

    def drop(self) -> None:
        """Drop the partitions and write that it was done."""
        self.metastore.drop_partitions(NAME, PARTS)
        items = tuple(ItemDone(i.item, i.partition, Outcome.DROPPED) for i in self.intent.items)
        done = BatchDone("run", 1, 1, DROPPED_AT.isoformat(), "driver", items)
        FS.write_new(self.backup.child(done_name(1)), done.to_bytes())

    def write_late(self, part: str) -> None:
        """Write a file to the old place of a partition."""
        place = self.live.child(part)
        FS.make_directories(place, mode=0o755)
        FS.write_new(place.child("late"), b"new")

    @property
    def tools(self) -> SettleTools:
        """The tools of settle and probe, of a process of its own."""
        later = DROPPED_AT + timedelta(days=1)
        return SettleTools(FS, self.hive.connect(), list_here(FS), later, lambda: False)

    def probe(self) -> dict[str, ProbeResult]:
        """Look at the batch as a probe does."""
        found = probe_batch(
            read_batch(FS, self.backup, 1),
            self.tools,
            occupied=lambda _places: {},
            names=DirectoryNames(),
        )
        return {one.partition: one for one in found}

    def marks(self) -> list[str]:
        """Return the names of registered objects that wait for what belonged to them."""
        found = {"": self.hive.table, **self.hive.partitions}
        return [name for name, one in found.items() if EXTRAS_DUE in one.parameters]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_grants_of_late_data_come_back_after_a_crash_right_before_them(world: World) -> None:
    world.drop()
    world.write_late("dt=a")
    world.hive.fail["grant_privileges"] = broken()
    with pytest.raises(ExternalFailure):
        world.probe()
    assert list(world.hive.partitions) == ["dt=a"]
    assert world.hive.granted() == {("", "bob")}

    assert world.probe()["dt=a"].is_registered
    assert world.hive.granted() == {("a", "carol"), ("", "bob")}
    assert world.marks() == []
    # What somebody takes away afterwards stays away.
    world.hive.grants = []
    assert not world.probe()["dt=a"].is_registered
    assert world.hive.granted() == set()


def test_late_data_registered_by_its_writer_gets_no_grant(world: World) -> None:
    world.drop()
    world.write_late("dt=a")
    (made,) = [one for one in world.intent.items if one.partition == "dt=a"]
    struct = from_json(ttypes.Partition, made.metadata)
    world.metastore.add_partitions([struct], if_not_exists=False)
    assert not world.probe()["dt=a"].is_registered
    assert world.hive.granted() == {("", "bob")}


def test_grants_of_a_table_made_again_come_back_after_a_crash(world: World) -> None:
    world.drop()
    world.hive.table, world.hive.grants = None, []
    world.write_late("dt=b")
    world.hive.fail["add_partitions_req"] = broken()
    with pytest.raises(ExternalFailure):
        world.probe()
    assert world.hive.table is not None
    world.hive.fail["list_privileges"] = broken()
    with pytest.raises(ExternalFailure):
        world.probe()
    assert world.probe()["dt=b"].is_registered
    assert world.hive.granted() == {("b", "carol"), ("", "bob")}
    assert world.marks() == []


@pytest.mark.parametrize("call", ["list_privileges", "grant_privileges"])
def test_settle_brings_back_grants_of_what_a_drop_added_again(world: World, call: str) -> None:
    """A partition changed between the look and the drop is added again without its grants."""

    def change() -> None:
        world.hive.partitions["dt=a"].parameters["transient_lastDdlTime"] = "1900"

    world.hive.before["drop_partitions_req"] = change
    # Where all grants on partitions cannot be listed they are asked for one by one.
    world.hive.fail[call] = broken()
    if call == "list_privileges":
        world.hive.before[call] = lambda: world.hive.fail.update(grant_privileges=broken())
    said: dict[str, str] = {}
    with pytest.raises(ExternalFailure):
        drop_exactly(
            world.metastore,
            NAME,
            world.intent.items,
            batch=world.intent,
            on_added=lambda added: said.update(return_to_added(world.metastore, NAME, added)),
        )
    assert list(world.hive.partitions) == ["dt=a"]
    assert world.hive.granted() == {("", "bob")}

    assert settle_directory(world.backup, world.tools) == {"RETURNED": 1, "DROPPED": 1}
    assert world.hive.granted() == {("a", "carol"), ("", "bob")}
    assert world.marks() == []


def test_one_more_connection_serves_the_grants_of_all_batches(world: World) -> None:
    metastore = world.hive.connect()
    extras = MetastoreExtras(metastore)
    before = world.hive.n_connections
    for _ in range(5):
        assert len(extras.partition_grants(NAME, [["a"]])) == 1
    # Another step of the same run makes its reader again.
    assert len(MetastoreExtras(metastore).partition_grants(NAME, [["b"]])) == 1
    assert world.hive.n_connections == before + 1


def test_a_list_of_all_grants_that_ends_its_connection_is_followed_by_single_ones(
    world: World,
) -> None:
    extras = MetastoreExtras(world.metastore)
    assert len(extras.partition_grants(NAME, [["a"]])) == 1
    world.hive.fail["list_privileges"] = broken()
    world.hive.calls.clear()
    assert len(extras.partition_grants(NAME, [["a"], ["b"]])) == 2
    assert world.hive.calls == ["list_privileges"] * 3
    # Who asks again gets a connection that is not the broken one.
    before = world.hive.n_connections
    assert len(MetastoreExtras(world.metastore).partition_grants(NAME, [["a"]])) == 1
    assert world.hive.n_connections == before + 1
