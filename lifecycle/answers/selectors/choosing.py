"""Chooses tables for one answer: those of a filter that a person may answer for and has not."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lifecycle.answers.domain import MOST_TABLES
from lifecycle.answers.selectors.shown import Name
from lifecycle.inventory.selectors.dropped import gone_since
from lifecycle.inventory.selectors.filters import TableFilterSet
from lifecycle.inventory.selectors.findings import tables_in_scan, tables_visible
from lifecycle.inventory.selectors.kept import complete_tables
from lifecycle.inventory.selectors.policy import may_answer
from lifecycle.models import TableFinding
from portal.access.models import User
from portal.catalog.models import Table
from portal.lake.errors import RuleViolation

_WIDE = ("location", "reasons", "class_bytes")
_CHUNK = 500


def names_in_filter(lake: str, params: Mapping[str, Any], *, user: User) -> list[Name]:
    """Return the tables of a filter that wait for this person's answer, by name.

    Those that are kept already, or about which a request waits, are left as they are.

    Raises:
        RuleViolation: a bad value in the filter, or more than `MOST_TABLES` tables.
    """
    gone = gone_since(lake)
    chosen = TableFilterSet(params, tables_visible(lake, user), lake=lake, gone=gone)
    if not chosen.is_valid():
        field, problems = next(iter(chosen.errors.items()))
        raise RuleViolation("answers.filter", f"{field}: {problems[0]}", field=field)
    rows = list(chosen.qs.defer(*_WIDE).order_by("db", "table")[: MOST_TABLES + 1])
    if len(rows) > MOST_TABLES:
        raise RuleViolation(
            "answers.too_many",
            f"More than {MOST_TABLES:,} tables match. Narrow the filter.",
        )
    complete_tables(rows, gone=gone)
    return [
        (row.db, row.table) for row in rows if may_answer(user, row) and not row.kept.is_answered
    ]


def names_of_rows(lake: str, keys: Collection[str], *, user: User) -> list[Name]:
    """Return the names of rows that a page showed; those of a scan that is gone are left out."""
    known = TableFinding.objects.filter(lake=lake, pk__in=[key for key in keys if key.isdecimal()])
    return list(known.for_user(user).order_by("db", "table").values_list("db", "table"))


def open_names(lake: str, names: Sequence[Name], *, user: User) -> list[Name]:
    """Return those of some tables that wait for this person's answer, as in a filter."""
    found = []
    for start in range(0, len(names), _CHUNK):
        seen = tables_in_scan(lake, names[start : start + _CHUNK])
        rows: list[Any] = list(seen.defer(*_WIDE))
        complete_tables(rows)
        found += [
            (row.db, row.table)
            for row in rows
            if may_answer(user, row) and not row.kept.is_answered
        ]
    return sorted(found)


def answerable(lake: str, user: User, tables: Sequence[Table]) -> list[int]:
    """Return the keys of tables of the catalog for which a person may answer."""
    keys = {(table.db, table.name): table.pk for table in tables}
    rows = tables_in_scan(lake, keys).defer(*_WIDE)
    return [keys[row.db, row.table] for row in rows if may_answer(user, row)]
