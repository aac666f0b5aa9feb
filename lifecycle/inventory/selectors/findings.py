"""Reads last-scan findings visible to a person: querysets for lists, lookups for details."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import date, timedelta
from typing import Any

from django.db.models import (
    CharField,
    Count,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    UUIDField,
    Value,
)
from django.db.models.functions import Coalesce

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.inventory.domain.due_totals import DUE_NAMES, Due
from lifecycle.inventory.selectors.dropped import GoneOf, dropped_due, dropped_due_by_database
from lifecycle.models import (
    DatabaseFinding,
    DatabaseSetting,
    LatestScan,
    OwnerTotals,
    PartitionRange,
    PathFinding,
    SamplePartition,
    ScanSnapshot,
    TableFinding,
    TrendPoint,
)
from lifecycle.rules.domain.conformity import Reason
from portal.access.models import User
from portal.catalog.selectors import is_named
from portal.lake.errors import NotVisible
from portal.runs.requests.selectors import newest_ended

TREND_DAYS = 90


@dataclass(frozen=True)
class Totals:
    """The numbers of one person's part of the lake; bytes as far as the scan knows them."""

    n_paths: int
    n_clean_now: int
    bytes_clean_now: int
    n_soon: int
    bytes_soon: int
    n_still_read: int
    bytes_still_read: int
    n_not_enrolled: int


def current_generation(lake: str) -> ScanSnapshot | None:
    """Return the picture that readers see, or None before the first scan."""
    pointer = LatestScan.objects.filter(lake=lake).select_related("generation").first()
    return pointer.generation if pointer else None


def newest_scan(lake: str, kind: str) -> Any:
    """Return the newest scan that ended, annotated with what readers see.

    `shown_as_of` and `shown_run` are an older scan's where the newest failed.
    """
    shown = LatestScan.objects.filter(lake=lake)
    newest = newest_ended(lake, kind).annotate(
        shown_as_of=Subquery(shown.values("generation__as_of")[:1]),
        shown_run=Subquery(shown.values("generation__run_id")[:1], output_field=UUIDField()),
    )
    return newest.first()


def paths_visible(lake: str, user: User) -> QuerySet[PathFinding]:
    """Return the paths that break rules and that `user` may see, waived ones too."""
    return PathFinding.objects.current(lake).for_user(user, of_lake=lake)


def tables_visible(lake: str, user: User) -> QuerySet[TableFinding]:
    """Return the tables that `user` may see, with their database's mode now as `mode_now`."""
    rows = TableFinding.objects.current(lake).for_user(user, of_lake=lake)
    annotated: QuerySet[TableFinding] = rows.annotate(mode_now=_mode_now())
    return annotated


def tables_in_scan(lake: str, names: Iterable[tuple[str, str]]) -> QuerySet[TableFinding]:
    """Return the tables of these names as the last scan saw them, whoever may see them."""
    rows = TableFinding.objects.current(lake).filter(is_named(names, column="table"))
    annotated: QuerySet[TableFinding] = rows.annotate(mode_now=_mode_now())
    return annotated


def databases_visible(lake: str, user: User) -> QuerySet[DatabaseFinding]:
    """Return the databases that `user` may see, with the mode each is in now as `mode_now`."""
    rows = DatabaseFinding.objects.current(lake).for_user(user, of_lake=lake)
    annotated: QuerySet[DatabaseFinding] = rows.annotate(mode_now=_mode_now())
    return annotated


def _mode_now() -> Coalesce:
    mode = DatabaseSetting.objects.filter(lake=OuterRef("lake"), db=OuterRef("db")).values("mode")
    observe = Value(DatabaseMode.OBSERVE.value)
    return Coalesce(Subquery(mode[:1]), observe, output_field=CharField())


def mode_of(lake: str, db: str) -> DatabaseMode:
    """Return the mode that a database is in now; OBSERVE until an admin says otherwise."""
    mode = DatabaseSetting.objects.filter(lake=lake, db=db).values_list("mode", flat=True).first()
    return DatabaseMode(mode) if mode else DatabaseMode.OBSERVE


def get_table_for_user(lake: str, db: str, table: str, *, user: User) -> TableFinding:
    """Return one table of the current picture, or NotVisible `table.missing`."""
    found = tables_visible(lake, user).filter(db=db, table=table).first()
    if found is None:
        raise NotVisible(
            "table.missing", f"The last scan shows you no table {db}.{table}.", db=db, table=table
        )
    return found


def get_database_for_user(lake: str, db: str, *, user: User) -> DatabaseFinding:
    """Return one database of the current picture, or NotVisible `database.missing`."""
    found = databases_visible(lake, user).filter(db=db).first()
    if found is None:
        raise NotVisible("database.missing", f"The last scan shows you no database {db}.", db=db)
    return found


def get_item_for_user(
    lake: str, db: str, table: str, partition: str, *, user: User
) -> tuple[TableFinding, SamplePartition | None, PartitionRange | None]:
    """Give an item's table, its own row if it is among the examples, else the range it lies in."""
    found = get_table_for_user(lake, db, table, user=user)
    example = SamplePartition.objects.filter(table=found, partition=partition).first()
    within = None
    if example is None:
        ranges = PartitionRange.objects.filter(
            table=found, first__lte=partition, last__gte=partition
        )
        within = ranges.order_by("-first").first()
        if within is None:
            raise NotVisible(
                "item.missing",
                f"The last scan saw no partition {partition!r} of {db}.{table}.",
                partition=partition,
            )
    return found, example, within


def items_of(table: TableFinding) -> QuerySet[SamplePartition]:
    """Return the examples of a table."""
    return SamplePartition.objects.filter(table=table)


def ranges_of(table: TableFinding) -> QuerySet[PartitionRange]:
    """Return the partition ranges of a table."""
    return PartitionRange.objects.filter(table=table)


def scanned_ranges(generation_id: int | None, db: str, table: str) -> QuerySet[PartitionRange]:
    """Return the partition ranges of a table as one scan saw them, by name."""
    rows = PartitionRange.objects.filter(
        table__generation_id=generation_id, table__db=db, table__table=table
    )
    return rows.order_by("id")


def reason_counts(lake: str, user: User) -> dict[str, int]:
    """Return how many visible paths break each rule; the lake's own counts for who sees it all."""
    generation = current_generation(lake)
    if generation is None:
        return {}
    if user.is_lake_staff_of(lake):
        counts = generation.totals.get("reasons") or {}
    else:
        counts = paths_visible(lake, user).aggregate(
            **{
                reason.value: Count("pk", filter=Q(reason_key__contains=f"|{reason.value}|"))
                for reason in Reason
            }
        )
    return {reason.value: int(counts.get(reason.value) or 0) for reason in Reason}


def totals_for(lake: str, user: User, gone: GoneOf | None = None) -> Totals:
    """Return the numbers of what `user` may see: the scan's sums, less what was dropped."""
    rows = OwnerTotals.objects.current(lake)
    rows = rows.filter(db="") if user.is_lake_staff_of(lake) else rows.for_user(user).exclude(db="")
    names = [one.name for one in fields(Totals)]
    sums: dict[str, Any] = rows.aggregate(**{name: Coalesce(Sum(name), 0) for name in names})
    dropped = dropped_due(lake, TableFinding.objects.current(lake).for_user(user), gone)
    sums |= {name: max(sums[name] - getattr(dropped, name), 0) for name in DUE_NAMES}
    return Totals(**sums)


@dataclass(frozen=True)
class PathScope:
    """How many paths that break rules the daily mail names, and how many it leaves out.

    Nobody but admins is written to about databases in OBSERVE, and who sees all has no such parts.
    """

    n_reported: int
    n_observed: int


def path_scope(lake: str, user: User) -> PathScope:
    """Return the nonconforming paths of a person by what the daily mail says of them."""
    rows = OwnerTotals.objects.current(lake).for_user(user).exclude(db="")
    notifying = DatabaseSetting.objects.filter(
        lake=lake, mode__in=[mode for mode in DatabaseMode if mode.may_notify]
    ).values("db")
    told = Sum("n_paths", filter=Q(db__in=notifying))
    found = rows.aggregate(told=Coalesce(told, 0), every=Coalesce(Sum("n_paths"), 0))
    return PathScope(found["told"], found["every"] - found["told"])


def complete_databases(rows: Sequence[DatabaseFinding], *, user: User) -> None:
    """Set `n_paths_below` on databases, as the person may see, and take off what was dropped."""
    if not rows:
        return
    dropped = dropped_due_by_database(rows[0].lake, [row.db for row in rows])
    sums = OwnerTotals.objects.current(rows[0].lake).for_user(user)
    mine = sums.filter(db__in=[row.db for row in rows]).values_list("db")
    n_paths = dict(mine.annotate(n=Sum("n_paths")).order_by())
    for row in rows:
        of_itself = int(bool(row.reasons))
        for name in ("n_clean_now", "bytes_clean_now"):
            left = getattr(row, name) - getattr(dropped.get(row.db, Due()), name)
            setattr(row, name, max(left, 0))
        row.n_paths_below = max(n_paths.get(row.db, 0) - of_itself, 0)  # type: ignore[attr-defined]  # read beside the row


def trend(lake: str, metrics: list[str], *, today: date) -> dict[str, list[tuple[date, int]]]:
    """Return each metric's points of the last `TREND_DAYS` days, in order of days."""
    rows = TrendPoint.objects.filter(
        lake=lake, metric__in=metrics, day__gt=today - timedelta(days=TREND_DAYS)
    ).order_by("day")
    found: dict[str, list[tuple[date, int]]] = {metric: [] for metric in metrics}
    for metric, day, value in rows.values_list("metric", "day", "value"):
        found[metric].append((day, value))
    return found
