"""Describes an aggregate that is kept as a table, with the commits of its sources that are in it.

Expressions are Spark SQL over qualified columns: `fact` is the table itself, every other alias a
joined one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class StoredJoin:
    """A table joined by equal columns; each pair is one on the left and one of the joined table."""

    alias: str
    table: str
    on: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class StoredDimension:
    """What rows are grouped by, its Spark type, and the column that holds it."""

    name: str
    expression: str
    type: str
    column: str


@dataclass(frozen=True, slots=True)
class StoredMeasure:
    """What is aggregated, its Spark type, and its states: by function, Spark SQL over the columns.

    Functions are `count` (of values that are not NULL), `sum`, `min`, `max`, and `distinct_count`.
    """

    name: str
    expression: str
    type: str
    states: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SourceCommit:
    """A commit of a table: its identity (Iceberg's uuid, Hudi's location), and the commit's."""

    table_id: str
    commit: str


@dataclass(frozen=True, slots=True)
class StoredAggregate:
    """One aggregate, as a table that can be read."""

    name: str
    table: str
    """`<db>.<name>`, in lower case as all names here."""
    format: str
    """`hudi` or `iceberg`."""
    source: str
    dimensions: tuple[StoredDimension, ...]
    measures: tuple[StoredMeasure, ...]
    rows_column: str
    """It counts the rows of each group."""
    joins: tuple[StoredJoin, ...] = ()
    filters: tuple[str, ...] = ()
    time_zone: str = "UTC"
    commits: Mapping[str, SourceCommit] = field(default_factory=dict)
    """What of each of its sources is in it."""
    known_at: datetime | None = None
    """When it had everything that its sources had; None: never yet."""
    max_lag: timedelta = timedelta(0)
    """So much older than its sources may it be for a query that says nothing of its own."""
    n_rows: int = 0
    """Rows of its table; 0: nobody counted them."""
    source_rows: int = 0
    """Rows that it stands for."""
    problem: str = ""
    """Why it cannot be used; empty: it can."""
