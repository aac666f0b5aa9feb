"""Destroy backups whose days are over: the only irreversible step, all conditions checked again."""

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from typing import Any

from pyspark.sql import SparkSession

from lifecycle.backup.engine.files.backup_root import check_marker
from lifecycle.backup.engine.purge.batches import PurgeBatch, PurgeOrder, PurgeResult, purge_batches
from lifecycle.planning.jobs.acting import acting_tools
from lifecycle.restore.jobs.live_locations import live_locations_under, occupied
from portal.connectors.filesystem import open_file_system
from portal.connectors.metastore import Metastore
from portal.lake.paths import LakePath
from portal.spark.job import JobContext

BUSY = "another run has this backup; the next purge comes by again"


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Purge the claimed batches that fit every condition; returns what became of each, with why."""
    result = PurgeResult()
    for one in job.params["busy"]:
        result.put(one["backup"], one["name"], reason=BUSY)
    claims = job.params["claims"]
    total = len(claims) + result.n_batches
    with Metastore.connect(job.config) as metastore:
        for fence_uri, group in groupby(claims, key=lambda claim: claim["fence"]):
            fence = job.config.path(fence_uri)
            fs = open_file_system(fence, config=job.config)
            day = _day(fence)
            check_marker(fs, day.parent, deployment_id=job.config.deployment_id)
            # Asked for each day, right before it goes: a run over many days takes hours.
            live = live_locations_under(spark, job.config, [day])
            purge_batches(
                PurgeOrder(
                    job.run,
                    _batches(job, group),
                    occupied(spark, job.config),
                    live=live.get(day, ""),
                ),
                acting_tools(job, fs, fence, metastore=metastore),
                result=result,
                report=lambda done, said: job.progress("purge", done, total, said),
            )
    return result.as_dict()


def _day(fence: LakePath) -> LakePath:
    """Return the day's directory above `<day>/purging/<run>/<epoch>`; its parent is the root."""
    return fence.parent.parent.parent


def _batches(job: JobContext, claims: Iterable[dict[str, Any]]) -> tuple[PurgeBatch, ...]:
    return tuple(
        PurgeBatch(
            backup=claim["backup"],
            name=claim["name"],
            directory=job.config.path(claim["directory"]),
            batch=int(claim["batch"]),
            manifest_sha256=claim["manifest_sha256"],
            purge_after=datetime.fromisoformat(claim["purge_after"]),
            n_left=claim.get("n_left"),
        )
        for claim in claims
    )
