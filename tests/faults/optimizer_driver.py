"""Job processes that rewrite Iceberg tables, forked one after the other so that each can be killed.

Each line of the standard input is an order, each line of the output says how its process ended.
With a gateway's port a process works in the JVM that is there, else it starts one of its own.
"""

import json
import os
import signal
import sys
import threading
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext, java_gateway
from pyspark.sql import SparkSession

from optimizer.iceberg.execution.jobs import optimize
from optimizer.removals.domain.papers import FENCE
from portal.connectors.lake_config import LakeConfig
from portal.safety.fence import LEASE_LENGTH, open_fence
from tests.support.iceberg_lake import IcebergLake, WrittenTable
from tests.support.scan_spark import local_session


def attached() -> SparkSession:
    """Return the session of a JVM that another process started."""
    launch: Any = java_gateway.launch_gateway
    gateway = launch()
    jvm = gateway.jvm
    jsc = jvm.JavaSparkContext(jvm.org.apache.spark.SparkContext.getOrCreate())
    conf = SparkConf(_jvm=jvm, _jconf=jsc.sc().conf())
    return SparkSession(SparkContext(gateway=gateway, jsc=jsc, conf=conf))


def die_at_new_file(folder: Path, pattern: str, known: set[Path], delay: float) -> None:
    """Kill this process and its JVM some time after a new file is begun below a folder."""
    while not any(path not in known for path in folder.rglob(pattern)):
        time.sleep(0.001)
    time.sleep(delay)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def work(order: dict[str, Any]) -> None:
    """Do one order; returns only if nothing killed this process."""
    os.setsid()
    # A job says on its output how far it is; ours is for how processes end.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    os.environ.update(order["environment"])
    is_attached = "PYSPARK_GATEWAY_PORT" in os.environ
    spark = attached() if is_attached else local_session()
    config = LakeConfig.from_dict(order["config"])
    lake = IcebergLake(spark, config, order["db"], Path(order["root"]))
    job = lake.interrupted(*order["tasks"])
    job.now = datetime.fromisoformat(order["now"])
    table = WrittenTable(lake, order["tasks"][0]["table"])
    if any(task.get("removal") for task in order["tasks"]):
        until = datetime.now(UTC) + LEASE_LENGTH * 10
        open_fence(job.spool.fs, job.spool.root.child(FENCE), lease_until=until)
    job.happen(order["at"], lambda: table.say(order["say"]))
    if not is_attached:
        watched, pattern = Path(order["watch"]), order["pattern"]
        known = set(watched.rglob(pattern))
        about = (watched, pattern, known, order["delay"])
        threading.Thread(target=die_at_new_file, args=about, daemon=True).start()
    sys.stderr.write(f"nothing killed it: {optimize.run(spark, job)}\n")


def main() -> None:
    """Fork a process for each order."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                work(json.loads(line))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(3)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{status}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
