"""Reads what a table keeps for its queries, since when, and what it was of use lately."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import Count, F, Q, Sum

from optimizer.advice.domain.give_up import Kept
from optimizer.core.domain.tasks import TaskKind
from optimizer.cubes.domain.declared_joins import is_joined
from optimizer.cubes.domain.states import CubeState
from optimizer.iceberg.rewrite.domain.layouts import parse_layout
from optimizer.iceberg.tables.selectors.scans import SHOWN_DAYS, since
from optimizer.iceberg.tables.services.scans import MOST_A_DAY
from optimizer.models import IcebergTable, PolicyVersion, ReportSender
from optimizer.policies.domain.formats import TableFormat
from optimizer.policies.selectors.policies import TablePolicy
from optimizer.pruning.domain import KIND as NARROW
from portal.runs.models import Run

REPORTS_WITHIN = timedelta(days=7)
MOST_VERSIONS = 100
"""Of a policy that are looked through for when it first named a column; the rest is too old."""


def readers_report(lake: str, *, now: datetime) -> bool:
    """Whether some reader of the lake reported lately what indexes and cubes saved it."""
    return ReportSender.objects.filter(lake=lake, reported_at__gt=now - REPORTS_WITHIN).exists()


def is_narrowed(lake: str, *, now: datetime) -> bool:
    """Whether queries were narrowed to files in four weeks: what that saved is in no report."""
    first = now - timedelta(days=SHOWN_DAYS)
    return Run.objects.filter(lake=lake, kind=NARROW, queued_at__gt=first).exists()


def is_overwritten(row: IcebergTable, *, now: datetime) -> bool:
    """Whether writers replaced data files in four weeks, as merges and overwrites do."""
    first = now - timedelta(days=SHOWN_DAYS)
    return row.commits.filter(operation="overwrite", is_ours=False, at__gt=first).exists()


def is_cut(row: IcebergTable, *, now: datetime) -> bool:
    """Whether a day of four weeks has as many filters as are summed, so that others may lack."""
    days = row.scan_filters.filter(day__gte=since(now)).order_by().values("day")
    return days.annotate(n=Count("pk")).filter(n__gte=MOST_A_DAY).exists()


def layout_kept(row: IcebergTable, found: TablePolicy, *, now: datetime) -> Kept | None:
    """Return the layout of a table's policy, with the scans that filter any of its columns.

    One with columns of joined tables is left out: scans of the table do not name them.
    """
    layout = found.policy.layout
    if not layout or any(is_joined(one, row.columns) for one in layout.columns):
        return None
    named = Q(column__in=[one.lower() for one in layout.columns])
    days = row.scan_filters.filter(named, day__gte=since(now))
    first = now - timedelta(days=SHOWN_DAYS)
    rewrites = row.tasks.filter(kind=TaskKind.CLUSTER, layout=str(layout), ended_at__gt=first)
    seconds = rewrites.aggregate(n=Sum("seconds"))["n"] or 0.0
    return Kept(
        str(layout),
        _began(row.lake, found.sources["layout"], {str(layout)}, _layout_named).get(str(layout)),
        days.aggregate(n=Sum("n_scans"))["n"] or 0,
        0,
        seconds / SHOWN_DAYS,
    )


def indexes_kept(row: IcebergTable, found: TablePolicy, *, now: datetime) -> list[Kept]:
    """Return the index columns of a table's policy; those of joined tables are left out.

    An index of a joined column is asked by the joins' keys, which no report tells apart.
    """
    columns = found.policy.index_columns
    wanted = [one for one in columns if not is_joined(one.column, row.columns)]
    if not wanted:
        return []
    began = _began(
        row.lake, found.sources["index_columns"], {str(one) for one in wanted}, _indexes_named
    )
    used = dict(
        row.index_uses.filter(day__gte=since(now))
        .order_by()
        .values_list("column")
        .annotate(n=Sum("n_files"))
    )
    sizes = dict(row.index_coverage.order_by().values_list("column").annotate(n=Sum("n_bytes")))
    return [
        Kept(
            str(one),
            began.get(str(one)),
            used.get(one.column, 0),
            sizes[one.column],
        )
        for one in wanted
        if one.column in sizes
    ]


def cubes_kept(row: IcebergTable, *, now: datetime) -> list[Kept]:
    """Return the cubes of a table that are built, and that have been there in their present form.

    A definition that was changed counts from its change.
    """
    cubes = row.cubes.filter(is_there=True, state=CubeState.ACTIVE, built_at__isnull=False)
    first = now - timedelta(days=SHOWN_DAYS)
    versions = dict(cubes.filter(versions__version=F("version")).values_list("pk", "versions__at"))
    used = dict(
        cubes.filter(uses__day__gte=since(now)).values_list("pk").annotate(n=Sum("uses__n_queries"))
    )
    seconds = dict(
        cubes.filter(builds__at__gte=first).values_list("pk").annotate(n=Sum("builds__seconds"))
    )
    return [
        Kept(
            one.name,
            versions.get(one.pk),
            used.get(one.pk, 0),
            one.n_bytes or 0,
            (seconds.get(one.pk) or 0.0) / SHOWN_DAYS,
        )
        for one in cubes.order_by("name")
    ]


def _began(
    lake: str, scope: str, names: set[str], named: Callable[[PolicyVersion], set[str]]
) -> dict[str, datetime]:
    """Return since when a scope's policy has had each name without a break."""
    versions = PolicyVersion.objects.filter(lake=lake, format=TableFormat.ICEBERG, scope=scope)
    began: dict[str, datetime] = {}
    left = set(names)
    for one in versions.order_by("-version")[:MOST_VERSIONS]:
        left &= named(one)
        began |= dict.fromkeys(left, one.at)
    return began


def _indexes_named(version: PolicyVersion) -> set[str]:
    return {str(one) for one in version.values.get("index_columns", ())}


def _layout_named(version: PolicyVersion) -> set[str]:
    return {str(parse_layout(version.values.get("layout", "")))}
