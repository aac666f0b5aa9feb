"""Bring backups back: `run(spark, job)` drives the restore half of the act protocol."""

from typing import Any

from pyspark.sql import SparkSession

from lifecycle.jobs.acting import acting_tools
from portal.act.protocol import Tools
from portal.act.restore import BackupBatchRef, NewName, RestoreOrder, restore_batches
from portal.connectors.filesystem import open_file_system
from portal.connectors.metastore import Metastore
from portal.lake.paths import LakePath
from portal.spark.job import JobContext


def run(_spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Restore what was asked and is missing; gives counts and conflicts, with reasons."""
    claims = job.params["claims"]
    fences = {claim["directory"]: job.config.path(claim["fence"]) for claim in claims}
    with Metastore.connect(job.config) as metastore:
        order = _order(job, metastore)
        made: dict[LakePath, Tools] = {}

        def tools_of(directory: LakePath) -> Tools:
            fence = fences[str(directory)]
            if fence not in made:
                fs = open_file_system(fence, config=job.config)
                made[fence] = acting_tools(job, fs, fence, metastore=metastore)
            return made[fence]

        result = restore_batches(
            order,
            tools_of=tools_of,
            report=lambda done, message: job.progress("restore", done, 0, message),
        )
    return result.as_dict()


def _order(job: JobContext, metastore: Metastore) -> RestoreOrder:
    params = job.params
    wanted = params.get("items")
    return RestoreOrder(
        run=job.run,
        epoch=job.epoch,
        lake=job.config.lake,
        batches=tuple(
            BackupBatchRef(job.config.path(claim["directory"]), int(claim["batch"]))
            for claim in params["claims"]
        ),
        partitions=None if wanted is None else frozenset(wanted),
        new_name=_new_name(job, metastore),
        only_missing=bool(params.get("only_missing")),
    )


def _new_name(job: JobContext, metastore: Metastore) -> NewName | None:
    asked = job.params.get("rename_to")
    if not asked:
        return None
    if asked.get("location"):
        location = job.config.path(asked["location"])
        return NewName(asked["db"], asked["table"], location, into=bool(asked.get("into")))
    home = job.config.path(metastore.database(asked["db"]).locationUri)
    return NewName(asked["db"], asked["table"], home.child(asked["table"]))
