"""A Spark session and a job's surroundings in the test's process: scans without spark-submit."""

import os
import sys
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import SparkSession

from portal.connectors.lake_config import LakeConfig
from portal.spark.java_names import remember_java_names
from portal.spark.job import JobContext
from portal.spark.spool import Spool
from stack.places import JARS, jars_of
from stack.process import SHORT_LIVED_JVM
from stack.spark_classes import LOCAL_FILES, LOCAL_FILES_CLASS
from tests.support.scan_lake import NOW, ScanRun

CUBES = "lakewarden.cubes.CubeExtensions"
OUR_JARS = ("spark-functions", "metastore-guard", "indexed-catalog")


def local_session(*, extensions: Sequence[str] = ()) -> SparkSession:
    """Return a local session with our functions and the database drivers on its class path.

    `extensions` come before ours; a process has one session, and the first call makes it.
    """
    remember_java_names()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["LC_ALL"] = "C.UTF-8"
    # Else Spark's workers are the `python3` of the path, which has none of our packages.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    jars = [
        *jars_of("spark"),
        *(JARS / "jvm" / f"{name}.jar" for name in OUR_JARS),
    ]
    builder: Any = SparkSession.builder
    session: SparkSession = (
        builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.adaptive.enabled", "false")
        # Aggregates of tables that have cubes are answered from them; all else is left alone.
        .config("spark.sql.extensions", ",".join([*extensions, CUBES]))
        .config("spark.jars", ",".join(map(str, jars)))
        .config("spark.driver.extraClassPath", ":".join(map(str, [LOCAL_FILES, *jars])))
        .config("spark.hadoop.fs.file.impl", LOCAL_FILES_CLASS)
        # Hudi writes with nothing else.
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
        .config("spark.driver.extraJavaOptions", " ".join(SHORT_LIVED_JVM))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session


def activate(session: SparkSession) -> None:
    """Let Iceberg's source look for names in this session.

    It takes the active one, and PySpark's createDataFrame leaves its own session active: one of an
    earlier test that knows no catalog of this name.
    """
    jvm: Any = session.sparkContext._jvm
    jvm.org.apache.spark.sql.SparkSession.setActiveSession(session._jsparkSession)


def job_for(
    spark: SparkSession, config: LakeConfig, params: Mapping[str, Any], *, now: datetime = NOW
) -> JobContext:
    """Make the surroundings of a fresh run."""
    run = str(uuid.uuid4())
    spool = Spool.for_run(config, run, 1)
    spool.create()
    return JobContext(run, 1, config, dict(params), now, spool, spark)


def scan_here(
    spark: SparkSession, config: LakeConfig, params: Mapping[str, Any], *, now: datetime = NOW
) -> ScanRun:
    """Run a scan in this process and write its manifest as the outer door would."""
    from lifecycle.inventory.jobs import scan

    job = job_for(spark, config, params, now=now)
    manifest: dict[str, Any] = {
        "outcome": "done",
        "error": None,
        "result": scan.run(spark, job),
        "log": [],
    }
    job.spool.write_manifest(manifest)
    return ScanRun(job.spool, manifest)
