"""Shows the first rows of a materialization to those who may see the rows of its sources.

They are rows of the lake in the portal's database, so they are few, cut, read only when somebody
asks, and deleted after a day. Whoever reads them is recorded.
"""

from datetime import datetime, timedelta

from django.db import transaction

from pipelines.materialized.domain.messages import Refreshed
from pipelines.materialized.services.definitions import definition_read
from pipelines.materialized.services.requests import KIND, open_runs_of
from pipelines.materialized.services.rights import check_sources
from pipelines.models import Materialization, MaterializationPreview
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.services import audit_record
from portal.connectors.metastore import Metastore
from portal.lake.errors import RuleViolation
from portal.runs.models import Run
from portal.runs.requests.services import run_request

KEPT = timedelta(days=1)
_AT_ONCE = 1_000


def preview_request(row: Materialization, *, user: User, now: datetime) -> Run:
    """Have it refreshed, and its first rows read; while that waits or runs, the run is returned.

    Raises:
        NotAllowed: `materialized.rows`; RuleViolation: `materialized.source`.
        RuleViolation: `materialized.preview`, the lake keeps no rows in the portal.
        ExternalFailure: the metastore does not answer.
    """
    _check(row, user)
    with transaction.atomic():
        known = Materialization.objects.select_for_update().get(pk=row.pk)
        for run in open_runs_of(known):
            if run.params.get("is_preview"):
                return run
        return run_request(
            KIND,
            lake=known.lake,
            params={"ids": [known.pk], "is_full": False, "is_preview": True},
            requested_by=user.username,
            subject=("table", str(known)),
            now=now,
        )


def preview_read(
    row: Materialization, *, user: User, now: datetime
) -> MaterializationPreview | None:
    """Return the first rows, if they were read in the last day; each look is recorded.

    Raises:
        As `preview_request`.
    """
    _check(row, user)
    found = MaterializationPreview.objects.filter(materialization=row, taken_at__gt=now - KEPT)
    preview = found.first()
    if preview is not None:
        audit_record(
            "materialized.rows_read",
            actor=user.username,
            lake=row.lake,
            object_type="materialization",
            object_id=str(row),
            data={"rows": len(preview.rows)},
            now=now,
        )
    return preview


def preview_take(row: Materialization, found: Refreshed, *, now: datetime) -> None:
    """Keep the rows that a refresh read of a definition, in the place of those before."""
    if found.preview is not None and get_lake(row.lake).check_samples:
        rows = [list(values) for values in found.preview.rows]
        MaterializationPreview.objects.update_or_create(
            materialization=row,
            defaults={"columns": list(found.preview.columns), "rows": rows, "taken_at": now},
        )


def previews_trim(lake: str, *, now: datetime) -> int:
    """Delete rows that are too old, or all of a lake that keeps none; returns of how many."""
    rows = MaterializationPreview.objects.filter(materialization__lake=lake)
    if get_lake(lake).check_samples:
        rows = rows.filter(taken_at__lte=now - KEPT)
    old = list(rows.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE])
    MaterializationPreview.objects.filter(pk__in=old).delete()
    return len(old)


def _check(row: Materialization, user: User) -> None:
    config = get_lake(row.lake)
    if not config.check_samples:
        raise RuleViolation(
            "materialized.preview",
            f"The lake {row.lake} keeps no rows in the portal (`check_samples` of its settings). "
            f"Query {row} with an engine.",
        )
    with Metastore.connect(config) as metastore:
        check_sources(metastore, config.lake, definition_read(row.sql), user=user)
