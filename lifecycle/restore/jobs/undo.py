"""Put what a restore brought back into its backup: `run(spark, job)` drives the undo of one."""

from typing import Any

from pyspark.sql import SparkSession

from lifecycle.backup.engine.undo.batches import UndoOrder, undo_batches
from lifecycle.planning.jobs.claims import claimed_batches, tools_behind_fences
from portal.connectors.metastore import Metastore
from portal.spark.job import JobContext


def run(_spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Take back what stands as the restore left it; gives counts and what stays, with reasons."""
    order = UndoOrder(
        run=job.run,
        epoch=job.epoch,
        lake=job.config.lake,
        restore=job.params["restore"],
        batches=claimed_batches(job),
    )
    with Metastore.connect(job.config) as metastore:
        result = undo_batches(
            order,
            tools_of=tools_behind_fences(job, metastore),
            report=lambda done, message: job.progress("undo", done, 0, message),
        )
    return result.as_dict()
