"""The columns of the list of tables: which there are, and which of them a person chose.

The choice stands in the address (`cols=`, names divided by commas), so a saved view or a shared
link keeps it. The CSV then holds the chosen columns after the table's name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import prefetch_related_objects
from django.http import QueryDict

from portal.catalog.domain.health import HealthLevel
from portal.catalog.models import Table
from portal.catalog.selectors import PARTS
from portal.catalog.services.columns import TableColumn, read_columns, table_columns
from portal.catalog.services.registry import HealthPart, health_parts
from portal.ui.lists.tables import Column
from portal.ui.tables.addresses import table_url

STANDARD = ("health", "findings", "format", "owner")
FINDINGS, PART = "findings", "health-"


def _url(row: Table) -> str:
    return table_url(row.lake, row.db, row.name)


NAME = Column(key="__str__", title="Table", kind="code", sort="name", url=_url)
NAMED_IN_CSV = tuple(Column(key=key, title=key) for key in ("lake", "db", "name"))
OWN = (
    Column(
        name="health",
        key="health_state",
        title="Health",
        kind="state",
        sort="worst",
        help="That of its worst part",
    ),
    Column(
        name=FINDINGS,
        key="",
        title="Findings",
        kind="template",
        template="catalog/_cell_parts.html",
        is_wide=True,
    ),
    Column(name="format", key="format", title="Format", shown_from="tablet"),
    Column(name="owner", key="owner", title="Owner", shown_from="tablet"),
    Column(name="db_owner", key="db_owner", title="Database owner"),
    Column(name="location", key="location", title="Path", kind="code"),
    Column(name="created_at", key="created_at", title="Created", kind="ago"),
    Column(name="first_seen_at", key="first_seen_at", title="First seen", kind="ago"),
    Column(name="last_seen_at", key="last_seen_at", title="Last seen", kind="ago"),
)
_IN_CSV = {"health": "health", FINDINGS: "sentences"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One box of the menu of columns."""

    name: str
    title: str
    is_chosen: bool


@dataclass(frozen=True)
class Chosen:
    """The columns that an address asks for; the standard ones where it names none."""

    columns: tuple[Column, ...]
    is_standard: bool

    @property
    def text(self) -> str:
        """The choice as an address says it; empty for the standard one."""
        return "" if self.is_standard else ",".join(column.name for column in self.columns)

    @property
    def shown(self) -> tuple[Column, ...]:
        """The columns of the page; the table's name always comes first."""
        return (NAME, *self.columns)

    @property
    def exported(self) -> tuple[Column, ...] | None:
        """The columns of the CSV; None leaves it as it is without a choice: with everything."""
        if self.is_standard:
            return None
        return (*NAMED_IN_CSV, *(_in_csv(column) for column in self.columns))

    @property
    def choices(self) -> list[Choice]:
        """Every column with whether it is chosen."""
        chosen = {column.name for column in self.columns}
        return [Choice(one.name, one.title, one.name in chosen) for one in every_column()]

    def complete(self, rows: Sequence[Any]) -> None:
        """Read what the chosen columns show beside the tables' own fields."""
        names = {column.name for column in self.columns}
        if any(name == FINDINGS or name.startswith(PART) for name in names):
            prefetch_related_objects(rows, PARTS)
        found = read_columns(rows[0].lake, rows, names) if rows else {}
        for row in rows:
            row.more = found[row.pk]
            judged = getattr(row, "judged", ())
            row.part_states = {part.part: part.state for part in judged}
            row.part_levels = {part.part: HealthLevel(part.level).name for part in judged}
            row.sentences = [part.sentence for part in judged if not part.is_in_order]


def every_column() -> list[Column]:
    """Return the columns that may be chosen: the catalog's, each part of health, the areas'."""
    parts = [_of_part(part) for part in health_parts()]
    return [*OWN[:2], *parts, *OWN[2:], *(_of_area(one) for one in table_columns())]


def chosen_columns(asked: QueryDict) -> Chosen:
    """Return the columns of an address, in the menu's order; names of no column are left out."""
    names = set(cols_of(asked).split(",")) - {""}
    every = every_column()
    found = tuple(column for column in every if column.name in names)
    standard = tuple(column for column in every if column.name in STANDARD)
    return Chosen(found or standard, not found or found == standard)


def cols_of(asked: QueryDict) -> str:
    """Return what an address says of columns; the menu's boxes send a name each."""
    return ",".join(asked.getlist("cols"))


def _of_part(part: HealthPart) -> Column:
    return Column(
        name=f"{PART}{part.key}", key=f"part_states.{part.key}", title=part.title, kind="state"
    )


def _of_area(one: TableColumn) -> Column:
    def url(row: Table) -> str:
        return table_url(row.lake, row.db, row.name, one.tab)

    return Column(
        name=one.key,
        key=f"more.{one.key}",
        title=one.title,
        kind=one.kind,
        help=one.help,
        url=url if one.tab else None,
    )


def _in_csv(column: Column) -> Column:
    key = _IN_CSV.get(column.name, column.key)
    if column.name.startswith(PART):
        key = f"part_levels.{column.name.removeprefix(PART)}"
    return Column(name=column.name, key=key, title=column.name)
