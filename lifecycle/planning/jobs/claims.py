"""Reads the batches that a run has claimed, and makes a job's tools behind their fences."""

from collections.abc import Callable

from lifecycle.backup.engine.journal.reading import names_by_batch
from lifecycle.backup.engine.protocol import Tools
from lifecycle.backup.engine.restore.order import BackupBatchRef
from lifecycle.planning.jobs.acting import acting_tools
from portal.connectors.filesystem import open_file_system
from portal.connectors.metastore import Metastore
from portal.lake.paths import LakePath
from portal.spark.job import JobContext


def claimed_batches(job: JobContext) -> tuple[BackupBatchRef, ...]:
    """Return the batches in their claimed directories, each of which is listed once."""
    names: dict[LakePath, dict[int, tuple[str, ...]]] = {}
    refs = []
    for claim in job.params["claims"]:
        directory, batch = job.config.path(claim["directory"]), int(claim["batch"])
        if directory not in names:
            fs = open_file_system(directory, config=job.config)
            names[directory] = names_by_batch(fs.names(directory))
        told = names[directory].get(batch, ())
        refs.append(BackupBatchRef(directory, batch, claim["manifest_sha256"], told))
    return tuple(refs)


def tools_behind_fences(job: JobContext, metastore: Metastore) -> Callable[[LakePath], Tools]:
    """Return what gives the tools for a claimed directory; those of one fence are made once."""
    fences = {
        job.config.path(claim["directory"]): job.config.path(claim["fence"])
        for claim in job.params["claims"]
    }
    made: dict[LakePath, Tools] = {}

    def tools_of(directory: LakePath) -> Tools:
        fence = fences[directory]
        if fence not in made:
            fs = open_file_system(fence, config=job.config)
            made[fence] = acting_tools(job, fs, fence, metastore=metastore)
        return made[fence]

    return tools_of
