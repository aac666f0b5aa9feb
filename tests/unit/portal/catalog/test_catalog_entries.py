"""Whatever order events and scans come in, the catalog says in the end what is true."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from portal.catalog.domain.entries import (
    Entries,
    Entry,
    ListedTable,
    Name,
    TableChange,
    TableFacts,
)
from tests.unit.portal.catalog.histories import History, at, histories

CLICKS = TableFacts("iceberg", "11111111", "/lake/clicks", "olga")
NAME = ("shop", "clicks")


def living(entries: Entries) -> dict[Name, TableFacts]:
    return {name: entry.facts for name, entry in entries.living.items()}


def in_order(history: History) -> Entries:
    entries = Entries()
    for event in history.events:
        entries.apply(event, at=at(event.event_id))
    return entries


@given(histories)
def test_a_row_stays_with_its_table_and_each_table_has_its_own(history: History) -> None:
    entries, numbers = Entries(), dict[int, Entry]()
    for event, truth in zip(history.events, history.truth[1:], strict=True):
        entries.apply(event, at=at(event.event_id))
        assert set(entries.living) == set(truth)
        for name, table in truth.items():
            assert numbers.setdefault(table.number, entries.living[name]) is entries.living[name]
    assert living(entries) == history.facts
    assert len(entries.touched) == len(set(map(id, numbers.values()))) == len(numbers)


@given(histories, st.data())
def test_events_in_any_order_and_repeated_end_in_what_is_true(
    history: History, data: st.DataObject
) -> None:
    again = data.draw(st.lists(st.sampled_from(history.events))) if history.events else []
    entries = Entries()
    for event in data.draw(st.permutations([*history.events, *again])):
        entries.apply(event, at=at(event.event_id))
    assert living(entries) == history.facts


@given(histories, st.integers(0, 24))
def test_events_taken_in_again_change_nothing(history: History, first: int) -> None:
    entries = in_order(history)
    entries.touched.clear()
    entries.freed.clear()
    left = dict(entries.left)
    for event in history.events[first:]:
        entries.apply(event, at=at(100))
    assert (entries.touched, entries.freed, entries.left) == ({}, set(), left)


@given(histories, st.integers(0, 24), st.floats(0, 30), st.floats(0, 30))
def test_a_scan_beside_events_that_come_late_ends_in_what_is_true(
    history: History, scanned: int, lag: float, length: float
) -> None:
    scanned = min(scanned, len(history.events))
    read_at, event_id = scanned + 0.5, scanned
    entries = Entries()
    waiting = [(event.event_id + lag, event) for event in history.events]
    ingested_at = read_at + length
    for moment, event in (pair for pair in waiting if pair[0] <= ingested_at):
        entries.apply(event, at=at(moment))
    for listed in history.listed(scanned):
        entries.apply_listed(listed, event_id=event_id, at=at(read_at))
    for entry in list(entries.living.values()):
        # What the statement of `scan_record` deletes.
        if entry.last_seen_at < at(read_at) and entry.event_id <= event_id:
            entries.end(entry, at=at(read_at))
    for moment, event in (pair for pair in waiting if pair[0] > ingested_at):
        entries.apply(event, at=at(moment))
    assert living(entries) == history.facts


@given(histories)
def test_a_scan_recorded_again_changes_nothing(history: History) -> None:
    entries, last = in_order(history), len(history.events)
    for _ in range(2):
        for listed in history.listed(last):
            entries.apply_listed(listed, event_id=last, at=at(last + 1))
        assert living(entries) == history.facts
        entries.freed.clear()
    assert not entries.freed
    assert all(one.metastore_id for one in entries.living.values())


def stored(facts: TableFacts = CLICKS, *, name: Name = NAME, number: int | None = 5) -> Entry:
    return Entry(
        *name,
        facts,
        10,
        at(1),
        at(1),
        db_owner="sara",
        metastore_id=number,
        created_at=at(0),
        key=1,
    )


def with_stored(entry: Entry) -> Entries:
    entries = Entries()
    entries.add(entry)
    return entries


def listed(
    facts: TableFacts = CLICKS, *, name: Name = NAME, number: int = 5, created: float = 0
) -> ListedTable:
    return ListedTable(*name, facts, "sara", number, at(created))


def test_a_scan_follows_a_rename_that_no_event_told_of() -> None:
    entry = stored()
    entries = with_stored(entry)
    entries.apply_listed(listed(name=("web", "visits")), event_id=20, at=at(2))
    assert entries.living == {("web", "visits"): entry}
    assert entries.freed == {1}


def test_a_scan_follows_two_tables_that_swapped_their_names() -> None:
    plain = replace(CLICKS, uuid="")
    one, two = stored(plain), stored(plain, name=("shop", "visits"), number=6)
    two.key = 2
    entries = with_stored(one)
    entries.add(two)
    entries.apply_listed(listed(plain, number=6), event_id=20, at=at(2))
    entries.apply_listed(listed(plain, name=("shop", "visits")), event_id=20, at=at(2))
    assert entries.living == {NAME: two, ("shop", "visits"): one}
    assert one.deleted_at is two.deleted_at is None


def test_a_scan_tells_a_table_made_anew_from_the_one_before() -> None:
    plain = replace(CLICKS, uuid="")
    for other in (
        listed(plain, number=6, created=1),
        listed(plain, created=1),
        listed(replace(CLICKS, uuid="2222")),
    ):
        entry = stored(CLICKS if other.facts.uuid else plain)
        entries = with_stored(entry)
        entries.apply_listed(other, event_id=20, at=at(2))
        assert entry.deleted_at == at(2)
        assert entries.living[NAME] is not entry


def test_numbers_of_a_metastore_that_was_set_up_anew_move_no_row() -> None:
    entry = stored(replace(CLICKS, uuid=""))
    entries = with_stored(entry)
    other = listed(replace(CLICKS, uuid=""), name=("web", "visits"), created=90)
    entries.apply_listed(other, event_id=20, at=at(2))
    assert entries.living[NAME] is entry
    assert entries.living["web", "visits"] is not entry


def test_an_iceberg_table_registered_again_has_its_row_again() -> None:
    entry = stored()
    entries = with_stored(entry)
    entries.apply(TableChange(11, *NAME), at=at(2))
    assert entry.deleted_at == at(2)
    created = TableChange(12, "web", "visits", CLICKS, is_created=True)
    entries.apply(created, at=at(3))
    assert entries.living == {("web", "visits"): entry}
    assert entry.deleted_at is None
    assert entries.left == {NAME: 11}


def test_one_uuid_registered_by_two_names_has_two_rows() -> None:
    entry = stored()
    entries = with_stored(entry)
    entries.apply_listed(listed(), event_id=20, at=at(2))
    entries.apply_listed(listed(name=("web", "visits"), number=6), event_id=20, at=at(2))
    assert entries.living[NAME] is entry
    assert entries.living["web", "visits"] is not entry


def test_a_scan_leaves_alone_what_a_later_event_decided() -> None:
    entry = stored()
    entries = with_stored(entry)
    entries.apply_listed(listed(replace(CLICKS, owner="old")), event_id=9, at=at(2))
    assert entry.facts == CLICKS
    entries.apply(TableChange(11, "web", "visits", CLICKS, former=NAME), at=at(2))
    entries.apply_listed(listed(), event_id=10, at=at(3))
    assert entries.living == {("web", "visits"): entry}
    assert entry.db_owner is None
