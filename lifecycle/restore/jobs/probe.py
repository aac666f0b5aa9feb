"""Look at backups again: late data at live places is registered, damage is reported."""

from typing import Any

from pyspark.sql import SparkSession

from lifecycle.backup.domain.control import Control
from lifecycle.backup.engine.journal.reading import DirectoryNames, read_known_batch
from lifecycle.backup.engine.purge.probes import probe_batch
from lifecycle.backup.engine.settle.batches import SettleTools
from lifecycle.planning.jobs.acting import spread_lister, wall_clock
from lifecycle.restore.jobs.live_locations import occupied
from portal.connectors.filesystem import open_file_system
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotVisible, StaleState
from portal.spark.job import JobContext


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Probe the named batches; a backup that a restore or purge has just now comes next time.

    Told to stop it ends with what it has seen: late data that was registered must be reported.
    """
    probes = job.params["probes"]
    results: list[dict[str, Any]] = []
    busy, stopped, names = 0, "", DirectoryNames()
    with Metastore.connect(job.config) as metastore:
        for n, probe in enumerate(probes, start=1):
            stopped = Control.read(job.control()).stop
            if stopped:
                break
            directory = job.config.path(probe["directory"])
            fs = open_file_system(directory, config=job.config)
            tools = SettleTools(
                fs=fs,
                metastore=metastore,
                lister=spread_lister(job, fs),
                now=wall_clock(),
                may_finish=lambda: False,
            )
            try:
                number, sha256 = int(probe["batch"]), str(probe["sha256"])
                batch = read_known_batch(fs, directory, number, sha256=sha256)
                found = probe_batch(batch, tools, occupied=occupied(spark, job.config), names=names)
            except NotVisible:
                busy += 1
                continue
            except StaleState as error:
                if error.code != "act.claimed":
                    raise
                busy += 1
                continue
            results.append({"probe": probe["probe"], "items": [item.as_dict() for item in found]})
            job.progress("probe", n, len(probes), f"batch {probe['batch']}")
    return {
        "results": results,
        "inspected_at": len(results),
        "found": sum(item["found"] != "CLEAN" for one in results for item in one["items"]),
        "busy": busy,
        "stopped": stopped,
    }
