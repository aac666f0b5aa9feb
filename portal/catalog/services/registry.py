"""Registry of what the areas add to the page of a table: tabs, health, strips and actions.

Each area registers its own in its `registration.py`; the platform names none of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from portal.access.models import User
from portal.catalog.domain.health import Finding
from portal.catalog.models import Table

OVERVIEW = "overview"
"""The key of the first tab, which the catalog shows itself."""


@dataclass(frozen=True, slots=True)
class TableTab:
    """One tab of the page of a table; `view` renders it, and one of its parts if it has any.

    `applies` is one indexed look-up at most. The strip of tabs does not even ask that of a tab
    whose `shown_with` is a part of the health: it is there where the part is.
    """

    key: str
    title: str
    order: int
    view: Callable[[HttpRequest, Table, str], HttpResponseBase]
    applies: Callable[[Table, User], bool]
    formats: frozenset[str] = frozenset()
    """The formats of tables that it is for, in small letters; empty: of every format."""
    parts: frozenset[str] = frozenset()
    shown_with: str = ""
    outlives: bool = False
    """Whether a table that was dropped has it too."""

    def is_shown(self, table: Table, user: User, parts: Mapping[str, Finding]) -> bool:
        """Whether the table has this tab for the person; `parts` are those of its health."""
        if not self.fits(table):
            return False
        return self.shown_with in parts if self.shown_with else self.applies(table, user)

    def fits(self, table: Table) -> bool:
        """Whether it is for tables of this format; one that is gone has what outlives it."""
        if table.deleted_at is not None and not self.outlives:
            return False
        return not self.formats or table.format.lower() in self.formats


@dataclass(frozen=True, slots=True)
class HealthPart:
    """One part of a table's health; `tab` is where it is explained.

    `preset` names the filter of tables of which it is not in order.
    """

    key: str
    title: str
    order: int
    tab: str
    preset: str = ""


Findings = Mapping[int, Mapping[str, Finding]]
"""By a table's key and a part's: how it stands. A part that does not apply is absent."""

HealthReader = Callable[[str, Sequence[Table]], Findings]
"""Reads the parts of tables of one lake, by a number of queries that does not depend on theirs."""


@dataclass(frozen=True, slots=True)
class Strip:
    """One line below the header: what waits for the table, or holds it."""

    text: str
    url: str
    label: str
    icon: str = "info-circle"
    tone: str = "info"


@dataclass(frozen=True, slots=True)
class Action:
    """What a table needs done first; the one with the lowest `order` is offered."""

    title: str
    url: str
    icon: str
    order: int


StripMaker = Callable[[Table, User], Sequence[Strip]]
ActionMaker = Callable[[Table, User, Mapping[str, Finding]], Action | None]

DatabaseLink = Callable[[str, str, User], tuple[str, str] | None]
"""Returns title and address of an area's own page of a database, None where it has none."""

TraceLink = Callable[[str, str, str], tuple[str, str]]
"""Returns title and address of a list that may still have a name which no table has.

It looks nothing up: the same is offered for tables that are not there and for those of others.
"""

_links: list[DatabaseLink] = []
_traces: list[TraceLink] = []
_tabs: dict[tuple[str, frozenset[str]], TableTab] = {}
_parts: dict[str, HealthPart] = {}
_readers: list[HealthReader] = []
_strips: dict[StripMaker, str] = {}
_actions: list[ActionMaker] = []


def register_table_tab(tab: TableTab) -> None:
    """Add a tab; registering the same key again replaces it, unless it is for other formats."""
    _tabs[tab.key, tab.formats] = tab


def register_table_health(reader: HealthReader, *parts: HealthPart) -> None:
    """Add parts of a table's health, and what reads them."""
    for part in parts:
        _parts[part.key] = part
    if reader not in _readers:
        _readers.append(reader)


def register_table_strips(maker: StripMaker, *, tab: str) -> None:
    """Add what says which strips a table has; `tab` shows the same in full."""
    _strips[maker] = tab


def register_table_action(maker: ActionMaker) -> None:
    """Add what says whether a table needs something done."""
    if maker not in _actions:
        _actions.append(maker)


def register_database_link(maker: DatabaseLink) -> None:
    """Add an area's own page of a database to the page of the database."""
    if maker not in _links:
        _links.append(maker)


def database_links(lake: str, db: str, user: User) -> list[tuple[str, str]]:
    """Return title and address of what the areas show of a database."""
    return [link for maker in _links if (link := maker(lake, db, user))]


def register_trace_link(maker: TraceLink) -> None:
    """Add a list of an area to what is offered where no table has a name."""
    if maker not in _traces:
        _traces.append(maker)


def trace_links(lake: str, db: str, name: str) -> list[tuple[str, str]]:
    """Return title and address of the lists that may still have a name."""
    return [maker(lake, db, name) for maker in _traces]


def tab_of(table: Table, key: str) -> TableTab | None:
    """Return the tab of a key that is for tables of this one's format."""
    named = (tab for tab in _tabs.values() if tab.key == key and tab.fits(table))
    return next(named, None)


def tabs_for(table: Table, user: User, parts: Mapping[str, Finding]) -> list[TableTab]:
    """Return the tabs that a table has for a person, in order."""
    return [tab for tab in sorted(_tabs.values(), key=_place) if tab.is_shown(table, user, parts)]


def health_parts() -> list[HealthPart]:
    """Return every part of a table's health, in order."""
    return sorted(_parts.values(), key=_place)


def read_health(lake: str, tables: Sequence[Table]) -> dict[int, dict[str, Finding]]:
    """Return how the parts of tables stand now, as their areas say."""
    found: dict[int, dict[str, Finding]] = {table.pk: {} for table in tables}
    for reader in _readers:
        for key, parts in reader(lake, tables).items():
            found[key].update(parts)
    return found


def strips_of(table: Table, user: User, *, on_tab: str = "") -> list[Strip]:
    """Return what waits for a table, or holds it; not what the tab shows itself."""
    makers = [maker for maker, tab in _strips.items() if tab != on_tab]
    return [strip for maker in makers for strip in maker(table, user)]


def action_of(table: Table, user: User, parts: Mapping[str, Finding]) -> Action | None:
    """Return what the table needs done first; None where nothing is needed."""
    made = [action for maker in _actions if (action := maker(table, user, parts))]
    return min(made, key=lambda action: action.order, default=None)


def _place(one: TableTab | HealthPart) -> tuple[int, str]:
    return one.order, one.key
