"""The schema of a source's table as the capture saw it; a new number with every change of it."""

import msgspec


class Column(msgspec.Struct, frozen=True, omit_defaults=True):
    """A column as MySQL declares it."""

    name: str
    type: str
    """The whole type in MySQL's words, in lower case: `decimal(10,2)`, `int(10) unsigned`."""
    is_nullable: bool = True
    is_generated: bool = False
    is_invisible: bool = False
    charset: str = ""
    default: str | None = None
    comment: str = ""


class TableSchema(msgspec.Struct, frozen=True, omit_defaults=True):
    """All columns of a table in their order, and its primary key."""

    db: str
    table: str
    number: int
    """1 for the first that the capture saw of the table, then one more with every change."""
    version: int
    """Changes of at least this version were made under it."""
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    ddl: str = ""
    """The statement that led to it, as the binary log has it; empty of the first."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns, in their order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column | None:
        """Return a column by name."""
        return next((column for column in self.columns if column.name == name), None)
