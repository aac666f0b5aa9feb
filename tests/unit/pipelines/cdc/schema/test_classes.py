"""Classes of changes: each row of the matrix, and the guards around it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.classes import SchemaChange, classify, worst
from pipelines.cdc.schema.domain.ddl import read_statement
from pipelines.cdc.schema.domain.evolution import evolved
from pipelines.cdc.schema.domain.targets import Needs, target_changes
from pipelines.cdc.schema.domain.type_changes import Class, judge_type, widens_in_place
from pipelines.cdc.schema.domain.types import ColumnType, lake_type, parse_type

AUTO, PERSON, REFUSED = Class.AUTO, Class.PERSON, Class.REFUSED
SCHEMA = TableSchema(
    "shop",
    "t",
    1,
    10,
    (
        Column("id", "int(11)", is_nullable=False),
        Column("day", "date"),
        Column("a", "int(11)"),
        Column("b", "varchar(10)", charset="utf8mb4"),
        Column("g", "int(11)", is_generated=True),
        Column("n", "int(11)", is_nullable=False),
    ),
    ("id",),
)


def changes(text: str, *, with_statement: bool = True) -> tuple[SchemaChange, ...]:
    statement = read_statement(text if " TABLE" in text else f"ALTER TABLE t {text}", "shop")
    new = evolved(SCHEMA, statement, version=20)
    return classify(SCHEMA, new, statement if with_statement else None, partitioning=("day",))


TYPES = [
    # (old, new, class, what the lake needs: - nothing, w widen, c copy)
    ("tinyint(4)", "int(11)", AUTO, "-"),
    ("int(11)", "bigint(20)", AUTO, "w"),
    ("int(11)", "int(11) unsigned", PERSON, "w"),
    ("int(10) unsigned", "bigint(20) unsigned", AUTO, "w"),
    ("bigint(20)", "bigint(20) unsigned", PERSON, "w"),
    ("int(11)", "smallint(6)", REFUSED, "-"),
    ("bigint(20)", "int(11)", REFUSED, "c"),
    ("int(11)", "decimal(12,2)", PERSON, "w"),
    ("int(11)", "decimal(10,2)", REFUSED, "c"),
    ("tinyint(4)", "decimal(5,2)", PERSON, "c"),
    ("int(11)", "double", PERSON, "w"),
    ("bigint(20)", "double", PERSON, "c"),
    ("smallint(6)", "float", PERSON, "c"),
    ("int(11)", "float", REFUSED, "c"),
    ("int(11)", "varchar(20)", PERSON, "c"),
    ("float", "double", AUTO, "w"),
    ("double", "float", REFUSED, "c"),
    ("double", "decimal(30,10)", REFUSED, "c"),
    ("double", "varchar(30)", PERSON, "c"),
    ("decimal(10,2)", "decimal(12,2)", AUTO, "w"),
    ("decimal(10,2)", "decimal(12,4)", PERSON, "c"),
    ("decimal(12,4)", "decimal(12,2)", PERSON, "c"),
    ("decimal(10,2)", "decimal(10,4)", REFUSED, "c"),
    ("decimal(10,2)", "decimal(9,2)", REFUSED, "c"),
    ("decimal(38,2)", "decimal(39,2)", PERSON, "c"),
    ("decimal(39,2)", "decimal(40,2)", AUTO, "-"),
    ("decimal(10,2)", "double", REFUSED, "c"),
    ("decimal(10,0)", "bigint(20)", REFUSED, "c"),
    ("bit(1)", "bit(8)", PERSON, "c"),
    ("bit(8)", "bit(16)", AUTO, "-"),
    ("bit(8)", "bit(4)", REFUSED, "-"),
    ("year(4)", "int(11)", PERSON, "-"),
    ("int(11)", "year(4)", REFUSED, "-"),
    ("varchar(10)", "varchar(20)", AUTO, "-"),
    ("varchar(10)", "longtext", AUTO, "-"),
    ("text", "varchar(10)", PERSON, "-"),
    ("varchar(10)", "int(11)", REFUSED, "c"),
    ("varchar(10)", "date", REFUSED, "c"),
    ("varchar(10)", "varbinary(10)", REFUSED, "c"),
    ("blob", "text", REFUSED, "c"),
    ("json", "longtext", PERSON, "-"),
    ("text", "json", PERSON, "-"),
    ("enum('a','b')", "enum('a','b','c')", AUTO, "-"),
    ("enum('a','b')", "enum('b','a')", PERSON, "-"),
    ("enum('a','b')", "enum('a')", PERSON, "-"),
    ("set('a')", "set('a','b')", AUTO, "-"),
    ("enum('a','b')", "varchar(5)", PERSON, "-"),
    ("enum('a','b')", "set('a','b')", PERSON, "-"),
    ("date", "datetime", PERSON, "c"),
    ("date", "varchar(10)", PERSON, "c"),
    ("date", "int(11)", REFUSED, "c"),
    ("datetime", "date", REFUSED, "c"),
    ("datetime", "timestamp", PERSON, "-"),
    ("timestamp", "datetime", PERSON, "-"),
    ("datetime", "datetime(6)", AUTO, "-"),
    ("datetime(6)", "datetime", PERSON, "-"),
    ("time", "time(3)", AUTO, "-"),
    ("time", "datetime", REFUSED, "c"),
    ("varbinary(8)", "blob", AUTO, "-"),
    ("blob", "varbinary(8)", PERSON, "-"),
    ("binary(4)", "binary(8)", PERSON, "-"),
    ("point", "geometry", AUTO, "-"),
    ("geometry", "point", PERSON, "-"),
    ("uuid", "char(36)", PERSON, "-"),
]


@pytest.mark.parametrize(("old", "new", "cls", "needs"), TYPES)
def test_a_change_of_type_has_its_class_and_what_the_lake_needs(
    old: str, new: str, cls: Class, needs: str
) -> None:
    before = TableSchema("d", "t", 1, 1, (Column("id", "int"), Column("x", old)), ("id",))
    after = TableSchema("d", "t", 2, 2, (Column("id", "int"), Column("x", new)), ("id",))
    (change,) = classify(before, after)
    assert (change.what, change.cls) == ("type", cls)
    assert change.reason.endswith(".")
    found = target_changes([change])
    assert "".join(one.needs.value[0] for one in found) == needs.replace("-", "")


ALTERS = [
    (AUTO, "ADD x INT"),
    (AUTO, "ADD x INT NOT NULL DEFAULT 0 AFTER id"),
    (AUTO, "ADD x VARCHAR(5) NOT NULL DEFAULT 'a'"),
    (AUTO, "ADD x BIT(3) NOT NULL DEFAULT b'1'"),
    (PERSON, "ADD x INT NOT NULL"),
    (PERSON, "ADD x INT AS (a + 1) STORED"),
    (PERSON, "ADD x DATETIME DEFAULT NOW()"),
    (PERSON, "ADD x CHAR(36) DEFAULT (uuid())"),
    (PERSON, "DROP a"),
    (PERSON, "RENAME COLUMN a TO x"),
    (PERSON, "CHANGE a x INT(11)"),
    (PERSON, "CHANGE a x BIGINT"),
    (AUTO, "MODIFY a BIGINT"),
    (AUTO, "MODIFY a INT(11) COMMENT 'x'"),
    (AUTO, "MODIFY a INT(11) DEFAULT 7 FIRST"),
    (AUTO, "MODIFY a INT"),
    (AUTO, "MODIFY n INT(11)"),
    (PERSON, "MODIFY a INT(11) NOT NULL"),
    (AUTO, "MODIFY a INT(11) INVISIBLE"),
    (PERSON, "MODIFY a INT(11) AS (n) STORED"),
    (AUTO, "MODIFY g INT(11)"),
    (PERSON, "MODIFY g INT(11) AS (n + 2) VIRTUAL"),
    (PERSON, "MODIFY b VARCHAR(10) CHARACTER SET latin1"),
    (PERSON, "CONVERT TO CHARACTER SET latin1"),
    (AUTO, "ADD INDEX (a), ENGINE=InnoDB, COMMENT='x'"),
    (AUTO, "REMOVE PARTITIONING"),
    (PERSON, "DROP PARTITION p0"),
    (PERSON, "DROP a, ADD a INT(11)"),
    (PERSON, "MODIFY id BIGINT NOT NULL"),
    (AUTO, "MODIFY id INT(11) NOT NULL COMMENT 'x'"),
    (PERSON, "MODIFY day DATE DEFAULT '2024-01-01'"),
    (PERSON, "CHANGE id no INT(11) NOT NULL"),
    (REFUSED, "DROP PRIMARY KEY"),
    (REFUSED, "DROP PRIMARY KEY, ADD PRIMARY KEY (id, n)"),
    (REFUSED, "DROP id"),
    (REFUSED, "MODIFY a SMALLINT"),
    (REFUSED, "RENAME TO u"),
    (REFUSED, "RENAME TABLE t TO u"),
    (REFUSED, "RENAME TABLE t TO _t_del, _t_gho TO t"),
    (REFUSED, "TRUNCATE TABLE t"),
    (REFUSED, "DROP TABLE t"),
    (REFUSED, "CREATE TABLE t (id INT PRIMARY KEY)"),
    (PERSON, "ALTER IGNORE TABLE t ADD UNIQUE (a)"),
]


@pytest.mark.parametrize(("cls", "text"), ALTERS)
def test_a_statement_has_its_class(cls: Class, text: str) -> None:
    found = changes(text)
    assert worst(found) is cls
    assert all(one.reason.endswith(".") or one.what in {"rows", "unread"} for one in found)


def test_each_change_is_told_by_itself_and_the_worst_counts() -> None:
    found = changes("ADD x TEXT, MODIFY a BIGINT, DROP n")
    assert [(one.what, one.column, one.cls) for one in found] == [
        ("drop", "n", PERSON),
        ("add", "x", AUTO),
        ("type", "a", AUTO),
    ]
    assert worst(found) is PERSON
    assert worst([]) is AUTO


def test_what_went_and_came_at_the_same_place_is_asked_about() -> None:
    (change,) = changes("RENAME COLUMN a TO x", with_statement=False)
    assert (change.what, change.cls, change.column) == ("rename", PERSON, "x")
    assert "whether it was renamed" in change.reason
    (told,) = changes("RENAME COLUMN a TO x")
    assert "was renamed to x" in told.reason


def test_what_came_with_another_type_or_elsewhere_is_no_renaming() -> None:
    for text in ("DROP a, ADD x TEXT AFTER day", "DROP a, ADD x INT(11)"):
        found = changes(text, with_statement=False)
        assert [one.what for one in found] == ["drop", "add"]


def test_swapped_names_are_renamings() -> None:
    found = changes("CHANGE a n INT(11) NOT NULL, CHANGE n a INT(11)")
    assert [
        (one.what, one.old.name if one.old else "") for one in found if one.what == "rename"
    ] == [
        ("rename", "a"),
        ("rename", "n"),
    ]


def test_a_statement_that_cannot_be_read_is_for_a_person() -> None:
    statement = read_statement("ALTER TABLE t FROBNICATE", "shop")
    (change,) = classify(SCHEMA, SCHEMA, statement)
    assert (change.what, change.cls) == ("unread", PERSON)
    everywhere = read_statement("FROBNICATE", "shop")
    assert worst(classify(SCHEMA, SCHEMA, everywhere)) is PERSON


def test_a_dropped_database_and_rows_by_statements_are_refused() -> None:
    for text in ("DROP DATABASE shop", "UPDATE t SET a = 1"):
        assert worst(classify(SCHEMA, SCHEMA, read_statement(text, "shop"))) is REFUSED
    assert classify(SCHEMA, SCHEMA, read_statement("DROP DATABASE other", "shop")) == ()
    assert classify(SCHEMA, SCHEMA, read_statement("DROP TABLE other.t", "shop")) == ()


def test_targets_of_whole_changes() -> None:
    def needs(text: str) -> list[tuple[str, str, str, str]]:
        found = target_changes(changes(text), fixed=("id", "day"))
        return [(one.needs.value, one.column, one.type, one.source) for one in found]

    assert needs("ADD x DECIMAL(9,2), MODIFY a BIGINT") == [
        ("add", "x", "decimal(9,2)", ""),
        ("widen", "a", "bigint", ""),
    ]
    assert needs("DROP a") == []
    assert needs("MODIFY b VARCHAR(99)") == []
    assert needs("CHANGE a x INT(11)") == [("copy", "x", "int", "a")]
    assert needs("MODIFY id BIGINT NOT NULL")[0][0] == "rebuild"
    assert needs("MODIFY id MEDIUMINT NOT NULL") == []
    assert needs("DROP PRIMARY KEY, ADD x INT")[0][0] == "rebuild"
    assert needs("RENAME TO u")[0][0] == "rebuild"
    in_place = {one.needs: one.is_in_place for one in target_changes(changes("ADD x INT, DROP a"))}
    assert in_place == {Needs.ADD: True}


types = st.sampled_from(sorted({one for row in TYPES for one in row[:2]})).map(parse_type)


@given(types, types)
def test_a_change_that_nobody_decides_never_needs_a_copy(old: ColumnType, new: ColumnType) -> None:
    if judge_type(old, new).cls is AUTO:
        assert widens_in_place(lake_type(old), lake_type(new))


@given(types)
def test_the_same_type_is_no_change(column: ColumnType) -> None:
    assert judge_type(column, column).cls is AUTO


@given(st.permutations(SCHEMA.columns))
def test_another_order_is_harmless(columns: list[Column]) -> None:
    new = TableSchema("shop", "t", 2, 20, tuple(columns), ("id",))
    found = classify(SCHEMA, new)
    assert {one.what for one in found} <= {"order"}
    assert worst(found) is AUTO


def test_classes_are_ordered() -> None:
    assert all(one.rank < other.rank for one, other in pairwise([AUTO, PERSON, REFUSED]))
