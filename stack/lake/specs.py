"""How a table of the demo's lake is described before it is made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Maker(StrEnum):
    """By which road a table comes into the lake."""

    HIVE = "HIVE"  # a Hive table, its partitions written by Spark and recovered
    DATASOURCE = "DATASOURCE"  # a Spark table (USING ...)
    INSERT = "INSERT"  # a Hive table filled by INSERT with dynamic partitions


@dataclass(frozen=True, slots=True)
class Part:
    """One partition: its values (None is NULL), its age, and how long ago it was read."""

    values: tuple[str | None, ...]
    age_days: float
    read_days_ago: float | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One table. `location` is below the lake's user folder; empty means the database's place."""

    db: str
    name: str
    format: str = "parquet"
    maker: Maker = Maker.HIVE
    keys: tuple[str, ...] = ()
    parts: Sequence[Part] = ()
    location: str = ""
    level: str | None = "1"
    ttl: str | None = None
    more: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""
    age_days: float = 3
    read_days_ago: float | None = None
    n_rows: int = 20

    @property
    def parameters(self) -> dict[str, str]:
        """The table's own lifecycle parameters."""
        own = {"LEVEL": self.level, "TTL": self.ttl if self.level is not None else None}
        return {**{key: value for key, value in own.items() if value is not None}, **self.more}


@dataclass(frozen=True, slots=True)
class DatabaseSpec:
    """One database: who owns it, where it lies below the user folder, how far it is trusted."""

    name: str
    owner: str
    location: str
    mode: str = "OBSERVE"
    comment: str = ""
