"""Has recorded scans looked at: of one table when a person asks, of the busiest by schedule."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.db.models import Q, Sum

from optimizer.advice.domain.index_advice import filtered_scans, index_candidates
from optimizer.advice.domain.layout_advice import LEAST_SCANS
from optimizer.advice.domain.states import AdviceState
from optimizer.advice.domain.subjects import Subject
from optimizer.advice.selectors import SHOWN_SHAPES, recorded_shapes, served_by_indexes
from optimizer.advice.services.cube_orders import cube_order
from optimizer.iceberg.indexing.domain.wanted import parse_all_wanted
from optimizer.iceberg.rewrite.domain.layouts import parse_layout
from optimizer.iceberg.tables.selectors.scans import since
from optimizer.models import Advice, IcebergTable
from optimizer.policies.domain.policy import AdviceMode
from optimizer.policies.selectors.policies import LakePolicies, policies_of
from portal.access.models import User
from portal.lake.errors import RuleViolation, StaleState
from portal.runs.models import Run
from portal.runs.requests.services import run_request

KIND = "optimizer.advice"
TABLES_A_RUN = 20
"""Each takes some seconds; the busiest come first, and the rest with the next runs."""
AGAIN_AFTER = timedelta(days=1)
AFTER_NO = timedelta(days=28)
"""What a person dismissed or rolled back comes again on new evidence alone."""


def advice_request(table: IcebergTable, *, user: User, now: datetime) -> Run:
    """Have a short run look at one table's recorded scans; the person must see the table.

    Raises:
        StaleState: `optimizer.gone`. RuleViolation: `advice.scans`, none was recorded.
    """
    if table.is_deleted:
        raise StaleState("optimizer.gone", f"{table} is gone; nothing is done to it.")
    row = _order(table, policies_of(table.lake), now=now)
    if not row["shapes"] and not row["cubes"]:
        raise RuleViolation(
            "advice.scans",
            f"No engine reported a scan of {table} in the last four weeks. Have engines send "
            "Iceberg's scan reports to the portal; docs/operations.md says how.",
        )
    return run_request(
        KIND,
        lake=table.lake,
        params={"tables": [row]},
        requested_by=user.username,
        reason="Advice was asked for.",
        subject=("table", str(table)),
        now=now,
    )


def tables_due(lake: str, *, now: datetime) -> dict[str, Any] | None:
    """Return the params of the scheduled run; None where no table is due."""
    recent = Q(advice_looked_at__gt=now - AGAIN_AFTER)
    refused = Advice.objects.filter(
        table__lake=lake,
        gives_up=False,
        state__in=[AdviceState.DISMISSED, AdviceState.ROLLED_BACK],
        decided_at__gt=now - AFTER_NO,
    )
    busiest = (
        IcebergTable.objects.filter(lake=lake, is_deleted=False, is_paused=False)
        .filter(scan_filters__column="", scan_filters__day__gte=since(now))
        .exclude(recent)
        .exclude(pk__in=refused.values("table"))
        .annotate(n=Sum("scan_filters__n_scans"), planned=Sum("scan_filters__n_bytes"))
        .filter(n__gte=LEAST_SCANS)
        .order_by("-planned", "pk")
    )
    policies = policies_of(lake)
    wanted = (row for row in busiest.iterator(chunk_size=200) if _is_wanted(row, policies))
    found = [_order(row, policies, now=now) for row in islice(wanted, TABLES_A_RUN)]
    return {"tables": found} if found else None


def _is_wanted(row: IcebergTable, policies: LakePolicies) -> bool:
    return policies.of(row.db, row.table).policy.advice is not AdviceMode.OFF


def _order(row: IcebergTable, policies: LakePolicies, *, now: datetime) -> dict[str, Any]:
    policy = policies.of(row.db, row.table).policy
    recorded = recorded_shapes(row, now=now)
    served, open_shapes = served_by_indexes(recorded.shapes, policy.index_columns)
    candidates = index_candidates(filtered_scans(open_shapes), policy.index_columns)
    given_up = _given_up_columns(row, now=now)
    return {
        "id": row.pk,
        "db": row.db,
        "table": row.table,
        "uuid": row.uuid,
        "target_bytes": policy.target_bytes,
        "layout": str(policy.layout),
        "given_up": _given_up_layouts(row, now=now),
        "shapes": _listed(open_shapes),
        "served": _listed(served),
        "n_scans": sum(one["n_scans"] for one in open_shapes),
        "n_bytes": sum(one["n_bytes"] for one in open_shapes),
        "n_days": recorded.n_days,
        "indexes": [str(one) for one in policy.index_columns],
        "candidates": [asdict(one) for one in candidates if one.column not in given_up],
        **cube_order(row, now=now),
    }


def _given_up_columns(row: IcebergTable, *, now: datetime) -> set[str]:
    """Return the columns whose indexes were given up lately, so that advice does not turn round."""
    wanted = parse_all_wanted(_given_up(row, Subject.INDEXES, now=now))
    return {one.column.lower() for one in wanted}


def _given_up_layouts(row: IcebergTable, *, now: datetime) -> list[str]:
    """Return the columns of layouts that were given up lately: no layout of them is tried."""
    layouts = map(parse_layout, _given_up(row, Subject.LAYOUT, now=now))
    return sorted({column.lower() for one in layouts for column in one.columns})


def _given_up(row: IcebergTable, subject: Subject, *, now: datetime) -> list[str]:
    lately = row.advice.filter(
        gives_up=True, subject=subject, state=AdviceState.APPLIED, applied_at__gt=now - AFTER_NO
    )
    named = lately.values_list("evidence", flat=True)
    return [name for evidence in named for name in evidence["columns"]]


def _listed(shapes: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(one) for one in shapes][:SHOWN_SHAPES]
