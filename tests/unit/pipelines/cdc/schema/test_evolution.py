"""Evolution: the schema after a statement is the one that MariaDB 10.11 had after it."""

import pytest

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.ddl import read_statement
from pipelines.cdc.schema.domain.evolution import evolved
from portal.lake.errors import RuleViolation

SCHEMA = TableSchema(
    "shop",
    "t",
    3,
    100,
    (
        Column("id", "int(11)", is_nullable=False),
        Column("a", "int(11)", default="5"),
        Column("b", "varchar(10)", charset="latin1", comment="old"),
        Column("c", "datetime"),
    ),
    ("id",),
)


def after(actions: str, *, is_mariadb: bool = False) -> TableSchema:
    statement = read_statement(f"ALTER TABLE t {actions}", "shop")
    return evolved(SCHEMA, statement, version=200, is_mariadb=is_mariadb)


@pytest.mark.parametrize(
    ("actions", "names"),
    [
        ("ADD x INT", "id a b c x"),
        ("ADD x INT FIRST", "x id a b c"),
        ("ADD x INT AFTER A", "id a x b c"),
        ("ADD x INT AFTER a, ADD y INT AFTER x", "id a x y b c"),
        ("ADD x INT FIRST, CHANGE c y INT FIRST", "y x id a b"),
        ("DROP B", "id a c"),
        ("DROP a, ADD a TEXT", "id b c a"),
        ("MODIFY c DATE FIRST", "c id a b"),
        ("CHANGE a b INT, CHANGE b a INT", "id b a c"),
        ("RENAME COLUMN a TO b, RENAME COLUMN b TO a", "id b a c"),
        ("CHANGE A z INT AFTER c", "id b c z"),
        ("ADD COLUMN IF NOT EXISTS a TEXT AFTER c", "id a b c"),
        ("ADD COLUMN IF NOT EXISTS b INT AFTER c, RENAME COLUMN b TO e", "id a e c"),
        ("DROP COLUMN IF EXISTS nothing", "id a b c"),
        ("MODIFY COLUMN IF EXISTS nothing INT FIRST", "id a b c"),
        ("ADD (x INT, y INT), DROP c", "id a b x y"),
    ],
)
def test_columns_are_at_their_places(actions: str, names: str) -> None:
    assert " ".join(after(actions).names) == names


def test_a_new_schema_has_a_number_a_version_and_its_statement() -> None:
    new = after("ADD x INT")
    assert (new.number, new.version, new.ddl) == (4, 200, "ALTER TABLE t ADD x INT")


@pytest.mark.parametrize("actions", ["ADD INDEX (a)", "ENGINE=InnoDB", "COMMENT='x'", ""])
def test_what_changes_no_column_leaves_the_schema(actions: str) -> None:
    assert after(actions) is SCHEMA


def test_a_statement_about_another_table_leaves_the_schema() -> None:
    statement = read_statement("ALTER TABLE other.t DROP a", "shop")
    assert evolved(SCHEMA, statement, version=1) is SCHEMA


def test_the_key_follows_its_columns() -> None:
    assert after("RENAME COLUMN id TO no").key == ("no",)
    assert after("CHANGE ID no BIGINT").key == ("no",)
    assert after("DROP PRIMARY KEY").key == ()
    moved = after("DROP PRIMARY KEY, ADD PRIMARY KEY (A, id)")
    assert moved.key == ("a", "id")
    assert moved.columns[1].is_nullable is False


def test_attributes_change_alone() -> None:
    column = after("ALTER a DROP DEFAULT, ALTER b SET DEFAULT 'x', ALTER COLUMN c SET INVISIBLE")
    assert [one.default for one in column.columns] == [None, None, "'x'", None]
    assert column.columns[3].is_invisible


def test_a_text_keeps_its_charset_unless_another_is_said() -> None:
    assert after("MODIFY b TEXT").columns[2].charset == "latin1"
    assert after("MODIFY b TEXT CHARACTER SET utf8mb4").columns[2].charset == "utf8mb4"
    converted = after("CONVERT TO CHARACTER SET utf8mb4")
    assert [one.charset for one in converted.columns] == ["", "", "utf8mb4", ""]


def test_mariadb_has_json_as_text() -> None:
    assert after("ADD x JSON").columns[-1].type == "json"
    assert after("ADD x JSON", is_mariadb=True).columns[-1].type == "longtext"


@pytest.mark.parametrize(
    "actions", ["DROP nothing", "ADD x INT AFTER nothing", "MODIFY nothing INT", "FROBNICATE"]
)
def test_what_the_schema_cannot_follow_is_refused(actions: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        after(actions)
    assert refused.value.code == "cdc.ddl"
