"""Reads how far a table is indexed, by column and by newest partitions, and what that saved."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import F, FloatField, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from optimizer.advice.domain.filters import FilterKind
from optimizer.advice.domain.layout_advice import LEAST_SCANS
from optimizer.advice.domain.workload import main_uses
from optimizer.core.domain.tasks import REWRITES, TaskKind, TaskState
from optimizer.cubes.domain.declared_joins import is_joined
from optimizer.iceberg.indexing.domain.joined_wanted import on_own_columns
from optimizer.iceberg.indexing.domain.wanted import (
    AUTO,
    COST,
    INDEXED_AT,
    INDEXED_FOR,
    WantedIndex,
    mark_of,
)
from optimizer.iceberg.tables.selectors.scans import since
from optimizer.indexes.domain.choice.costs import Decision
from optimizer.models import IcebergTable, IndexCoverage
from optimizer.policies.domain.policy import Policy
from optimizer.policies.selectors.joins import declared_joins_of
from optimizer.policies.selectors.policies import TablePolicy, policies_of

COVERAGE_ORDERS = {"newest": ("place", "pk"), "-bytes": ("-n_bytes", "pk")}
PARTITIONS_DRAWN = 40
USED_DAYS = 7
_LATEST = 10


@dataclass(frozen=True, slots=True)
class ColumnCoverage:
    """One wanted index over the whole table; `at` None: no job has come to it yet."""

    column: str
    wanted: str
    kinds: str = ""
    n_files: int = 0
    n_covered: int = 0
    n_refused: int = 0
    n_rows: int = 0
    n_bytes: int = 0
    n_measured: int = 0
    passed: float | None = None
    refused: str = ""
    at: datetime | None = None

    @property
    def share(self) -> float | None:
        """The share of the files that have the index, or for which it is not worth its bytes."""
        return (self.n_covered + self.n_refused) / self.n_files if self.n_files else None

    @property
    def bits_a_row(self) -> float | None:
        """What the index takes for each row."""
        return 8 * self.n_bytes / self.n_rows if self.n_rows else None

    @property
    def false_positives(self) -> float | None:
        """The share of absent keys that pass, the mean of the files that measured it."""
        return None if self.passed is None else self.passed / max(self.n_measured, 1)

    @property
    def false_positives_percent(self) -> float | None:
        """Of absent values so many in a hundred pass."""
        return None if self.false_positives is None else 100 * self.false_positives


def index_state(row: IcebergTable, wanted: Sequence[WantedIndex]) -> dict[str, bool]:
    """Return whether the snapshot of the last look has all indexes, and whether an earlier one had.

    Nothing is asked of tables whose policy names no column.
    """
    if not wanted:
        return {}
    ended = row.tasks.filter(kind__in=[*REWRITES, TaskKind.INDEX], ended_at__isnull=False)
    worked = ended.filter(state__in=[TaskState.DONE, TaskState.PARTIAL, TaskState.NOTHING])
    afters = worked.order_by("-ended_at").values_list("after", flat=True)[:_LATEST]
    known = [after for after in afters if after.get(INDEXED_FOR) == mark_of(wanted)]
    return {
        "is_indexed": any(one[INDEXED_AT] == row.looked_snapshot_id for one in known),
        "was_indexed": bool(known),
    }


def wanted_of(row: IcebergTable, policy: Policy) -> tuple[WantedIndex, ...]:
    """Return the indexes that a policy asks for, by columns of the table itself.

    An index on a column of a joined table is one on the foreign key. The cubes' joins are read only
    where such a column is named.
    """
    wanted = policy.index_columns
    if not any(is_joined(one.column, row.columns) for one in wanted):
        return wanted
    return on_own_columns(wanted, declared_joins_of(row), row.columns)


def recorded_uses(
    row: IcebergTable, wanted: Iterable[WantedIndex], *, now: datetime
) -> dict[str, list[str]]:
    """Return how scans of four weeks ask for the columns whose kind of index is left to the portal.

    A column of fewer scans than advice stands on is left out: its type says how it is asked for.
    """
    columns = {one.column.lower() for one in wanted if one.kind == AUTO}
    if not columns:
        return {}
    lately = row.scan_filters.filter(column__in=columns, day__gte=since(now)).order_by()
    counts: dict[str, dict[FilterKind, float]] = {}
    for column, kind, n in lately.values_list("column", "kind").annotate(n=Sum("n_scans")):
        counts.setdefault(column, {})[FilterKind(kind)] = n
    return {
        column: sorted(uses)
        for column, kinds in counts.items()
        if sum(kinds.values()) >= LEAST_SCANS and (uses := main_uses(kinds))
    }


def policy_of(row: IcebergTable) -> TablePolicy:
    """Return the policy that holds for a table."""
    return policies_of(row.lake).of(row.db, row.table)


def coverage_rows(row: IcebergTable) -> QuerySet[IndexCoverage]:
    """Return what is known by column and partition, unordered."""
    return row.index_coverage.all()


def columns_covered(row: IcebergTable, wanted: Iterable[WantedIndex]) -> list[ColumnCoverage]:
    """Return each index that is asked for or there, over all partitions."""
    summed = (
        coverage_rows(row)
        .order_by()
        .values("column", "wanted")
        .annotate(
            kinds=Max("kinds"),
            n_files=Sum("n_files"),
            n_covered=Sum("n_covered"),
            n_refused=Sum("n_refused"),
            n_rows=Sum("n_rows"),
            n_bytes=Sum("n_bytes"),
            passed=Sum(F("false_positives") * F("n_measured"), output_field=FloatField()),
            n_measured=Sum("n_measured"),
            refused=Max("refused"),
            at=Max("at"),
        )
    )
    found = {(one["column"], one["wanted"]): ColumnCoverage(**one) for one in summed}
    for one in wanted:
        found.setdefault((one.column, one.kind), ColumnCoverage(one.column, one.kind))
    return [found[key] for key in sorted(found)]


@dataclass(frozen=True, slots=True)
class UnpaidIndex:
    """An index that is there although its figures speak against it; people decide."""

    column: str
    wanted: str
    reason: str


def that_do_not_pay(
    columns: Iterable[ColumnCoverage], estimate: Mapping[str, Any] | None
) -> list[UnpaidIndex]:
    """Return the built indexes whose figures do not pay, with the reason.

    Of `auto` the last build says it; of kinds that the policy names, the last estimate.
    """
    judged = {
        (one["column"], kind["kind"]): str(kind["reason"])
        for one in (estimate or {}).get("columns", ())
        for kind in one["kinds"]
        if kind["decision"] == Decision.REFUSE
    }
    found = []
    for one in columns:
        reason = judged.get((one.column, one.wanted), "")
        if one.wanted == AUTO and one.refused.startswith(COST):
            reason = one.refused.removeprefix(COST)
        if one.n_covered and reason:
            found.append(UnpaidIndex(one.column, one.wanted, reason.rstrip(".")))
    return found


@dataclass(frozen=True)
class CoverageGrid:
    """Per cent of the files that have their index: partitions down, indexes across."""

    rows: list[str]
    columns: list[str]
    values: list[list[float | None]]


def newest_covered(row: IcebergTable) -> CoverageGrid:
    """Return the coverage of the newest partitions; empty where the table has none."""
    cells: dict[str, dict[str, float]] = {}
    columns: dict[str, None] = {}
    newest = coverage_rows(row).filter(place__lt=PARTITIONS_DRAWN).exclude(partition="")
    for one in newest.order_by("place", "column", "wanted"):
        name = one.column if one.wanted == AUTO else f"{one.column}:{one.wanted}"
        columns[name] = None
        share = 100.0 * (one.n_covered + one.n_refused) / max(one.n_files, 1)
        cells.setdefault(one.partition, {})[name] = share
    names = sorted(columns)
    return CoverageGrid(
        list(cells), names, [[cells[row].get(name) for name in names] for row in cells]
    )


@dataclass(frozen=True, slots=True)
class UseOfIndex:
    """What one index dropped in the last days, as readers reported it."""

    column: str
    kind: str
    n_plans: int
    n_files: int
    n_bytes: int
    last_used_at: datetime


def uses_lately(row: IcebergTable, *, now: datetime) -> list[UseOfIndex]:
    """Return each index that was used within the weeks that are kept, by column and kind.

    The sums are those of the last seven days; an index that was last used earlier has none.
    """
    since = now.astimezone(UTC).date() - timedelta(days=USED_DAYS - 1)
    within = Q(day__gte=since)
    summed = (
        row.index_uses.order_by()
        .values("column", "kind")
        .annotate(
            n_plans=Coalesce(Sum("n_plans", filter=within), 0),
            n_files=Coalesce(Sum("n_files", filter=within), 0),
            n_bytes=Coalesce(Sum("n_bytes", filter=within), 0),
            last_used_at=Max("last_used_at"),
        )
    )
    found = [UseOfIndex(**one) for one in summed]
    return sorted(found, key=lambda one: (one.column, one.kind))
