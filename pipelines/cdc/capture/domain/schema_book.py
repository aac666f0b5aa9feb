"""Numbers the schemas of each table, so that whoever reads the log again gives the same numbers.

A row's schema is the one that was in force at its version, never the newest. So after a crash rows
get the numbers that they had, although later schemas were written already.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from pipelines.cdc.changes.domain.schemas import Column, TableSchema

Name = tuple[str, str]


@dataclass
class SchemaBook:
    """All schemas of a changelog; `new` and `marked` make the next and leave writing to others."""

    _schemas: dict[Name, list[TableSchema]] = field(default_factory=dict)

    @classmethod
    def of(cls, schemas: Iterable[TableSchema]) -> "SchemaBook":
        """Return the book of a changelog's schemas."""
        book = cls()
        for schema in schemas:
            book.add(schema)
        return book

    def add(self, schema: TableSchema) -> None:
        """Take a schema in that the changelog has."""
        known = self._schemas.setdefault((schema.db, schema.table), [])
        known.append(schema)
        known.sort(key=lambda one: (one.version, one.number))

    def __len__(self) -> int:
        return sum(map(len, self._schemas.values()))

    def tables(self) -> list[Name]:
        """Return the tables that have a schema."""
        return sorted(self._schemas)

    def latest(self, name: Name) -> TableSchema | None:
        """Return the schema of the greatest version."""
        known = self._schemas.get(name)
        return known[-1] if known else None

    def at(self, name: Name, version: int) -> TableSchema | None:
        """Return the schema in force at a version; before the first, the first."""
        known = self._schemas.get(name)
        if not known:
            return None
        place = bisect_right(known, version, key=lambda one: one.version)
        return known[max(place - 1, 0)]

    def begun_at(self, name: Name, version: int) -> TableSchema | None:
        """Return the schema that begins exactly at a version."""
        found = self.at(name, version)
        return found if found and found.version == version else None

    def new(
        self, name: Name, version: int, columns: tuple[Column, ...], key: tuple[str, ...], ddl: str
    ) -> TableSchema:
        """Return a table's next schema; the caller writes it and then adds it."""
        number = max((one.number for one in self._schemas.get(name, ())), default=0) + 1
        return TableSchema(*name, number, version, columns, key, ddl)

    def marked(self, name: Name, version: int, ddl: str) -> TableSchema | None:
        """Return the schema that says a statement touched a table without a change of columns.

        None where the table is not known, or the statement has its schema already.
        """
        before = self.at(name, version)
        if before is None or before.version == version:
            return None
        return self.new(name, version, before.columns, before.key, ddl)
