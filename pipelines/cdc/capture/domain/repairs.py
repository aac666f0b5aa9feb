"""Rows of a table that are written to the changelog again, because the lake has them otherwise."""

from dataclasses import dataclass

from pipelines.cdc.changes.domain.records import Row


@dataclass(frozen=True, slots=True)
class Repair:
    """An order to write some keys of a table again, as the source has them then."""

    id: int
    db: str
    table: str
    keys: tuple[Row, ...]

    @property
    def name(self) -> tuple[str, str]:
        """Database and table."""
        return self.db, self.table


@dataclass(frozen=True, slots=True)
class Repaired:
    """What came of one; done again after a crash it changes nothing."""

    id: int
    n_rows: int
    n_deletes: int
    batch: int
    """Number of the last batch of the changelog that has something of it."""
    note: str = ""
    """Why keys were left out."""
