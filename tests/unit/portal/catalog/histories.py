"""Random histories of a metastore with a few names, and what is true after each event."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from portal.catalog.domain.entries import ListedTable, Name, TableChange, TableFacts

START = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
NAMES = [("shop", "a"), ("shop", "b"), ("web", "a")]
_ACTS = st.lists(
    st.tuples(
        st.sampled_from(["create", "alter", "rename", "drop"]), *[st.sampled_from(NAMES)] * 2
    ),
    max_size=24,
)


@dataclass(frozen=True)
class TrueTable:
    """A table as it is: its number is its own for ever."""

    number: int
    facts: TableFacts
    created_at: datetime


@dataclass
class History:
    """The events, and the tables after each of them; `truth[0]` is before the first."""

    events: list[TableChange] = field(default_factory=list)
    truth: list[dict[Name, TrueTable]] = field(default_factory=lambda: [{}])

    def add(self, act: str, name: Name, other: Name) -> None:
        """Do something, if it can be done."""
        tables, event_id = dict(self.truth[-1]), len(self.events) + 1
        facts = TableFacts("parquet", location=f"/lake/{event_id}", owner="olga")
        if act == "create" and name not in tables:
            tables[name] = TrueTable(event_id, facts, at(event_id))
            change = TableChange(event_id, *name, facts, is_created=True, created_at=at(event_id))
        elif act == "alter" and name in tables:
            tables[name] = replace(tables[name], facts=facts)
            change = TableChange(event_id, *name, facts)
        elif act == "rename" and name in tables and other not in tables:
            tables[other] = replace(tables.pop(name), facts=facts)
            change = TableChange(event_id, *other, facts, former=name)
        elif act == "drop" and name in tables:
            del tables[name]
            change = TableChange(event_id, *name)
        else:
            return
        self.events.append(change)
        self.truth.append(tables)

    @property
    def facts(self) -> dict[Name, TableFacts]:
        """What is true at last."""
        return {name: table.facts for name, table in self.truth[-1].items()}

    def listed(self, event_id: int) -> list[ListedTable]:
        """Return what a scan sees that begins after an event."""
        return [
            ListedTable(*name, one.facts, "sara", one.number, one.created_at)
            for name, one in self.truth[event_id].items()
        ]


def at(event_id: float) -> datetime:
    """Return the instant of an event."""
    return START + timedelta(minutes=event_id)


def _history(acts: list[tuple[Any, ...]]) -> History:
    history = History()
    for act in acts:
        history.add(*act)
    return history


histories = _ACTS.map(_history)
