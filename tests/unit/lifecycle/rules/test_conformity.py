"""Path rules: the sweep equals a plain reading of the rules over all pairs."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.rules.domain.conformity import (
    DatabaseFacts,
    PathRuleException,
    Reason,
    TableFacts,
    judge,
    partition_conforms,
)
from lifecycle.rules.domain.templates import Template
from portal.lake.paths import LakePath
from tests.unit.portal.lake.places import paths

TODAY = date(2026, 11, 22)
OWNERS = ("a", "a-", "é", "")
TEMPLATES = (Template.parse("/a", pattern="db2"), Template.parse("/{owner}"))
Name = tuple[str, str]


def path(text: str) -> LakePath:
    return LakePath.parse(text)


def below(one: LakePath, other: LakePath) -> bool:
    return one != other and one.is_at_or_under(other)


def owner_fails(db: str, owner: str, place: LakePath) -> bool:
    """The template rule, spelled out for the two templates of this test."""
    if db == "db2":
        return not below(place, path("/a"))
    return not owner or not below(place, path(f"/{owner}"))


Judged = set[tuple[Reason, int]]


def counted(*found: tuple[Reason, int]) -> Judged:
    return {(reason, n) for reason, n in found if n}


def judge_database(db: DatabaseFacts, dbs: list[DatabaseFacts], tables: list[TableFacts]) -> Judged:
    if db.location is None:
        return {(Reason.DB_PATH_FAIL, 0)}
    others = [other.location for other in dbs if other is not db]
    guests = [table.location for table in tables if table.db != db.name]
    reasons = counted(
        (Reason.HAS_OTHER_DB, count_at_or_under(db.location, others)),
        (Reason.HAS_OTHER_DB_TBL, count_at_or_under(db.location, guests)),
    )
    if owner_fails(db.name, db.owner, db.location):
        reasons.add((Reason.OWNER_PATH_FAIL, 0))
    return reasons


def judge_table(
    table: TableFacts, db: DatabaseFacts, dbs: list[DatabaseFacts], tables: list[TableFacts]
) -> Judged:
    place = table.location
    if place is None or db.location is None or not below(place, db.location):
        reasons = {(Reason.TBL_NOT_SUB_DB, 1)}
    else:
        reasons = set()
    if place is None:
        return reasons
    others = [other for other in tables if other is not table]
    reasons |= counted(
        (Reason.HAS_OTHER_DB, count_at_or_under(place, [d.location for d in dbs if d is not db])),
        (
            Reason.HAS_OTHER_DB_TBL,
            count_at_or_under(place, [t.location for t in others if t.db != table.db]),
        ),
        (
            Reason.HAS_OTHER_TBL,
            count_at_or_under(place, [t.location for t in others if t.db == table.db]),
        ),
    )
    if owner_fails(table.db, table.owner, place):
        reasons.add((Reason.OWNER_PATH_FAIL, 0))
    return reasons


def oracle(dbs: list[DatabaseFacts], tables: list[TableFacts]) -> dict[Name, Judged]:
    """Judge by looking at all pairs; gives reasons with the number of names involved."""
    tables = [table for table in tables if not table.is_view]
    found = {(db.name, ""): judge_database(db, dbs, tables) for db in dbs}
    spoil = {Reason.HAS_OTHER_DB, Reason.OWNER_PATH_FAIL, Reason.DB_PATH_FAIL}
    for table in tables:
        db = next(db for db in dbs if db.name == table.db)
        reasons = judge_table(table, db, dbs, tables)
        if spoil & {reason for reason, _ in found[db.name, ""]}:
            reasons.add((Reason.DB_PATH_FAIL, 1))
        found[table.db, table.table] = reasons
    return found


def count_at_or_under(place: LakePath, others: list[LakePath | None]) -> int:
    return sum(1 for other in others if other is not None and other.is_at_or_under(place))


@st.composite
def lakes(draw: st.DrawFn) -> tuple[list[DatabaseFacts], list[TableFacts]]:
    """Return a small lake whose places are equal, nested, unreadable and under wrong owners."""
    place = st.one_of(st.none(), *[paths(3)] * 9)
    owner = st.sampled_from(OWNERS)
    dbs = [
        DatabaseFacts(f"db{n}", draw(owner), draw(place)) for n in range(draw(st.integers(1, 5)))
    ]
    tables = [
        TableFacts(
            draw(st.sampled_from(dbs)).name, f"t{n}", draw(owner), draw(place), draw(st.booleans())
        )
        for n in range(draw(st.integers(0, 12)))
    ]
    return dbs, tables


@given(lakes())
def test_the_sweep_equals_all_pairs(lake: tuple[list[DatabaseFacts], list[TableFacts]]) -> None:
    dbs, tables = lake
    findings = judge(dbs, tables, templates=TEMPLATES, today=TODAY)
    got = {
        (found.db, found.table): {(b.reason, b.n_related) for b in found.breaches}
        for found in [*findings.databases.values(), *findings.tables.values()]
    }
    assert got == oracle(dbs, tables)
    assert findings.n_views_skipped == sum(table.is_view for table in tables)


@given(lakes())
def test_other_owners_than_the_databases_never_conform(
    lake: tuple[list[DatabaseFacts], list[TableFacts]],
) -> None:
    dbs, tables = lake
    findings = judge(dbs, tables, templates=[Template.parse("/{owner}")], today=TODAY)
    owner_of = {db.name: db.owner for db in dbs}
    for table in tables:
        finding = findings.tables.get((table.db, table.table))
        if finding is not None and owner_of[table.db] != table.owner:
            assert not finding.conforms
            assert finding.hint


def test_a_tidy_lake_conforms_and_names_are_given_where_it_does_not() -> None:
    dbs = [
        DatabaseFacts("sales", "alice", path("/user/alice/sales.db")),
        DatabaseFacts("ops", "bob", path("/user/bob/ops.db")),
    ]
    tables = [
        TableFacts("sales", "orders", "alice", path("/user/alice/sales.db/orders")),
        TableFacts("sales", "nested", "alice", path("/user/alice/sales.db/orders/nested")),
        TableFacts("sales", "v", "alice", None, is_view=True),
        TableFacts("ops", "guest", "bob", path("/user/alice/sales.db/guest")),
    ]
    found = judge(dbs, tables, templates=[Template.parse("/user/{owner}")], today=TODAY)
    assert found.n_views_skipped == 1
    assert found.databases["ops"].conforms
    assert found.databases["sales"].reasons == (Reason.HAS_OTHER_DB_TBL,)
    assert found.databases["sales"].related == ("ops.guest",)
    assert found.tables["sales", "nested"].conforms
    orders = found.tables["sales", "orders"]
    assert (orders.reasons, orders.related) == ((Reason.HAS_OTHER_TBL,), ("sales.nested",))
    assert found.tables["ops", "guest"].reasons == (Reason.TBL_NOT_SUB_DB, Reason.OWNER_PATH_FAIL)


def test_two_objects_at_the_very_same_place_accuse_each_other() -> None:
    dbs = [
        DatabaseFacts("one", "alice", path("/user/alice/x")),
        DatabaseFacts("two", "alice", path("/user/alice/x")),
        DatabaseFacts("sales", "alice", path("/user/alice/sales")),
    ]
    tables = [
        TableFacts("sales", "a", "alice", path("/user/alice/sales/t")),
        TableFacts("sales", "b", "alice", path("/user/alice/sales/t/")),
        TableFacts("sales", "c", "alice", path("/user/alice/sales")),
    ]
    found = judge(dbs, tables, templates=[Template.parse("/user/{owner}")], today=TODAY)
    assert found.databases["one"].related == ("two",)
    assert found.databases["two"].related == ("one",)
    assert found.tables["sales", "a"].related == ("sales.b",)
    assert found.tables["sales", "b"].related == ("sales.a",)
    assert Reason.TBL_NOT_SUB_DB in found.tables["sales", "c"].reasons


def test_a_waiver_silences_one_reason_of_one_object_until_its_day() -> None:
    dbs = [
        DatabaseFacts("default", "public", path("/warehouse")),
        DatabaseFacts("sales", "alice", path("/warehouse/sales.db")),
    ]
    tables = [TableFacts("default", "t", "alice", path("/warehouse/t"))]
    templates = [Template.parse("/", pattern="*")]
    waiver = PathRuleException("default", "", Reason.HAS_OTHER_DB, until=TODAY)

    without = judge(dbs, tables, templates=templates, today=TODAY)
    assert without.databases["default"].reasons == (Reason.HAS_OTHER_DB,)
    assert "warehouse root" in without.databases["default"].hint
    assert without.tables["default", "t"].reasons == (Reason.DB_PATH_FAIL,)

    with_it = judge(dbs, tables, templates=templates, waivers=[waiver], today=TODAY)
    assert with_it.databases["default"].conforms
    assert [b.waived for b in with_it.databases["default"].breaches] == [True]
    assert with_it.tables["default", "t"].conforms

    after = judge(dbs, tables, templates=templates, waivers=[waiver], today=date(2026, 11, 23))
    assert not after.databases["default"].conforms


def test_a_table_of_a_database_nobody_read_does_not_conform() -> None:
    tables = [TableFacts("gone", "t", "alice", path("/user/alice/gone/t"))]
    found = judge([], tables, templates=[Template.parse("/user/{owner}")], today=TODAY)
    assert found.tables["gone", "t"].reasons == (Reason.DB_PATH_FAIL, Reason.TBL_NOT_SUB_DB)


@given(paths(), paths())
def test_a_partition_lies_strictly_below_its_table(partition: LakePath, table: LakePath) -> None:
    assert partition_conforms(partition, table) == (
        partition.segments[: table.depth] == table.segments
        and partition.depth > table.depth
        and partition.same_file_system(table)
    )


def test_fifty_thousand_tables_in_one_warehouse_are_judged_by_sorting() -> None:
    dbs = [DatabaseFacts(f"db{n}", "o", path(f"/w/db{n}")) for n in range(500)]
    dbs.append(DatabaseFacts("default", "o", path("/w")))
    tables = [
        TableFacts(f"db{n % 500}", f"t{n}", "o", path(f"/w/db{n % 500}/t{n}"))
        for n in range(50_000)
    ]
    found = judge(dbs, tables, templates=[Template.parse("/", pattern="*")], today=TODAY)
    whole = {b.reason: b for b in found.databases["default"].breaches}
    assert whole[Reason.HAS_OTHER_DB].n_related == 500
    assert whole[Reason.HAS_OTHER_DB_TBL].n_related == 50_000
    assert len(whole[Reason.HAS_OTHER_DB_TBL].related) == 20
    assert all(finding.conforms for finding in found.tables.values())
