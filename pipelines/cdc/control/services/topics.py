"""Takes in what the program that applies changes tells of topics: it reads them itself."""

import logging
from datetime import UTC, datetime

from pipelines.cdc.applying.domain.messages import PipelineReport
from pipelines.cdc.control.domain.spec import SourceKind
from pipelines.cdc.control.domain.states import Desired
from pipelines.cdc.control.services.reports import minute_add, schemas_take
from pipelines.cdc.control.services.sources import open_changelog
from pipelines.cdc.control.services.trimming import changelog_trim
from pipelines.models import Pipeline
from portal.lake.errors import PortalError

_log = logging.getLogger(__name__)
_MILLISECONDS = 1_000


def topics_take(row: Pipeline, told: PipelineReport, *, now: datetime) -> None:
    """Take in how far the reading of topics is; a report that was lost is made up for."""
    if told.state != "running":
        Pipeline.objects.filter(pk=row.pk).update(heard_at=now)
        return
    newest = datetime.fromtimestamp(told.newest_at / _MILLISECONDS, UTC) if told.newest_at else None
    behind = max(0.0, (now - newest).total_seconds()) if newest and told.n_behind else 0.0
    n_new = max(0, told.n_read - row.n_rows)
    Pipeline.objects.filter(pk=row.pk).update(
        heard_at=now,
        position_at=newest or row.position_at,
        seconds_behind=behind,
        n_behind=told.n_behind,
        n_rows=row.n_rows + n_new,
        batch=max(row.batch, told.batch),
    )
    minute_add(row, n_rows=n_new, capture_lag=behind, batch=told.batch, now=now)


def topics_hear(lake: str, *, now: datetime) -> None:
    """Take in the schemas of a lake's topics, and remove batches that are applied and old."""
    rows = Pipeline.objects.filter(lake=lake, kind=SourceKind.TOPICS.value)
    for row in rows.filter(desired=Desired.RUNNING.value):
        try:
            log = open_changelog(row)
            schemas_take(row, log.schemas(), now=now)
            changelog_trim(row, log, now=now)
        except PortalError as error:
            # The next beat tries again; the program itself says what is wrong with the spool.
            _log.warning("%s: %s: %s", row, error.code, error.message)
            continue
        row.tables.filter(loaded_at=None).update(loaded_at=now)
