"""How far the full load of a table has come; it travels in the headers of batches."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from pipelines.cdc.capture.domain.config import SourceConfig
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.records import Row

Name = tuple[str, str]


class Load(msgspec.Struct, frozen=True, omit_defaults=True):
    """One table's full load, begun or asked for."""

    db: str
    table: str
    rows: int = 0
    """Read so far."""
    after: tuple[str, ...] = ()
    """The key of the last row that was read, as `chunks` writes it; empty at the beginning."""
    request: int = 0
    """Which time the table was asked to be loaded again."""
    is_done: bool = False

    @property
    def name(self) -> Name:
        """Database and table."""
        return self.db, self.table


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of a table in the order of its key, read at a position without locks."""

    position: Position
    """Every change after it is newer than these rows."""
    at: int
    rows: list[Row]
    after: tuple[str, ...]
    is_last: bool


_encoder = msgspec.json.Encoder()
_loads = msgspec.json.Decoder(Load)


def written(loads: Iterable[Load]) -> dict[str, str]:
    """Return loads as a header has them; without those that are done and were not asked for."""
    return {
        f"{load.db}.{load.table}": _encoder.encode(load).decode()
        for load in loads
        if load.request or not load.is_done
    }


def read(texts: Mapping[str, str]) -> dict[Name, Load]:
    """Read the loads of a header."""
    found = (_loads.decode(text) for text in texts.values())
    return {load.name: load for load in found}


def planned(
    loads: Mapping[Name, Load], new: Iterable[Name], config: SourceConfig
) -> dict[Name, Load]:
    """Return the loads with those of new tables, and of tables that were asked for again."""
    plan = dict(loads)
    for name in new:
        plan.setdefault(name, Load(*name))
    for text, request in config.reloads:
        db, _, table = text.partition(".")
        known = plan.get((db, table))
        if known is None or known.request < request:
            plan[db, table] = Load(db, table, request=request)
    return plan
