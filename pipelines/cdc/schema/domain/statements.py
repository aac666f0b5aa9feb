"""What a statement does to tables: the description that DDL is read into."""

from enum import StrEnum

import msgspec

from pipelines.cdc.changes.domain.schemas import Column


class Does(StrEnum):
    """What one step of a statement does."""

    ADD_COLUMN = "add column"
    DROP_COLUMN = "drop column"
    MODIFY_COLUMN = "modify column"
    RENAME_COLUMN = "rename column"
    SET_DEFAULT = "set default"
    SET_VISIBLE = "set visible"
    PRIMARY_KEY = "primary key"
    INDEX = "index"
    OPTION = "option"
    CHARSET = "charset"
    PARTITIONING = "partitioning"
    REMOVE_ROWS = "remove rows"
    """Rows go, or others come, without a row of them in the log: a partition is dropped."""
    TRUNCATE = "truncate"
    DROP_TABLE = "drop table"
    CREATE_TABLE = "create table"
    RENAME_TABLE = "rename table"
    CREATE_DATABASE = "create database"
    DROP_DATABASE = "drop database"
    ROWS = "rows"
    """Rows change by the statement itself: the log is not in row format."""
    UNREAD = "unread"
    """What is meant is not known; a person reads it."""


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that a statement does to a table, or to a database (`table` is empty then)."""

    does: Does
    db: str = ""
    table: str = ""
    column: str = ""
    """By the name that it had before the statement."""
    new_db: str = ""
    new_name: str = ""
    """Of a renamed column or table; of CREATE TABLE .. LIKE, the table it is like."""
    definition: Column | None = None
    """Of an added or modified column, under the name that it has after."""
    place: str | None = None
    """The column after which it is put, empty for the first; None where nothing is said."""
    columns: tuple[Column, ...] = ()
    """Of a created table; empty where they are not in the statement."""
    key: tuple[str, ...] = ()
    """The primary key that is set; empty where it is dropped, or not said."""
    value: str | None = None
    """Of a default, its text; of a charset, its name; of visibility, `1` or `0`."""
    is_optional: bool = False
    """Whether it is left out where the column is not there, or is: IF EXISTS, IF NOT EXISTS."""
    text: str = ""
    """What could not be read, and why."""


class Statement(msgspec.Struct, frozen=True, omit_defaults=True):
    """A statement of the binary log. Without steps it is of no matter to captured tables."""

    text: str
    steps: tuple[Step, ...] = ()

    @property
    def is_relevant(self) -> bool:
        """Whether it does anything to tables, or might."""
        return bool(self.steps)

    @property
    def tables(self) -> tuple[tuple[str, str], ...]:
        """Database and name of each table that it touches, before and after it, each once."""
        touched: dict[tuple[str, str], None] = {}
        for step in self.steps:
            if step.table:
                touched[step.db, step.table] = None
            if step.does is Does.RENAME_TABLE:
                touched[step.new_db, step.new_name] = None
        return tuple(touched)

    @property
    def renames(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Of each name that a table has after the statement, the name that the table had before.

        A swap as gh-ost and pt-online-schema-change do it (`a TO b, c TO a`) says that `a` was `c`.
        """
        former: dict[tuple[str, str], tuple[str, str]] = {}
        for step in self.steps:
            if step.does is Does.RENAME_TABLE:
                old = (step.db, step.table)
                former[step.new_db, step.new_name] = former.pop(old, old)
        return {new: old for new, old in former.items() if new != old}
