"""Answers what-ifs for another LEVEL and TTL, from the counts that the last scan left."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lifecycle.expiry.domain.what_if import (
    Ages,
    Amount,
    Outcome,
    due_by_week,
    metadata_rows,
    what_if,
)
from lifecycle.models import PartitionRange, TableAges, TableFinding
from lifecycle.policies.domain.policy import Values

N_WEEKS = 13
_CHUNK = 500
PARTS = ("now", "still_read", "unsure", "soon", "later", "stays")


@dataclass(frozen=True, slots=True)
class Line:
    """One class of a what-if: how much stands in it now, and how much would."""

    name: str
    before: Amount
    after: Amount

    @property
    def n_more(self) -> int:
        """How many items more (or, below 0, fewer)."""
        return self.after.n - self.before.n


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A table's items under the values that stand and under others."""

    before: Outcome
    after: Outcome
    n_keys: int
    as_of: datetime

    @property
    def lines(self) -> list[Line]:
        """One line a class that is shown, in the order in which people ask."""
        return [Line(name, getattr(self.before, name), getattr(self.after, name)) for name in PARTS]

    @property
    def n_metadata_rows(self) -> int:
        """How many rows the metastore's database would lose at least."""
        return metadata_rows(self.after.now.n, n_keys=self.n_keys)

    def as_json(self) -> dict[str, Any]:
        """Return the numbers as requests and the API keep them."""
        return {
            "as_of": self.as_of.isoformat(),
            "before": outcome_json(self.before),
            "after": outcome_json(self.after),
            "metadata_rows": self.n_metadata_rows,
        }


def outcome_json(outcome: Outcome) -> dict[str, dict[str, int]]:
    """Return an outcome by the classes that are shown."""
    return {name: _amount_json(getattr(outcome, name)) for name in PARTS}


def _amount_json(amount: Amount) -> dict[str, int]:
    return {
        "n": amount.n,
        "n_bytes": amount.n_bytes,
        "n_files": amount.n_files,
        "n_unmeasured": amount.n_unmeasured,
    }


def ages_of(found: TableFinding) -> Ages:
    """Return a table's counts by age; a table without items has none."""
    row = TableAges.objects.filter(table=found).first()
    return row.ages if row else Ages()


def table_what_if(found: TableFinding, ages: Ages, *, before: Values, after: Values) -> WhatIf:
    """Compare what stands with what would."""
    return WhatIf(
        before=what_if(ages, before),
        after=what_if(ages, after),
        n_keys=n_keys_of(found),
        as_of=found.generation.as_of,
    )


def n_keys_of(found: TableFinding) -> int:
    """Return how many partition keys a table has, read off one of its partitions' names."""
    if not found.n_partitions:
        return 0
    first = PartitionRange.objects.filter(table=found).values_list("first", flat=True).first()
    return (first or "").count("/") + 1


def coming_weeks(found: TableFinding, ages: Ages, values: Values) -> list[tuple[datetime, Amount]]:
    """Return what falls due week by week under some values."""
    return due_by_week(ages, values, as_of=found.generation.as_of, n_weeks=N_WEEKS)


def many_what_ifs(
    tables: Iterable[TableFinding], after: Values
) -> Iterator[tuple[TableFinding, Outcome]]:
    """Yield what would become of each of many tables, reading their counts in a few queries."""
    known = list(tables)
    for start in range(0, len(known), _CHUNK):
        part = known[start : start + _CHUNK]
        rows = {row.table_id: row.ages for row in TableAges.objects.filter(table__in=part)}
        for table in part:
            yield table, what_if(rows.get(table.pk, Ages()), after)
