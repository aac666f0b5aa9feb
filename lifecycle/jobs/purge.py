"""Destroy backups whose days are over: the only irreversible step, all conditions checked again."""

from datetime import date, datetime
from typing import Any

from pyspark.sql import SparkSession

from lifecycle.jobs.acting import acting_tools
from lifecycle.jobs.live_locations import live_locations_under
from portal.act.fence import check_marker
from portal.act.protocol import DropResult
from portal.act.purge import PurgeBatch, PurgeOrder, purge_batches
from portal.connectors.filesystem import open_file_system
from portal.connectors.metastore import Metastore
from portal.spark.job import JobContext


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Purge the claimed batches that fit every condition; gives counts and what stays, with why."""
    claims = job.params["claims"]
    roots = {job.config.path(root) for root in job.config.backup_roots}
    live = live_locations_under(spark, job.config, roots)
    result = DropResult()
    with Metastore.connect(job.config) as metastore:
        for fence_uri in dict.fromkeys(claim["fence"] for claim in claims):
            fence = job.config.path(fence_uri)
            fs = open_file_system(fence, config=job.config)
            root = next(root for root in roots if fence.is_at_or_under(root))
            check_marker(fs, root, deployment_id=job.config.deployment_id)
            # A live place anywhere in the day's directory keeps all of that day.
            day = fence.parent.parent.parent
            order = PurgeOrder(
                run=job.run,
                batches=tuple(_batch(job, c) for c in claims if c["fence"] == fence_uri),
                has_live=any(place.is_at_or_under(day) for place in live),
            )
            result.add(
                purge_batches(
                    order,
                    acting_tools(job, fs, fence, metastore=metastore),
                    report=lambda done, message: job.progress("purge", done, 0, message),
                )
            )
    return result.as_dict()


def _batch(job: JobContext, claim: dict[str, Any]) -> PurgeBatch:
    return PurgeBatch(
        directory=job.config.path(claim["directory"]),
        batch=int(claim["batch"]),
        day=date.fromisoformat(claim["day"]),
        manifest_sha256=claim["manifest_sha256"],
        purge_after=datetime.fromisoformat(claim["purge_after"]),
    )
