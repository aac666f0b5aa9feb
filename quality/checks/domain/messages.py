"""What the program that measures tables is asked, and what it says of each.

A run's request has a `Request` at `checks`. What was measured of a task stands below the spool's
results as `measured/<task id>.json`, written whole once the table is done; rows that speak against
its metrics stand in `samples/<task id>.json`.
"""

from datetime import datetime
from typing import Any, Literal

import msgspec

from portal.lake.errors import RuleViolation
from portal.lake.formats import committed_format
from quality.checks.domain.metrics import Metric
from quality.checks.domain.states import State

MEASURED, SAMPLES = "measured", "samples"
Format = Literal["hive", "iceberg", "hudi"]


def format_of(struct: Any) -> Format:
    """Return how the rows of a table are read, from what the metastore has of it."""
    return committed_format(struct) or "hive"


class Window(msgspec.Struct, frozen=True, omit_defaults=True):
    """One value of the partition key; empty: the whole table."""

    value: str = ""
    end: datetime | None = None
    """What freshness counts back from; None: the time of measuring."""


class Earlier(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was measured at an earlier commit, so that only newer rows need to be read."""

    commit: str
    """Snapshot id of Iceberg, or completed instant of Hudi, that the states are of."""
    states: dict[str, dict[str, State]]
    """By window, by metric key."""


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """A table to measure."""

    id: int
    db: str
    table: str
    format: Format
    metrics: tuple[Metric, ...]
    location: str = ""
    """The table's base path; read only of Hudi tables."""
    partition_key: str = ""
    windows: tuple[Window, ...] = (Window(),)
    budget_seconds: float = 3600
    """For the whole table; a metric of its own pass gets what is left."""
    sql_seconds: float = 300
    """For each custom_sql."""
    databases: tuple[str, ...] = ()
    """What custom_sql and other tables may be read from besides the table's own database."""
    earlier: Earlier | None = None
    touched: bool = False
    """With `earlier`: measure also windows that the newer commits wrote to."""
    sample: tuple[str, ...] = ()
    """Keys of metrics of which rows that speak against them are wanted."""
    most_samples: int = 20
    """Rows for each metric and window."""
    most_sampled: int = 30
    """Of how many metrics and windows: each is a query of its own."""


class Request(msgspec.Struct, frozen=True):
    """Tables to measure in one application."""

    tasks: tuple[Task, ...]


class MetricValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """One metric of one window."""

    key: str
    value: float | None = None
    reason: str = ""
    """A `Reason`, where there is no value."""
    detail: str = ""
    """What the engine said, or which columns differ."""
    state: State | None = None
    """What later commits are merged into; None: it cannot be merged."""


class WindowValues(msgspec.Struct, frozen=True, omit_defaults=True):
    """All metrics of one window, and its row count whether that was asked for or not."""

    window: str
    n_rows: int
    values: tuple[MetricValue, ...]


class Measured(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was measured of a task's table."""

    id: int
    state: Literal["done", "failed"]
    measured_at: datetime
    windows: tuple[WindowValues, ...] = ()
    commit: str = ""
    """Snapshot id or instant that it was measured at; empty: the format has none."""
    is_incremental: bool = False
    """Whether only rows of newer commits were read."""
    note: str = ""
    """Why all rows were read although earlier states were given; or why it failed."""
    reason: str = ""
    """A `Reason`, where it failed."""
    rows_read: int = 0
    n_passes: int = 0
    seconds: float = 0

    @property
    def how_read(self) -> str:
        """Which rows were read, where an earlier commit was known; empty: none was."""
        return "Only rows of newer commits were read." if self.is_incremental else self.note


class Sample(msgspec.Struct, frozen=True):
    """Rows of one window that speak against one metric; values as texts, None is NULL."""

    window: str
    key: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


class Samples(msgspec.Struct, frozen=True):
    """All samples of one task."""

    id: int
    samples: tuple[Sample, ...]


def read_request(data: Any) -> Request:
    """Read a request.

    Raises:
        RuleViolation: `checks.request`, with what is wrong.
    """
    try:
        return msgspec.convert(data, Request)
    except msgspec.ValidationError as error:
        raise RuleViolation("checks.request", f"This cannot be measured: {error}") from error
