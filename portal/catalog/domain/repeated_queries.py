"""Describes queries that came again and again, and the aggregate of a table that answers them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RepeatedGrouping:
    """Queries of four weeks that grouped a table in one way; without any of their constants."""

    digest: str
    dimensions: tuple[str, ...]
    measures: tuple[str, ...]
    tables: tuple[str, ...]
    """All that the shape names, as `<db>.<name>`."""
    shape: str
    n_queries: int
    n_days: int
    n_bytes: int
    """Read of the table."""
    seconds: float
    """Of the whole queries, where the engine says them."""


@dataclass(frozen=True, slots=True)
class RepeatedQueries:
    """One aggregate of a table, and the queries that it would have answered."""

    table: str
    """The table of facts as `<db>.<name>`, in lower case."""
    name: str
    """A name for a table with the aggregate, without its database."""
    sql: str
    """The aggregate as a SELECT of Spark."""
    groupings: tuple[RepeatedGrouping, ...]
    n_days: int
    """On which they came."""
    all_bytes: int
    """Read of the table by all queries that group it."""
    table_bytes: int | None
    """None: not known yet."""

    @property
    def n_queries(self) -> int:
        """How many queries they are."""
        return sum(one.n_queries for one in self.groupings)

    @property
    def n_bytes(self) -> int:
        """Bytes that they read of the table."""
        return sum(one.n_bytes for one in self.groupings)

    @property
    def seconds(self) -> float:
        """How long they took."""
        return sum(one.seconds for one in self.groupings)
