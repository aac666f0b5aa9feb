"""Look into a big backup: executors read the manifests, `run(spark, job)` gives their sum."""

from typing import Any

from pyspark.sql import SparkSession

from portal.act.contents import Contents, contents_of
from portal.act.journal import read_known_batch, restore_steps
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError
from portal.lake.paths import LakePath
from portal.spark.job import JobContext

_BATCHES_A_SLICE = 25


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Add up what the named batches hold; a changed manifest is a DataSafetyError."""
    known = [(one["path"], int(one["batch"]), one["sha256"]) for one in job.params["batches"]]
    config = job.config.as_dict()
    n_slices = max(1, len(known) // _BATCHES_A_SLICE)
    seen = (
        spark.sparkContext.parallelize(known, n_slices)
        .map(lambda one: _look(config, *one))
        .reduce(_sum)
    )
    if isinstance(seen, PortalError):
        raise seen
    return {"contents": seen.as_dict()}


def _look(config: dict[str, Any], path: str, number: int, sha256: str) -> Contents | PortalError:
    """Read one batch in an executor; what it was refused comes back as it is, not as Spark's."""
    lake, directory = LakeConfig.from_dict(config), LakePath.parse(path)
    try:
        fs = open_file_system(directory, config=lake)
        batch = read_known_batch(fs, directory, number, sha256=sha256)
        return contents_of(batch, restore_steps(fs, directory, number))
    except PortalError as error:
        return error


def _sum(one: Contents | PortalError, other: Contents | PortalError) -> Contents | PortalError:
    if isinstance(one, PortalError):
        return one
    return other if isinstance(other, PortalError) else one.add(other)
