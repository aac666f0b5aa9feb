"""Fixes of paths: what was moved conforms by the all-pairs oracle, and nobody else is worse off."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.drop.domain.refusal import Name
from lifecycle.relocation.domain.moves import Asked, Immovable, Lake, Move, Relocations
from lifecycle.rules.domain.conformity import DatabaseFacts, Reason, TableFacts
from lifecycle.rules.domain.templates import Template
from portal.lake.paths import LakePath
from tests.unit.lifecycle.rules.test_conformity import TEMPLATES, below, lakes, oracle, path
from tests.unit.portal.lake.places import paths

Partitions = dict[Name, LakePath]


@dataclass(frozen=True)
class World:
    """A lake with the partitions of its tables."""

    dbs: list[DatabaseFacts]
    tables: list[TableFacts]
    partitions: Partitions

    def reasons(self) -> dict[Name, set[Reason]]:
        """Return every broken rule by the oracle; partitions by the plain reading of theirs."""
        judged = oracle(self.dbs, self.tables)
        found = {Name(*key): {reason for reason, _ in reasons} for key, reasons in judged.items()}
        homes = {(table.db, table.table): table.location for table in self.tables}
        for name, place in self.partitions.items():
            home = homes[name.db, name.table]
            lies_in = home is not None and below(place, home)
            found[name] = set() if lies_in else {Reason.PART_PATH_NOT_IN_TBL}
        return found

    def locations(self) -> Iterable[tuple[str, Name]]:
        """Yield every registered location once."""
        for db in self.dbs:
            if db.location:
                yield str(db.location), Name(db.name)
        for table in self.tables:
            if table.location and not table.is_view:
                yield str(table.location), Name(table.db, table.table)
        for name, place in self.partitions.items():
            yield str(place), name

    def planned(self, *, templates: tuple[Template, ...] = TEMPLATES) -> Relocations:
        """Ask for everything that does not conform."""
        reasons = {name: found for name, found in self.reasons().items() if found}
        places = {name: text for text, name in self.locations()}
        lake = Lake(
            {db.name: db for db in self.dbs},
            {(table.db, table.table): table for table in self.tables if not table.is_view},
            {
                (name.db, name.table): frozenset(found)
                for name, found in reasons.items()
                if name.table and not name.partition
            },
            templates,
        )
        asked = [Asked(name, path(places[name]) if name in places else None) for name in reasons]
        fixes = Relocations(lake, asked)
        for text, name in self.locations():
            fixes.see(text, name)
        return fixes

    def after(self, moves: list[Move]) -> "World":
        """Return the lake after the moves: a table takes along its partitions in its directory."""
        targets = {move.name: move for move in moves}

        def table_after(table: TableFacts) -> TableFacts:
            move = targets.get(Name(table.db, table.table))
            return replace(table, location=move.target) if move else table

        def place_after(name: Name, place: LakePath) -> LakePath:
            if name in targets:
                return targets[name].target
            move = targets.get(Name(name.db, name.table))
            if move and place.is_at_or_under(move.source):
                rest = place.path[len(move.source.path) :]
                return LakePath(move.target.scheme, move.target.authority, move.target.path + rest)
            return place

        return World(
            self.dbs,
            [table_after(table) for table in self.tables],
            {name: place_after(name, place) for name, place in self.partitions.items()},
        )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Give a lake with many conforming databases, so that fixes exist, and partitions anywhere."""
    dbs, tables = draw(lakes())
    if draw(st.booleans()):
        dbs = [
            replace(db, owner="a", location=path(f"/a/d{n}" if n else "/a/a"))
            for n, db in enumerate(dbs)
        ]
        tables = [replace(table, owner="a") for table in tables]
    partitions: Partitions = {}
    for table in tables:
        for value in draw(st.lists(st.sampled_from("xyz"), max_size=2, unique=True)):
            inside = table.location.child(f"p={value}") if table.location else path("/lost")
            place = draw(st.one_of(st.just(inside), paths(4)))
            if not table.is_view and place.depth:
                partitions[Name(table.db, table.table, f"p={value}")] = place
    return World(dbs, tables, partitions)


@given(worlds())
def test_what_is_moved_conforms_and_nothing_else_gets_a_new_reason(world: World) -> None:
    before = world.reasons()
    moves = world.planned().moves()
    after = world.after(moves).reasons()
    for move in moves:
        assert before[move.name]
        assert not after[move.name], move
    for name, reasons in after.items():
        assert reasons <= before[name], name


@given(worlds())
def test_targets_are_unique_free_and_not_nested(world: World) -> None:
    fixes = world.planned()
    moves = fixes.moves()
    assert len({move.target for move in moves}) == len(moves)
    for move in moves:
        assert move.source.same_file_system(move.target)
        assert not move.target.is_at_or_under(move.source)
        assert not move.source.is_at_or_under(move.target)
        for text, name in world.locations():
            assert not path(text).is_at_or_under(move.target), (move, name)
        for other in moves:
            is_own = (other.name.db, other.name.table) == (move.name.db, move.name.table)
            if other is not move and not is_own:
                assert not other.target.is_at_or_under(move.target)
                assert not other.target.is_at_or_under(move.source)
    asked = {name for name, reasons in world.reasons().items() if reasons}
    assert {move.name for move in moves} | set(fixes.refused) == asked
    assert not {move.name for move in moves} & set(fixes.refused)


OWN = (Template.parse("/user/{owner}"),)
SALES = DatabaseFacts("sales", "ann", path("/user/ann/sales"))
BOB = DatabaseFacts("ops", "bob", path("/user/bob/ops"))


def outcome(
    *tables: TableFacts,
    dbs: tuple[DatabaseFacts, ...] = (SALES, BOB),
    partitions: Partitions | None = None,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[dict[Name, str], dict[Name, Immovable]]:
    """Plan for a small lake under /user/{owner}; gives targets and refusals by name."""
    # The oracle spells the templates of its own test out; here it is the plain one.
    monkeypatch.setattr(
        "tests.unit.lifecycle.rules.test_conformity.owner_fails",
        lambda _db, owner, place: not below(place, path(f"/user/{owner}")),
    )
    fixes = World(list(dbs), list(tables), partitions or {}).planned(templates=OWN)
    return {move.name: str(move.target) for move in fixes.moves()}, fixes.refused


def test_a_stray_table_goes_below_its_database_and_takes_its_partitions_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stray = TableFacts("sales", "stray", "ann", path("/user/ann/elsewhere"))
    fine = TableFacts("sales", "fine", "ann", path("/user/ann/sales/fine"))
    partitions = {
        Name("sales", "stray", "dt=1"): path("/user/ann/elsewhere/dt=1"),
        Name("sales", "stray", "dt=2"): path("/data/late/two"),
        Name("sales", "fine", "dt=1/h=a b"): path("/data/in"),
    }
    targets, refused = outcome(stray, fine, partitions=partitions, monkeypatch=monkeypatch)
    assert targets == {
        Name("sales", "stray"): "file:///user/ann/sales/stray",
        Name("sales", "stray", "dt=2"): "file:///user/ann/sales/stray/dt=2",
        Name("sales", "fine", "dt=1/h=a b"): "file:///user/ann/sales/fine/dt=1/h=a b",
    }
    assert refused == {}


@pytest.mark.parametrize(
    ("table", "others", "why"),
    [
        (("ops", "t", "ann", "/user/ann/t"), [], Immovable.OWNERS_DIFFER),
        (("sales", "t", "ann", "/data/t"), [("ops", "o", "bob", "/data/t/o")], "SHARED_LOCATION"),
        (("sales", "t", "ann", "/data/t"), [("ops", "o", "bob", "/data/t")], "SHARED_LOCATION"),
        (
            ("sales", "t", "ann", "/data/t"),
            [("sales", "o", "ann", "/user/ann/sales/t/o")],
            "TARGET_TAKEN",
        ),
        (("sales", "t", "ann", "/user/ann"), [], "NESTED"),
        (("sales", "t", "ann", "/user/ann/sales"), [], "NESTED"),
        (("sales", "t", "ann", "hdfs://nn1/t"), [], "OTHER_FILE_SYSTEM"),
        (("sales", "t", "ann", ""), [], "UNREADABLE"),
        (("gone", "t", "ann", "/user/ann/t"), [], "DATABASE_PLACE"),
        (("sales", "t", "ann", "/"), [], "SHARED_LOCATION"),
    ],
)
def test_what_no_move_can_put_right_is_refused_with_its_reason(
    table: tuple[str, str, str, str],
    others: list[tuple[str, str, str, str]],
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dbs = (SALES, BOB, DatabaseFacts("gone", "ann", path("/elsewhere")))
    made = [
        TableFacts(db, name, owner, path(place) if place else None)
        for db, name, owner, place in [table, *others]
    ]
    targets, refused = outcome(*made, dbs=dbs, monkeypatch=monkeypatch)
    assert refused[Name(*table[:2])] == why
    assert Name(*table[:2]) not in targets


def test_of_what_would_leave_its_file_system_both_places_are_told() -> None:
    name, far = Name("sales", "t"), path("hdfs://nn1/t")
    broken = {("sales", "t"): frozenset({Reason.TBL_NOT_SUB_DB})}
    facts = {("sales", "t"): TableFacts("sales", "t", "ann", far)}
    fixes = Relocations(Lake({"sales": SALES}, facts, broken, OWN), [Asked(name, far)])
    assert fixes.moves() == []
    assert fixes.refused == {name: Immovable.OTHER_FILE_SYSTEM}
    assert fixes.across == {name: Move(name, far, path("/user/ann/sales/t"))}


def test_a_partition_waits_for_its_table_and_a_database_is_never_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost = DatabaseFacts("lost", "ann", path("/lost"))
    owned = TableFacts("ops", "t", "ann", path("/user/bob/ops/t"))
    part = Name("ops", "t", "dt=1")
    targets, refused = outcome(
        owned, dbs=(SALES, BOB, lost), partitions={part: path("/data/1")}, monkeypatch=monkeypatch
    )
    assert targets == {}
    assert refused[Name("lost")] is Immovable.DATABASE
    assert refused[part] is Immovable.TABLE_PLACE


def test_a_place_inside_somebody_elses_directory_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stray = TableFacts("sales", "stray", "ann", path("/data/stray"))
    holder = TableFacts("sales", "holder", "ann", path("/user/ann/sales"))
    _, refused = outcome(stray, holder, monkeypatch=monkeypatch)
    assert refused[Name("sales", "stray")] is Immovable.TARGET_INSIDE


def test_an_undo_goes_back_whatever_the_rules_say_but_never_over_something() -> None:
    table = TableFacts("sales", "t", "ann", path("/user/ann/sales/t"))
    lake = Lake({"sales": SALES}, {("sales", "t"): table}, {}, OWN)
    name, part, in_it = (Name("sales", "t", one) for one in ("", "dt=1", "dt=2"))
    asked = [
        Asked(name, path("/user/ann/sales/t"), back_to=path("/data/t")),
        Asked(part, path("/data/one"), back_to=path("/data/two")),
    ]
    fixes = Relocations(lake, asked)
    fixes.see("file:///data/t", name)
    fixes.see("file:///data/t/dt=2", in_it)
    assert [move.name for move in fixes.moves()] == [name, part]
    fixes.see("file:///data/two/other", Name("sales", "other"))
    assert [move.name for move in fixes.moves()] == [name]
    inside = Asked(part, path("/user/ann/sales/t/dt=1"), back_to=path("/data/two"))
    first = Relocations(lake, [asked[0], inside])
    assert [move.name for move in first.moves()] == [part]
    assert first.refused == {name: Immovable.PARTITIONS_FIRST}
