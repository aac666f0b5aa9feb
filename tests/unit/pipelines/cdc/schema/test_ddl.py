"""DDL: statements as servers, migrations and online schema tools write them, none of them lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.changes.domain.schemas import Column
from pipelines.cdc.schema.domain.ddl import read_statement
from pipelines.cdc.schema.domain.statements import Does, Step
from tests.unit.pipelines.cdc.schema.ddl_statements import DOES, NOTHING, UNREAD

DB = "shop"


def does(text: str) -> list[str]:
    return [str(step.does) for step in read_statement(text, DB).steps]


def step(text: str) -> Step:
    (only,) = read_statement(text, DB).steps
    return only


@pytest.mark.parametrize(("expected", "text"), DOES, ids=[text[:60] for _, text in DOES])
def test_a_statement_is_read(expected: str, text: str) -> None:
    assert ", ".join(does(text)) == expected
    assert ", ".join(does(text + " ;")) == expected


@pytest.mark.parametrize("text", NOTHING)
def test_what_does_nothing_to_tables_has_no_steps(text: str) -> None:
    assert not read_statement(text, DB).is_relevant


@pytest.mark.parametrize(("table", "text"), UNREAD)
def test_what_cannot_be_read_is_kept_with_its_text(table: str, text: str) -> None:
    (unread,) = read_statement(text, DB).steps
    assert (unread.does, unread.table) == (Does.UNREAD, table)
    assert text.split("TABLE t ", 1)[-1][:20] in unread.text or table


def test_one_action_that_cannot_be_read_does_not_hide_the_others() -> None:
    text = "ALTER TABLE t DROP COLUMN a, FROBNICATE b, ADD c INT"
    assert does(text) == ["drop column", "unread", "add column"]


def test_a_definition_is_read_with_all_that_a_schema_has() -> None:
    read = step(
        "ALTER TABLE s.t CHANGE `Old` `new` DECIMAL( 10 , 2 ) UNSIGNED NOT NULL DEFAULT '0.00'"
        " INVISIBLE COMMENT 'it''s' AFTER x"
    )
    assert (read.db, read.table, read.column, read.place) == ("s", "t", "Old", "x")
    assert read.definition == Column(
        name="new",
        type="decimal(10,2) unsigned",
        is_nullable=False,
        is_invisible=True,
        default="'0.00'",
        comment="it's",
    )


def test_defaults_are_kept_as_they_are_written() -> None:
    def default(text: str) -> str | None:
        definition = step(f"ALTER TABLE t ADD c VARCHAR(9) DEFAULT {text} COMMENT 'x'").definition
        assert definition is not None
        assert definition.comment == "x"
        return definition.default

    assert default("'a\\'b'") == "'a\\'b'"
    assert default("-5") == "-5"
    assert default("NULL") is None
    assert default("TRUE") == "true"
    assert default("CURRENT_TIMESTAMP") == "current_timestamp"
    assert default("NOW(6)") == "now(6)"
    assert default("(uuid())") == "(uuid())"


def test_a_created_table_has_its_columns_and_its_key() -> None:
    read = step(
        "CREATE TABLE t (a INT, b ENUM('x','y),') NOT NULL, c INT AS (a + 1) VIRTUAL, KEY k (b),"
        " CONSTRAINT f FOREIGN KEY (a) REFERENCES o (id), PRIMARY KEY (b, a)) ENGINE=InnoDB"
    )
    assert [(one.name, one.type, one.is_nullable) for one in read.columns] == [
        ("a", "int", False),
        ("b", "enum('x','y),')", False),
        ("c", "int", True),
    ]
    assert read.key == ("b", "a")
    like = step("CREATE TABLE a LIKE other.b")
    assert (like.new_db, like.new_name, like.columns) == ("other", "b", ())


def test_a_created_table_that_cannot_be_read_is_still_created() -> None:
    read = step("CREATE TABLE t (a MONEY)")
    assert (read.does, read.columns) == (Does.CREATE_TABLE, ())
    assert "MONEY" in read.text


def test_names_are_of_the_default_database_where_they_say_none() -> None:
    read = read_statement("RENAME TABLE a TO b, x.c TO `y`.`d.e`", DB)
    assert read.tables == (("shop", "a"), ("shop", "b"), ("x", "c"), ("y", "d.e"))


def test_a_swap_says_which_table_has_the_name_now() -> None:
    swap = read_statement("RENAME TABLE a TO b, c TO a", DB)
    assert swap.renames == {("shop", "b"): ("shop", "a"), ("shop", "a"): ("shop", "c")}
    there_and_back = read_statement("RENAME TABLE a TO tmp, b TO a, tmp TO b", DB)
    assert there_and_back.renames == {("shop", "a"): ("shop", "b"), ("shop", "b"): ("shop", "a")}
    assert read_statement("RENAME TABLE a TO b, b TO a", DB).renames == {}


def test_names_in_double_quotes_are_names_under_ansi_quotes() -> None:
    assert step('ALTER TABLE "t" DROP COLUMN "a"').column == "a"


words = st.sampled_from(
    [
        *(
            "ALTER",
            "TABLE",
            "t",
            "ADD",
            "DROP",
            "COLUMN",
            "MODIFY",
            "CHANGE",
            "RENAME",
            "TO",
            "int",
        ),
        *(
            "(",
            ")",
            ",",
            ";",
            "'a'",
            "`b`",
            "PRIMARY",
            "KEY",
            "CREATE",
            "LIKE",
            "=",
            "5",
            "DEFAULT",
        ),
        *("/*", "*/", "/*!", "--", "'", '"', "`", ".", "PARTITION", "BY", "AFTER", "FIRST", "\n"),
    ]
)


@given(st.lists(words, max_size=12).map(" ".join) | st.text(max_size=40))
def test_any_text_is_read_without_an_error_and_kept(text: str) -> None:
    assert read_statement(text, DB).text == text


@given(st.lists(words, max_size=6).map(" ".join))
def test_whatever_is_altered_is_of_the_table_or_unread(text: str) -> None:
    statement = read_statement(f"ALTER TABLE a.b {text}", DB)
    for one in statement.steps:
        assert (one.db, one.table) == ("a", "b") or one.does is Does.UNREAD


names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=10)


@given(names, names, names)
def test_any_name_in_backticks_is_read_as_it_is(db: str, table: str, column: str) -> None:
    def quoted(name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    read = step(f"ALTER TABLE {quoted(db)}.{quoted(table)} DROP COLUMN {quoted(column)}")
    assert (read.does, read.db, read.table, read.column) == (Does.DROP_COLUMN, db, table, column)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20))
def test_any_comment_of_a_column_hides_nothing(comment: str) -> None:
    text = "'" + comment.replace("\\", "\\\\").replace("'", "''") + "'"
    read = read_statement(f"ALTER TABLE t ADD a INT COMMENT {text}, DROP COLUMN b", DB)
    assert [one.does for one in read.steps] == [Does.ADD_COLUMN, Does.DROP_COLUMN]
    assert read.steps[0].definition is not None
    assert read.steps[0].definition.comment == comment
