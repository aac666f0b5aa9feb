"""The Spark program that looks at Hudi tables: timeline, plans, file slices and log blocks.

Many tables in one application, one after the other; their rows are read only where that is asked
for. A table that cannot be looked at is an entry in `failed` and stops nothing; of the others
`looks/<table id>.json` in the spool's results holds a `HudiLook`.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from optimizer.hudi.inspect.jobs.snapshot import Asked, look_at
from optimizer.hudi.tables.jobs.table import OpenedTable, open_table, use_hudi
from portal.lake.errors import PortalError, RuleViolation
from portal.spark.job import JobContext

_PROGRESS_SECONDS = 2.0


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Look at every table of the request: `table_id`, `db`, `table`, `location`.

    Further ones are `properties` (the metastore's), `read_logs` and `read_keys`.
    """
    use_hudi(spark, lake=str(job.config.lake))
    asked = list(job.params.get("tables", ()))
    job.spool.fs.make_directories(job.spool.results.child("looks"), mode=0o700)
    failed: list[dict[str, Any]] = []
    notified_at = float("-inf")
    for n, row in enumerate(asked):
        job.check_control()
        if time.monotonic() - notified_at >= _PROGRESS_SECONDS:
            job.progress("look", n, len(asked), _name(row))
            notified_at = time.monotonic()
        try:
            _look(job, row)
        except PortalError as error:
            job.log(f"{_name(row)}: {error.code}: {error.message}")
            failed.append(
                {"table_id": row.get("table_id"), "code": error.code, "reason": error.message}
            )
    job.progress("look", len(asked), len(asked))
    return {
        "tables": len(asked) - len(failed),
        "failed": failed,
        "requested_at": job.now.isoformat(),
    }


def open_row(job: JobContext, row: Mapping[str, Any]) -> OpenedTable:
    """Open a table of a request.

    Raises:
        PortalError: `hudi.request`, or what `open_table` says.
    """
    try:
        int(row["table_id"])  # it names the file of the look
        location = str(row["location"])
        metastore = {str(k): str(v) for k, v in dict(row.get("properties") or {}).items()}
    except (KeyError, TypeError, ValueError) as error:
        raise RuleViolation(
            "hudi.request", f"{_name(row)}: the request for it cannot be read: {error!r}."
        ) from error
    return open_table(
        job.spark, _name(row), location, lake_zone=job.config.zone, metastore=metastore
    )


def asked_of(row: Mapping[str, Any]) -> Asked:
    """Return how closely a row of a request wants its table looked at."""
    return Asked(bool(row.get("read_logs", True)), bool(row.get("read_keys", False)))


def _look(job: JobContext, row: Mapping[str, Any]) -> None:
    look = look_at(open_row(job, row), asked_of(row), now=job.now)
    path = job.spool.results.child("looks", f"{row['table_id']}.json")
    job.spool.fs.write_new(path, json.dumps(look.as_dict(), sort_keys=True).encode())


def _name(row: Mapping[str, Any]) -> str:
    return f"{row.get('db')}.{row.get('table')}"
