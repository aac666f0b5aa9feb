"""Merging: any order, repetition and division of changes gives the table that the source has."""

from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pipelines.cdc.changes.domain.positions import packed
from pipelines.cdc.changes.domain.records import Change, Operation, Row
from tests.support.merged_changes import Merged, TableState, key_of, merge

KEYS = ("1", "2", "3")


def change(op: Operation, version: int, key: str, value: str | None) -> Change:
    after: Row | None = None if op == "d" else {"id": key, "v": value}
    before: Row | None = {"id": key, "v": "old"} if op in "ud" else None
    return Change("d", "t", op, version, {"id": key}, 1, "", 0, before, after)


class Source:
    """A table of MySQL that writes a log, and is read by chunks while it changes."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.log: list[Change] = []
        self.offset = 4

    def do(self, kind: str, key: str, value: str, other: str) -> None:
        """Make a change of a row, where it is possible; each is an event of its own."""
        self.offset += 50
        version = packed(0, 1, self.offset + 1, half=0)
        row: Row = {"id": key, "v": value}
        if kind == "c" and key not in self.rows:
            self.log.append(change("c", version, key, value))
            self.rows[key] = row
        elif kind == "u" and key in self.rows:
            self.log.append(change("u", version, key, value))
            self.rows[key] = row
        elif kind == "d" and key in self.rows:
            self.log.append(change("d", version, key, None))
            del self.rows[key]
        elif kind == "k" and key in self.rows and other not in self.rows:
            self.log.append(change("d", version, key, None))
            self.log.append(change("c", version + 1, other, value))
            del self.rows[key]
            self.rows[other] = {"id": other, "v": value}

    @property
    def position(self) -> int:
        """The version of rows that are read now."""
        return packed(0, 1, self.offset + 50, half=0)

    def read(self, version: int, keys: Iterable[str]) -> list[Change]:
        """Read a chunk, for which `version` was noted before."""
        return [change("r", version, key, self.rows[key]["v"]) for key in keys if key in self.rows]


actions = st.tuples(
    st.sampled_from("cccuudkk"),
    st.sampled_from(KEYS),
    st.sampled_from("abc"),
    st.sampled_from(KEYS),
)


@st.composite
def captures(draw: st.DrawFn) -> tuple[Source, list[Change]]:
    """A source with rows from before its log, all of whose chunks are read beside its changes."""
    source = Source()
    for key in draw(st.sets(st.sampled_from(KEYS))):
        source.rows[key] = {"id": key, "v": "before the log"}
    loaded: list[Change] = []
    noted: dict[str, int] = {}
    waiting = list(KEYS)
    for action in draw(st.lists(actions, max_size=25)):
        source.do(*action)
        if draw(st.booleans()) and waiting:
            if waiting[0] not in noted:
                noted[waiting[0]] = source.position
            else:
                key = waiting.pop(0)
                loaded += source.read(noted[key], [key])
    for key in waiting:
        loaded += source.read(noted.get(key, source.position), [key])
    return source, source.log + loaded


@st.composite
def deliveries(draw: st.DrawFn, sent: list[Change]) -> list[list[Change]]:
    """The same changes in any order, some of them twice, in batches."""
    again: list[int] = draw(st.lists(st.integers(0, 200), max_size=8)) if sent else []
    order = draw(st.permutations([*sent, *(sent[one % len(sent)] for one in again)]))
    cuts = sorted(draw(st.lists(st.integers(0, len(order)), max_size=4)))
    bounds = [0, *cuts, len(order)]
    return [list(order[a:b]) for a, b in pairwise(bounds)]


def merge_all(batches: Iterable[Iterable[Change]]) -> Merged:
    merged = Merged(TableState())
    for batch in batches:
        last = merge(merged.state, batch)
        merged = Merged(last.state, merged.quarantined + last.quarantined)
    return merged


@given(captures(), st.data())
def test_any_delivery_gives_the_table_of_the_source(
    capture: tuple[Source, list[Change]], data: st.DataObject
) -> None:
    source, sent = capture
    merged = merge_all(data.draw(deliveries(sent)))
    assert {dict(key)["id"]: row for key, (_, row) in merged.state.rows.items()} == source.rows
    assert merged.quarantined == ()


@given(captures(), st.data())
def test_any_delivery_gives_the_same_state(
    capture: tuple[Source, list[Change]], data: st.DataObject
) -> None:
    _, sent = capture
    assert merge_all(data.draw(deliveries(sent))) == merge(TableState(), sent)


@given(captures(), st.data())
def test_a_batch_is_as_good_as_its_newest_records_and_its_deletes(
    capture: tuple[Source, list[Change]], data: st.DataObject
) -> None:
    """The Spark job takes one record a key: the newest, beside the newest delete of each key."""
    _, sent = capture
    batch = data.draw(st.permutations(sent))
    newest: dict[object, Change] = {}
    deletes: dict[object, Change] = {}
    for one in batch:
        key = key_of(one)
        if key not in newest or newest[key].version < one.version:
            newest[key] = one
        if one.op == "d" and (key not in deletes or deletes[key].version < one.version):
            deletes[key] = one
    assert merge(TableState(), [*deletes.values(), *newest.values()]) == merge(TableState(), batch)


def test_a_late_old_version_does_not_bring_a_deleted_key_back() -> None:
    deleted = merge(TableState(), [change("c", 1, "1", "a"), change("d", 5, "1", None)]).state
    assert deleted.rows == {}
    late = merge(deleted, [change("u", 3, "1", "b"), change("r", 4, "1", "b")])
    assert late.state == deleted
    again = merge(deleted, [change("c", 6, "1", "c")]).state
    assert [row for _, row in again.rows.values()] == [{"id": "1", "v": "c"}]


def test_of_two_deletes_the_newer_one_counts() -> None:
    deletes = [change("d", 9, "1", None), change("d", 5, "1", None)]
    for order in (deletes, deletes[::-1]):
        deleted = merge(TableState(), order).state
        assert list(deleted.tombstones.values()) == [9]
        assert merge(deleted, [change("u", 7, "1", "a")]).state == deleted


def test_records_of_one_version_that_contradict_are_quarantined() -> None:
    first, other = change("u", 5, "1", "a"), change("u", 5, "1", "b")
    merged = merge(TableState(), [first, other, first])
    assert merged.quarantined == (other,)
    assert [row for _, row in merged.state.rows.values()] == [first.after]
    deleted = change("d", 5, "1", None)
    assert merge(merged.state, [deleted]).quarantined == (deleted,)
    gone = merge(TableState(), [deleted]).state
    assert merge(gone, [first]).quarantined == (first,)
    assert merge(gone, [deleted]) == Merged(gone)


def test_a_record_that_was_read_twice_is_the_same_one() -> None:
    once = change("r", 5, "1", "a")
    assert merge(TableState(), [once, replace(once, at=99)]).quarantined == ()


def test_a_state_is_not_changed_by_a_merge() -> None:
    state = merge(TableState(), [change("c", 1, "1", "a")]).state
    merge(state, [change("d", 2, "1", None)])
    assert len(state.rows) == 1
    assert TableState().rows == {}
