"""What the portal asks of a real metastore about partitions, odd values included."""

import pytest

from portal.lake.errors import ExternalFailure, NotVisible
from portal.lake.ids import LakeId
from portal.lake.names import DEFAULT_PARTITION, PartitionName, TableName
from stack.stack import LAKE
from tests.support.guarded import ADMIN, Guarded

# As the metastore stores them; all characters that a pattern could take for something else.
ODD = ["2026-11-21", "a.b", "axb", "a_b", "A_B", "a+b", "(x)", "[x]", "a|b", "x$", "a%b", "a\\b"]
ODD += ["a/b:c", "größe", "a b", "'q'", "*", "?", DEFAULT_PARTITION]
NOWHERE = TableName(LakeId(LAKE), "no_such_db", "no_such_table")


def named(value: str) -> PartitionName:
    return PartitionName(("dt",), (None if value == DEFAULT_PARTITION else value,))


def test_partitions_are_counted_and_found_by_value(guarded: Guarded) -> None:
    metastore = guarded.as_(ADMIN)
    name = guarded.table(guarded.database())
    assert metastore.n_partitions(name) == 0
    guarded.add_partitions(name, ODD)
    assert metastore.n_partitions(name) == len(ODD)
    for value in ODD:
        found = metastore.partition_names_like(name, [value])
        assert str(named(value)) in found
        assert len(found) == 1 or "." in value, found
    every = metastore.partition_names_like(name, [""], limit=None)
    assert sorted(every) == sorted(str(named(value)) for value in ODD)
    assert len(metastore.partition_names_like(name, [""], limit=2)) == 2
    assert metastore.partition_names_like(name, ["2026"]) == []
    with pytest.raises(NotVisible):
        metastore.n_partitions(NOWHERE)
    with pytest.raises(NotVisible):
        metastore.partition_names_like(NOWHERE, [""])
    with pytest.raises(ExternalFailure):
        metastore.partition_names_like(name, ["1", "2"])


def test_an_insert_can_be_told_of_what_is_registered_only(guarded: Guarded) -> None:
    metastore = guarded.as_(ADMIN)
    name = guarded.table(guarded.database())
    guarded.add_partitions(name, ODD[:2])
    before = guarded.here()
    metastore.fire_insert(name, named(ODD[1]), files=["file:///x/1", "file:///x/ü 2"])
    metastore.fire_insert(name)
    assert [event.eventType for event in guarded.events(before)] == ["INSERT", "INSERT"]
    two_keys = PartitionName(("dt", "h"), ("2026-11-21", "1"))
    for table, partition in [(NOWHERE, None), (name, named("gone")), (name, two_keys)]:
        with pytest.raises(ExternalFailure) as caught:
            metastore.fire_insert(table, partition)
        assert caught.value.code == "metastore.refused"
        assert str(table) in caught.value.message
    assert metastore.n_partitions(name) == 2
