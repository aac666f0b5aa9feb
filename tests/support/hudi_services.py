"""Orders for the services of Hudi tables, carried out in the test's own Spark session."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from optimizer.hudi.maintenance.jobs import run_services
from portal.connectors.lake_config import LakeConfig
from portal.spark.job import JobContext
from portal.spark.launch import Launched, submit
from tests.support.hudi_lake import HudiTable
from tests.support.scan_spark import job_for

APART = {"hoodie.compact.inline": "false", "hoodie.clean.automatic": "false"}
"""What a table says whose writer neither compacts nor cleans."""

LOCK = {
    "hoodie.write.lock.provider": (
        "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"
    ),
    "hoodie.write.lock.wait_time_ms": "200",
    "hoodie.write.lock.num_retries": "1",
    "hoodie.write.lock.filesystem.expire": "0",
    "hoodie.write.lock.client.num_retries": "1",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "100",
}
SHARED = {
    **LOCK,
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.clean.failed.writes.policy": "LAZY",
}
"""The settings of a writer that shares the lock."""

QUICK = {
    "hoodie.client.heartbeat.interval_in_ms": "1000",
    "hoodie.client.heartbeat.tolerable.misses": "1",
}
"""Of a table whose writers are taken for dead after a second."""


def order(table: HudiTable, service: str, step: str = "EXECUTE", **changed: Any) -> dict[str, Any]:
    """Return one task of a request, with no patience for what is inflight."""
    return {
        "task": 1,
        "db": "hudi",
        "table": table.place.name,
        "location": table.location,
        "service": service,
        "step": step,
        "properties": APART,
        "patience_seconds": 0,
        **changed,
    }


def submitted(
    job: JobContext,
    module: str,
    *,
    config: LakeConfig,
    log_file: Path,
    environment: Mapping[str, str] | None = None,
) -> Launched:
    """Start a program by spark-submit for a job's request; its spool knows the job's own lake."""
    job.spool.write_request(
        {
            "run": job.run,
            "epoch": job.epoch,
            "lake": job.config.as_dict(),
            "params": job.params,
            "now": job.now.isoformat(),
        }
    )
    return submit(
        module=module,
        tag=f"lw-{job.run}-1",
        spool=str(job.spool.root),
        config=config,
        log_file=log_file,
        environment=environment or {},
    )


@dataclass(frozen=True)
class Services:
    """Runs of the program."""

    spark: SparkSession
    config: LakeConfig

    def run(self, *orders: Mapping[str, Any], **control: Any) -> list[dict[str, Any]]:
        """Do some orders as one run; `control` is what its control file says meanwhile."""
        job = job_for(self.spark, self.config, {"tasks": [dict(one) for one in orders]})
        if control:
            job.spool.write_control(control)
        results: list[dict[str, Any]] = run_services.run(self.spark, job)["tasks"]
        return results

    def one(
        self, table: HudiTable, service: str, step: str = "EXECUTE", **changed: Any
    ) -> dict[str, Any]:
        """Do one order as a run of its own."""
        (result,) = self.run(order(table, service, step, **changed))
        return result
