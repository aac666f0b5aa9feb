"""The process of a trial that is killed: its order is on the standard input, its JVM is there."""

import json
import sys
from dataclasses import replace

from optimizer.advice.jobs import trial
from portal.connectors.lake_config import LakeConfig
from tests.faults.optimizer_driver import attached
from tests.support.scan_spark import job_for
from tests.support.trials import NOW


def main() -> None:
    """Do the order; returns only if nothing killed this process."""
    order = json.loads(sys.stdin.read())
    spark, config = attached(), LakeConfig.from_dict(order["config"])
    job = replace(job_for(spark, config, order["params"], now=NOW), run=order["run"])
    sys.stderr.write(f"nothing killed it: {trial.run(spark, job)}\n")


if __name__ == "__main__":
    main()
