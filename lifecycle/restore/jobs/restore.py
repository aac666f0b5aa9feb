"""Bring backups back: `run(spark, job)` drives the restore half of the act protocol."""

from typing import Any

from pyspark.sql import SparkSession

from lifecycle.backup.engine.restore.batches import restore_batches
from lifecycle.backup.engine.restore.order import NewName, RestoreOrder
from lifecycle.planning.jobs.claims import claimed_batches, tools_behind_fences
from portal.connectors.metastore import Metastore
from portal.spark.job import JobContext


def run(_spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Restore what was asked and is missing; gives counts and conflicts, with reasons."""
    with Metastore.connect(job.config) as metastore:
        order = _order(job, metastore)
        result = restore_batches(
            order,
            tools_of=tools_behind_fences(job, metastore),
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
        batches=claimed_batches(job),
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
