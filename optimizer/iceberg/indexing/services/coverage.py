"""Takes in how far a table is indexed, as the job that indexed it found."""

from datetime import datetime

from optimizer.core.models import OptimizeTask
from optimizer.iceberg.indexing.domain.wanted import coverage_part
from optimizer.models import IndexCoverage
from portal.access.lakes import get_lake
from portal.runs.models import Run
from portal.runs.results.parquet import result_rows


def coverage_ingest(task: OptimizeTask, *, now: datetime) -> int:
    """Show what a task's job found in place of what was shown; returns how many rows it wrote.

    Called within the transaction that ends the task. Called again it writes the same.
    """
    run = Run.objects.filter(pk=task.run).first() if task.run is not None else None
    if run is None:
        return 0
    table = task.iceberg
    IndexCoverage.objects.filter(table=table).delete()
    n_rows = 0
    uri = f"{run.spool.rstrip('/')}/results"
    for chunk in result_rows(get_lake(run.lake), uri, coverage_part(task.pk)):
        rows = [IndexCoverage(table=table, at=now, **row) for row in chunk]
        n_rows += len(IndexCoverage.objects.bulk_create(rows, batch_size=500))
    return n_rows
