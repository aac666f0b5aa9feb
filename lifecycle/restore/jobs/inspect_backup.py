"""Look into a big backup: executors read the manifests, `run(spark, job)` gives their sum."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any

from pyspark.sql import SparkSession

from lifecycle.backup.domain.layout import read_restore_file
from lifecycle.backup.engine.journal.contents import Contents, contents_of
from lifecycle.backup.engine.journal.reading import read_known_batch, restore_steps
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError
from portal.lake.paths import LakePath
from portal.spark.job import JobContext
from portal.spark.masters.executors import can_log_in

_BATCHES_A_SLICE = 25
_READERS = 8
Known = tuple[str, int, str]


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Add up what the named batches hold; a changed manifest is a DataSafetyError."""
    known = [(one["path"], int(one["batch"]), one["sha256"]) for one in job.params["batches"]]
    config, context = job.config.as_dict(), spark.sparkContext
    paths = sorted({path for path, _, _ in known})
    if not can_log_in(job.config):
        return _answer(_looked_here(config, known, paths))
    names = context.broadcast(
        dict(
            context.parallelize(paths, min(len(paths), 4 * context.defaultParallelism))
            .map(lambda path: (path, _restore_names(config, path)))
            .collect()
        )
    )
    seen = (
        context.parallelize(known, max(1, len(known) // _BATCHES_A_SLICE))
        .map(lambda one: _look(config, one, names.value[one[0]]))
        # As a tree: the driver gets a few sums, not one of each slice.
        .treeReduce(_sum)
    )
    return _answer(seen)


def _answer(seen: Contents | PortalError) -> dict[str, Any]:
    if isinstance(seen, PortalError):
        raise seen
    return {"contents": seen.as_dict()}


def _looked_here(
    config: dict[str, Any], known: Sequence[Known], paths: Sequence[str]
) -> Contents | PortalError:
    """Read all batches in the driver."""
    names = {path: _restore_names(config, path) for path in paths}
    with ThreadPoolExecutor(_READERS) as pool:
        return reduce(_sum, pool.map(lambda one: _look(config, one, names[one[0]]), known))


def _restore_names(config: dict[str, Any], path: str) -> list[str] | PortalError:
    """List a directory once, for all its batches: all items of a run lie there."""
    lake, directory = LakeConfig.from_dict(config), LakePath.parse(path)
    try:
        names = open_file_system(directory, config=lake).names(directory)
    except PortalError as error:
        return error
    return [name for name in names if read_restore_file(name)]


def _look(
    config: dict[str, Any], known: Known, names: list[str] | PortalError
) -> Contents | PortalError:
    """Read one batch in an executor; what it was refused comes back as it is, not as Spark's."""
    if isinstance(names, PortalError):
        return names
    path, number, sha256 = known
    lake, directory = LakeConfig.from_dict(config), LakePath.parse(path)
    try:
        fs = open_file_system(directory, config=lake)
        batch = read_known_batch(fs, directory, number, sha256=sha256)
        return contents_of(batch, restore_steps(fs, directory, number, names=names))
    except PortalError as error:
        return error


def _sum(one: Contents | PortalError, other: Contents | PortalError) -> Contents | PortalError:
    if isinstance(one, PortalError):
        return one
    return other if isinstance(other, PortalError) else one.add(other)
