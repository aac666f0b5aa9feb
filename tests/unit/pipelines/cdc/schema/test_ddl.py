"""DDL: statements as servers, migrations and online schema tools write them, none of them lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.changes.domain.schemas import Column
from pipelines.cdc.schema.domain.ddl import read_statement
from pipelines.cdc.schema.domain.statements import Does, Step

DB = "shop"


def does(text: str) -> list[str]:
    return [str(step.does) for step in read_statement(text, DB).steps]


def step(text: str) -> Step:
    (only,) = read_statement(text, DB).steps
    return only


# One line a statement: what it does, in order, and the statement.
DOES = [
    # The forms of the manuals of MySQL and MariaDB.
    ("add column", "ALTER TABLE t1 ADD COLUMN c2 INT"),
    ("add column", "ALTER TABLE t1 ADD c2 INT FIRST"),
    ("add column", "alter table t1 add column c2 int after `c``1`"),
    ("add column, add column", "ALTER TABLE t1 ADD COLUMN (c2 INT, c3 VARCHAR(10) DEFAULT 'a,b')"),
    ("add column, index", "ALTER TABLE t1 ADD (c2 INT, INDEX (c2))"),
    ("add column, primary key", "ALTER TABLE t1 ADD id INT NOT NULL AUTO_INCREMENT PRIMARY KEY"),
    ("add column", "ALTER TABLE t1 ADD COLUMN IF NOT EXISTS c2 INT"),
    ("add column", "ALTER ONLINE TABLE t1 ADD COLUMN c2 INT"),
    ("add column", "ALTER TABLE IF EXISTS t1 WAIT 10 ADD COLUMN c2 INT"),
    ("add column", "ALTER TABLE t1 NOWAIT ADD COLUMN c2 INT"),
    (
        "add column",
        "SET STATEMENT max_statement_time=1, lock_wait_timeout=5 FOR ALTER TABLE t ADD c INT",
    ),
    ("add column", "ALTER TABLE t ADD c INT GENERATED ALWAYS AS (a * (b + 1)) STORED COMMENT 'x'"),
    ("add column", "ALTER TABLE t ADD c VARCHAR(5) AS (CONCAT(a, ',')) PERSISTENT"),
    ("add column", "ALTER TABLE t ADD c INT NOT NULL INVISIBLE DEFAULT 3"),
    ("add column", "ALTER TABLE t ADD c JSON CHECK (JSON_VALID(c))"),
    ("add column", "ALTER TABLE t ADD c INT CONSTRAINT positive CHECK (c > 0) NOT ENFORCED"),
    (
        "add column",
        "ALTER TABLE t ADD c INT REFERENCES other (id) ON DELETE SET NULL ON UPDATE CASCADE",
    ),
    ("add column", "ALTER TABLE t ADD c POINT NOT NULL SRID 4326"),
    ("add column", "ALTER TABLE t ADD c UUID DEFAULT uuid()"),
    (
        "add column",
        "ALTER TABLE t ADD c DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE"
        " CURRENT_TIMESTAMP(6)",
    ),
    ("add column", "ALTER TABLE t ADD c DOUBLE PRECISION UNSIGNED ZEROFILL DEFAULT -1.5e3"),
    ("add column", "ALTER TABLE t ADD c NATIONAL VARCHAR(5) COLLATE utf8mb3_bin"),
    (
        "add column",
        "ALTER TABLE t ADD c VARCHAR(5) CHARACTER SET = latin1 COLUMN_FORMAT DYNAMIC STORAGE DISK",
    ),
    (
        "add column",
        "ALTER TABLE t ADD c BIT(8) DEFAULT b'101' COMMENT 'ALTER TABLE x DROP COLUMN y; --'",
    ),
    ("add column", "ALTER TABLE t ADD c VARCHAR(5) DEFAULT _utf8mb4'x'"),
    ("add column", "ALTER TABLE t ADD c VARCHAR(5) DEFAULT (CONCAT('a', 'b'))"),
    ("add column", "ALTER TABLE t ADD period INT"),
    ("drop column", "ALTER TABLE t1 DROP c2"),
    ("drop column", "ALTER TABLE t1 DROP COLUMN IF EXISTS c2 CASCADE"),
    ("drop column, drop column", "ALTER TABLE t1 DROP COLUMN a, DROP COLUMN b"),
    ("modify column", "ALTER TABLE t1 MODIFY b BIGINT NOT NULL"),
    (
        "modify column",
        "ALTER TABLE t1 MODIFY COLUMN b ENUM('a','b''c',',') CHARACTER SET utf8mb4 FIRST",
    ),
    ("modify column", "ALTER TABLE t1 CHANGE a b INTEGER"),
    ("modify column, modify column", "ALTER TABLE t CHANGE a b INT, CHANGE b a INT"),
    ("rename column", "ALTER TABLE t1 RENAME COLUMN a TO b"),
    ("rename column, rename column", "ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN b TO a"),
    ("set default", "ALTER TABLE t1 ALTER COLUMN a SET DEFAULT 1000"),
    ("set default", "ALTER TABLE t1 ALTER a DROP DEFAULT"),
    ("set default", "ALTER TABLE t1 ALTER a SET DEFAULT (NOW())"),
    ("set visible", "ALTER TABLE t1 ALTER COLUMN a SET INVISIBLE"),
    ("primary key, primary key", "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (a, b(10) DESC)"),
    ("primary key", "ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY USING BTREE (a) COMMENT 'x'"),
    ("primary key", "ALTER TABLE t ADD CONSTRAINT PRIMARY KEY (a)"),
    ("primary key", "ALTER TABLE t DROP INDEX `PRIMARY`"),
    ("primary key", "ALTER TABLE t DROP CONSTRAINT `PRIMARY`"),
    ("primary key", "DROP INDEX `PRIMARY` ON t"),
    ("index", "ALTER TABLE t1 ADD INDEX (d)"),
    ("index, index", "ALTER TABLE t1 ADD INDEX (d), ADD UNIQUE KEY u (a, b)"),
    ("index", "ALTER TABLE t ADD FULLTEXT INDEX f (a) WITH PARSER ngram"),
    ("index", "ALTER TABLE t ADD SPATIAL KEY (g)"),
    (
        "index",
        "ALTER TABLE t ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES o (id) ON DELETE CASCADE",
    ),
    ("index", "ALTER TABLE t ADD CONSTRAINT u UNIQUE (a)"),
    ("index", "ALTER TABLE t ADD CONSTRAINT CHECK (a > 0)"),
    ("index, index, index", "ALTER TABLE t DROP INDEX i, DROP FOREIGN KEY f, DROP KEY IF EXISTS k"),
    ("index", "ALTER TABLE t RENAME INDEX a TO b"),
    ("index", "ALTER TABLE t ALTER INDEX i INVISIBLE"),
    ("option", "ALTER TABLE t1 ENGINE = InnoDB"),
    ("option", "ALTER TABLE t1 ENGINE=InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8"),
    ("option, option", "ALTER TABLE t1 AUTO_INCREMENT = 5, COMMENT = 'a, b'"),
    ("option", "ALTER TABLE t DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
    ("option", "ALTER TABLE t COLLATE = utf8mb4_bin"),
    ("option", "ALTER TABLE t ORDER BY a DESC"),
    ("option", "ALTER TABLE t DISABLE KEYS"),
    ("option", "ALTER TABLE t FORCE"),
    ("option", "/*!40000 ALTER TABLE `t` ENABLE KEYS */"),
    ("charset", "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"),
    ("partitioning", "ALTER TABLE t PARTITION BY HASH(id) PARTITIONS 8"),
    ("partitioning", "ALTER TABLE t ADD PARTITION (PARTITION p3 VALUES LESS THAN (2002))"),
    (
        "partitioning",
        "ALTER TABLE t REORGANIZE PARTITION p0 INTO (PARTITION n0 VALUES LESS THAN (5))",
    ),
    ("partitioning", "ALTER TABLE t REMOVE PARTITIONING"),
    ("partitioning", "ALTER TABLE t ENGINE=InnoDB PARTITION BY KEY(id)"),
    ("remove rows", "ALTER TABLE t DROP PARTITION p0, p1"),
    ("remove rows", "ALTER TABLE t TRUNCATE PARTITION p0"),
    ("remove rows", "ALTER TABLE t EXCHANGE PARTITION p WITH TABLE t2"),
    ("remove rows", "ALTER TABLE t IMPORT TABLESPACE"),
    ("remove rows, index", "ALTER IGNORE TABLE t ADD UNIQUE (a)"),
    ("rename table", "ALTER TABLE t1 RENAME t2"),
    ("rename table", "ALTER TABLE t1 RENAME TO archive.t2"),
    ("add column, rename table", "ALTER TABLE t1 ADD a INT, RENAME AS t2"),
    ("rename table, rename table", "RENAME TABLE old TO backup, new TO old"),
    ("rename table", "RENAME TABLES IF EXISTS a WAIT 5 TO b"),
    ("truncate", "TRUNCATE TABLE orders"),
    ("truncate", "TRUNCATE archive.orders;"),
    ("drop table", "DROP TABLE IF EXISTS `orders` /* generated by server */"),
    ("drop table, drop table", "DROP TABLE a, `b`.c RESTRICT"),
    ("create table", "CREATE TABLE a LIKE b"),
    ("create table", "CREATE TABLE IF NOT EXISTS a (LIKE b)"),
    ("create table", "CREATE TABLE a SELECT * FROM b"),
    ("create table", "CREATE TABLE a (id INT PRIMARY KEY) ENGINE=InnoDB AS SELECT 1 AS id"),
    ("drop table, create table", "CREATE OR REPLACE TABLE a (id INT PRIMARY KEY)"),
    ("create database", "CREATE DATABASE IF NOT EXISTS x CHARACTER SET utf8mb4"),
    ("drop database", "DROP SCHEMA IF EXISTS `x`"),
    # Rails.
    ("add column", "ALTER TABLE `users` ADD `email` varchar(255) DEFAULT '' NOT NULL"),
    ("modify column", "ALTER TABLE `users` CHANGE `age` `age` bigint DEFAULT NULL"),
    (
        "modify column",
        "ALTER TABLE `users` CHANGE `name` `full_name` varchar(255) CHARACTER SET"
        " utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL",
    ),
    (
        "index",
        "ALTER TABLE `posts` ADD CONSTRAINT `fk_rails_5b5ddfd518` FOREIGN KEY"
        " (`user_id`) REFERENCES `users` (`id`)",
    ),
    ("", "CREATE UNIQUE INDEX `index_users_on_email` ON `users` (`email`)"),
    ("", "DROP INDEX `index_users_on_email` ON `users`"),
    ("rename table", "RENAME TABLE `users` TO `people`"),
    # Django.
    (
        "add column",
        "ALTER TABLE `app_book` ADD COLUMN `pages` integer UNSIGNED DEFAULT 0 NOT NULL"
        " CHECK (`pages` >= 0)",
    ),
    ("set default", "ALTER TABLE `app_book` ALTER COLUMN `pages` DROP DEFAULT"),
    (
        "add column, index",
        "ALTER TABLE `app_book` ADD COLUMN `author_id` bigint NULL , ADD CONSTRAINT"
        " `app_book_author_id_fk` FOREIGN KEY (`author_id`) REFERENCES `app_author`(`id`)",
    ),
    ("modify column", "ALTER TABLE `app_book` MODIFY `title` varchar(300) NOT NULL"),
    ("modify column", "ALTER TABLE `app_book` CHANGE `title` `name` varchar(200) NOT NULL"),
    ("index", "ALTER TABLE `app_book` ADD CONSTRAINT `app_book_x_uniq` UNIQUE (`name`, `pages`)"),
    # gh-ost and pt-online-schema-change.
    ("create table", "create /* gh-ost */ table `shop`.`_orders_gho` like `shop`.`orders`"),
    ("add column", "alter /* gh-ost */ table `shop`.`_orders_gho` add column note varchar(20)"),
    (
        "rename table, rename table",
        "rename /* gh-ost */ table `shop`.`orders` to `shop`.`_orders_del`,"
        " `shop`.`_orders_gho` to `shop`.`orders`",
    ),
    ("drop table", "drop /* gh-ost */ table if exists `shop`.`_orders_ghc`"),
    (
        "create table",
        "CREATE TABLE `shop`.`_orders_new` (\n  `id` int(11) NOT NULL AUTO_INCREMENT,\n "
        " `note` text,\n  PRIMARY KEY (`id`),\n  KEY `k` (`note`(10))\n) ENGINE=InnoDB"
        " DEFAULT CHARSET=latin1",
    ),
    (
        "add column, option, option",
        "ALTER TABLE `shop`.`_orders_new` ADD COLUMN c INT, ALGORITHM=COPY, LOCK=SHARED",
    ),
    (
        "rename table, rename table",
        "RENAME TABLE `shop`.`orders` TO `shop`.`_orders_old`, `shop`.`_orders_new` TO"
        " `shop`.`orders`",
    ),
    ("drop table", "DROP TABLE IF EXISTS `shop`.`_orders_old`"),
    ("", "DROP TRIGGER IF EXISTS `shop`.`pt_osc_shop_orders_del`"),
    # Comments.
    (
        "add column",
        "/* DROP TABLE t */ ALTER TABLE t -- DROP COLUMN x\n ADD c INT # , DROP COLUMN y",
    ),
    ("add column", "ALTER TABLE t /*!50100 ADD COLUMN z INT */"),
    ("add column, drop column", "ALTER TABLE t ADD z INT /*M!100100 , DROP COLUMN y */"),
    ("add column", "ALTER TABLE t ADD `a /* b` INT COMMENT 'it''s -- /* no */ comment'"),
    # Rows by a statement: the log is not in row format.
    ("rows", "INSERT INTO t VALUES (1)"),
    ("rows", "UPDATE t SET a = 1"),
    ("rows", "DELETE FROM `shop`.`memory_table`"),
]


@pytest.mark.parametrize(("expected", "text"), DOES, ids=[text[:60] for _, text in DOES])
def test_a_statement_is_read(expected: str, text: str) -> None:
    assert ", ".join(does(text)) == expected
    assert ", ".join(does(text + " ;")) == expected


NOTHING = [
    "",
    "BEGIN",
    "COMMIT",
    "ROLLBACK TO `x`",
    "SAVEPOINT `s1`",
    "RELEASE SAVEPOINT s",
    "XA START X'31',X'',1",
    "GRANT ALL ON *.* TO r@'%'",
    "REVOKE ALL ON *.* FROM r",
    "CREATE USER r IDENTIFIED BY 'DROP TABLE t'",
    "RENAME USER a TO b",
    "SET PASSWORD FOR r = 'x'",
    "FLUSH TABLES",
    "ANALYZE TABLE t",
    "ANALYZE TABLE t PERSISTENT FOR ALL",
    "OPTIMIZE TABLE t",
    "REPAIR TABLE t",
    "CREATE VIEW v AS SELECT 1",
    "CREATE OR REPLACE ALGORITHM=UNDEFINED DEFINER=`root`@`%` SQL SECURITY DEFINER"
    " VIEW v AS SELECT 1",
    "CREATE DEFINER=`r`@`%` TRIGGER g AFTER INSERT ON t FOR EACH ROW DELETE FROM u",
    "CREATE DEFINER=`r`@`%` PROCEDURE p() BEGIN DROP TABLE t; TRUNCATE u; END",
    "CREATE FUNCTION f() RETURNS INT RETURN 1",
    "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO TRUNCATE TABLE t",
    "CREATE INDEX i ON t (a)",
    "CREATE FULLTEXT INDEX i ON t (a)",
    "DROP INDEX i ON t",
    "DROP VIEW v",
    "DROP PROCEDURE p",
    "CREATE TEMPORARY TABLE t (id INT)",
    "CREATE OR REPLACE TEMPORARY TABLE t (id INT)",
    "DROP TEMPORARY TABLE IF EXISTS t",
    "DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `t`",
    "ALTER DATABASE x CHARACTER SET utf8mb4",
    "ALTER USER r ACCOUNT LOCK",
    "ALTER VIEW v AS SELECT 1",
    "ALTER EVENT e DISABLE",
    "CREATE SEQUENCE s START WITH 1",
    "-- nothing",
    "/* DROP TABLE t */",
    "# TRUNCATE t",
]


@pytest.mark.parametrize("text", NOTHING)
def test_what_does_nothing_to_tables_has_no_steps(text: str) -> None:
    assert not read_statement(text, DB).is_relevant


UNREAD = [
    ("", "FROBNICATE TABLE t"),
    ("", "ALTER TABLE t ADD c INT COMMENT 'no end"),
    ("", "ALTER TABLE t ADD c INT; DROP TABLE t"),
    ("", "BEGIN; DROP TABLE t"),
    ("", "CREATE TABLE event (a INT); DROP TABLE t"),
    ("", "CREATE INDEX i ON t (a); DROP TABLE t"),
    ("", "ALTER TABLE"),
    ("", "CREATE TABLE a (id INT"),
    ("", "CREATE SOMETHING x"),
    ("", "DROP SOMETHING x"),
    ("t", "ALTER TABLE t FROBNICATE c"),
    ("t", "ALTER TABLE t ADD c MONEY"),
    ("t", "ALTER TABLE t ADD c INT FROBNICATED"),
    ("t", "ALTER TABLE t ADD SYSTEM VERSIONING"),
    ("t", "ALTER TABLE t ADD PERIOD FOR SYSTEM_TIME (a, b)"),
    ("t", "ALTER TABLE t ADD c VARCHAR(10) /*M!100301 COMPRESSED*/"),
    ("t", "ALTER TABLE t ADD COLUMN x INT PARTITION BY HASH(id)"),
    ("t", "ALTER TABLE t MODIFY"),
]


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
