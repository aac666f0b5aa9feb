"""Reads what a table keeps for its queries, since when, and what it was of use lately."""

from datetime import datetime, timedelta

from django.db.models import F, Sum

from optimizer.advice.domain.give_up import Kept
from optimizer.cubes.domain.declared_joins import is_joined
from optimizer.cubes.domain.states import CubeState
from optimizer.iceberg.tables.selectors.scans import SHOWN_DAYS, since
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


def indexes_kept(row: IcebergTable, found: TablePolicy, *, now: datetime) -> list[Kept]:
    """Return the index columns of a table's policy; those of joined tables are left out.

    An index of a joined column is asked by the joins' keys, which no report tells apart.
    """
    columns = found.policy.index_columns
    wanted = [one for one in columns if not is_joined(one.column, row.columns)]
    if not wanted:
        return []
    began = _began(row.lake, found.sources["index_columns"], {str(one) for one in wanted})
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


def _began(lake: str, scope: str, names: set[str]) -> dict[str, datetime]:
    """Return since when a scope's policy has named each column without a break."""
    versions = PolicyVersion.objects.filter(lake=lake, format=TableFormat.ICEBERG, scope=scope)
    began: dict[str, datetime] = {}
    left = set(names)
    for one in versions.order_by("-version")[:MOST_VERSIONS]:
        left &= {str(each) for each in one.values.get("index_columns", ())}
        began |= dict.fromkeys(left, one.at)
    return began
