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
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext, java_gateway
from pyspark.sql import SparkSession

from optimizer.jobs import rewrite
from portal.connectors.lake_config import LakeConfig
from tests.support.iceberg_lake import IcebergLake, WrittenTable
from tests.support.scan_spark import local_session


def attached() -> SparkSession:
    """Give the session of a JVM that another process started."""
    launch: Any = java_gateway.launch_gateway
    gateway = launch()
    jvm = gateway.jvm
    jsc = jvm.JavaSparkContext(jvm.org.apache.spark.SparkContext.getOrCreate())
    conf = SparkConf(_jvm=jvm, _jconf=jsc.sc().conf())
    return SparkSession(SparkContext(gateway=gateway, jsc=jsc, conf=conf))


def die_at_first_file(folder: Path) -> None:
    """Kill this process and its JVM as soon as a data file is begun below a folder."""
    while not any(folder.rglob("*.parquet")):
        time.sleep(0.001)
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
    table = WrittenTable(lake, order["tasks"][0]["table"])
    job.happen(order["at"], lambda: table.say(order["say"]))
    if not is_attached:
        watched = Path(order["watch"])
        threading.Thread(target=die_at_first_file, args=(watched,), daemon=True).start()
    sys.stderr.write(f"nothing killed it: {rewrite.run(spark, job)}\n")


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
