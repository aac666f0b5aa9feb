"""Put what a restore brought back into its backup: `run(spark, job)` drives the undo of one."""

from typing import Any

from pyspark.sql import SparkSession

from lifecycle.jobs.acting import acting_tools
from portal.act.protocol import Tools
from portal.act.restore import BackupBatchRef
from portal.act.undo import UndoOrder, undo_batches
from portal.connectors.filesystem import open_file_system
from portal.connectors.metastore import Metastore
from portal.lake.paths import LakePath
from portal.spark.job import JobContext


def run(_spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Take back what stands as the restore left it; gives counts and what stays, with reasons."""
    claims = job.params["claims"]
    fences = {claim["directory"]: job.config.path(claim["fence"]) for claim in claims}
    order = UndoOrder(
        run=job.run,
        epoch=job.epoch,
        lake=job.config.lake,
        restore=job.params["restore"],
        batches=tuple(
            BackupBatchRef(job.config.path(claim["directory"]), int(claim["batch"]))
            for claim in claims
        ),
    )
    with Metastore.connect(job.config) as metastore:
        made: dict[LakePath, Tools] = {}

        def tools_of(directory: LakePath) -> Tools:
            fence = fences[str(directory)]
            if fence not in made:
                fs = open_file_system(fence, config=job.config)
                made[fence] = acting_tools(job, fs, fence, metastore=metastore)
            return made[fence]

        result = undo_batches(
            order,
            tools_of=tools_of,
            report=lambda done, message: job.progress("undo", done, 0, message),
        )
    return result.as_dict()
