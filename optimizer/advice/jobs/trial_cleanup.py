"""The program `trial_cleanup`: takes away what trials left whose run is over.

A trial cleans up itself; this is for one that was killed, lost its metastore, or had to stop where
it was. It does the same steps again, and finds nothing where they were done.
"""

from typing import Any

from pyspark.sql import SparkSession

from optimizer.advice.jobs.trial_branch import TrialBranch
from optimizer.iceberg.access.jobs.iceberg import open_table, use_iceberg
from portal.lake.errors import PortalError
from portal.safety.failpoints import Failpoints
from portal.spark.job import JobContext


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Clean up after the trials of the request; one that cannot be cleaned stops no other."""
    use_iceberg(spark, job.config)
    found: list[dict[str, Any]] = []
    rows = job.params["trials"]
    for n, row in enumerate(rows):
        job.check_control()
        job.progress("clean", n, len(rows), f"{row['db']}.{row['table']}")
        try:
            table = open_table(spark, row["db"], row["table"], uuid=row["uuid"])
            fail = Failpoints.from_environment()
            branch = TrialBranch(table, row["branch"], row["run"], job.config.deployment_id, fail)
            found.append({"id": row["id"], "said": " ".join(branch.remove())})
        except PortalError as error:
            job.log(f"{row['db']}.{row['table']}: {error.code}: {error.message}")
            found.append({"id": row["id"], "code": error.code, "problem": error.message})
    job.progress("clean", len(rows), len(rows))
    return {"trials": found}
