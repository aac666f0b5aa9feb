"""Fresh processes for the bench of change capture, each with a Spark session of its own.

Whatever is compared runs in a process that nothing else has warmed or filled, with one heap and
both compilers: a cluster's JVMs have them, and a local master of the portal has not.
"""

import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from pyspark.sql import SparkSession

from bench.cdc_source import digest_sql
from portal.spark.java_names import remember_java_names
from stack.places import JARS, jars_of

HEAP = "3g"
Found = TypeVar("Found")
_LEVEL = "ERROR"


def apart(step: Callable[..., Found], *values: Any, **named: Any) -> Found:
    """Call a function in a process of its own, and return what it returns."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(step, *values, **named).result()


def session() -> SparkSession:
    """Return this process's session: two cores, the heap that all have, Hudi and the driver."""
    remember_java_names()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["LC_ALL"] = "C.UTF-8"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    wanted = ("mariadb-java-client", "hudi-spark")
    jars = [jar for jar in jars_of("spark") if jar.name.startswith(wanted)]
    # Hudi is loaded by Spark's own loader, else its classes are not found by the serializer.
    jars = [*jars, JARS / "jvm" / "spark-functions.jar"]
    builder: Any = SparkSession.builder
    spark: SparkSession = (
        builder.master("local[2]")
        .config("spark.driver.memory", HEAP)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.extraClassPath", ":".join(map(str, jars)))
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
        .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel(_LEVEL)
    return spark


def digest(spark: SparkSession, location: str) -> tuple[str, ...]:
    """Return count and sums of a Hudi table as texts, as the source prints its own."""
    spark.read.format("hudi").load(location).createOrReplaceTempView("asked")
    moment = "date_format(ordered_at, 'yyyy-MM-dd HH:mm:ss')"
    statement = digest_sql("asked", moment).replace("as char(40)", "as string")
    return tuple(str(one) for one in spark.sql(statement).collect()[0])


def jvm_pid(spark: SparkSession) -> int:
    """Return the process number of the session's JVM."""
    jvm: Any = spark.sparkContext._jvm
    return int(jvm.java.lang.ProcessHandle.current().pid())


def peaks(spark: SparkSession) -> dict[str, float]:
    """Return the peaks of the JVM so far in MB: all its memory, and its heap."""
    jvm: Any = spark.sparkContext._jvm
    pools = jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    heap = sum(one.getPeakUsage().getUsed() for one in pools if str(one.getType()) == "Heap memory")
    status = Path(f"/proc/{jvm_pid(spark)}/status").read_text(encoding="ascii")
    (line,) = [one for one in status.splitlines() if one.startswith("VmHWM")]
    return {"memory_mb": round(int(line.split()[1]) / 1024), "heap_mb": round(heap / 2**20)}
