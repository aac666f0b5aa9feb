"""The one outer door of jobs: `entry.py <module> <spool>` runs `module.run(spark, job)`.

A third argument says how the spool is reached (`spool_access`): the request, which says it too,
lies in it.

Whatever happens ends in the spool's manifest: done with a result, failed with an error that says
what to do, or cancelled. The traceback of the unexpected goes to the process's log only.
"""

import ctypes
import importlib
import logging
import logging.config
import os
import re
import signal
import sys
import traceback
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError, RuleViolation
from portal.log_context import bind_process
from portal.settings.logs import FORMAT_VARIABLE, logging_config
from portal.spark.heartbeat import Heartbeat, heartbeat
from portal.spark.java_names import remember_java_names
from portal.spark.job import CANCELLED, LOGGER, JobContext
from portal.spark.masters.driver_output import DriverOutput
from portal.spark.masters.settings import DEPLOYED_VARIABLE
from portal.spark.masters.spool_access import open_spool
from portal.spark.masters.spool_beat import SpoolBeat
from portal.spark.spool import Spool

_PR_SET_PDEATHSIG = 1
# Only programs of the areas are started: `<area>.<capability>.jobs`, or a module below it.
_JOB = re.compile(r"(lifecycle|refresh|optimizer|quality|pipelines)\.(\w+\.)*jobs(\.\w+)*")


def main(argv: list[str]) -> int:
    """Run one job; 0 when it is done, 1 when its manifest says otherwise."""
    die_with_parent()
    begin_log()
    with heartbeat() as beating:
        return _run(*argv, beating=beating)


def _run(
    module: str, address: str, access: str = "", *, beating: Heartbeat | SpoolBeat | None
) -> int:
    spool = open_spool(address, access)
    job: JobContext | None = None
    output: DriverOutput | None = None
    try:
        if DEPLOYED_VARIABLE in os.environ:
            output = DriverOutput(os.getppid())
            beating = SpoolBeat(open_spool(address, access), output)
            os.environ.update(spool.take_environment())
            begin_log()
        request = spool.read_request()
        _bind(request)
        job = _context(request, spool=spool)
        if beating is not None:
            beating.ask_jvm(job.check_jvm)
        result = _load(module).run(job.spark, job)
        manifest = {"outcome": "done", "error": None, "result": result}
    except PortalError as error:
        cancelled = error.code == CANCELLED
        manifest = _failed("cancelled" if cancelled else "failed", error.as_dict())
    except Exception as error:  # the outer door of jobs
        _say_traceback()
        manifest = _failed("failed", _unexpected(error))
    manifest["log"] = list(job.log_lines) if job else []
    spool.write_manifest(manifest)
    if job is not None:
        _stop(job.spark)
    if isinstance(beating, SpoolBeat):
        beating.close()
    if output is not None:
        output.copy_last(spool)
    return 0 if manifest["outcome"] == "done" else 1


def begin_log() -> None:
    """Write the job's own lines as JSON where the portal does; the JVM's lines stay as they are."""
    if os.environ.get(FORMAT_VARIABLE) == "json":
        config = logging_config("json")
        # Py4J says much of every connection.
        config["root"]["level"] = "WARNING"
        logging.config.dictConfig({**config, "loggers": {LOGGER: {"level": "INFO"}}})


def _bind(request: dict[str, Any]) -> None:
    lake = str(request["lake"].get("lake", ""))
    bind_process(run=str(request["run"]), attempt=str(request["epoch"]), lake=lake)


def _say_traceback() -> None:
    if os.environ.get(FORMAT_VARIABLE) == "json":
        logging.getLogger(LOGGER).exception("The job stopped.")
    else:
        traceback.print_exc()


def die_with_parent() -> None:
    """Ask the kernel to end this driver when the JVM that started it dies (journal.md J4)."""
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _context(request: dict[str, Any], *, spool: Spool) -> JobContext:
    run, epoch = str(request["run"]), int(request["epoch"])
    spark = job_session(f"lw-{run}-{epoch}")
    return JobContext(
        run=run,
        epoch=epoch,
        config=_lake(request["lake"], spark.conf.get("spark.kerberos.keytab", "")),
        params=dict(request.get("params", {})),
        now=datetime.fromisoformat(request["now"]),
        spool=spool,
        spark=spark,
        application_id=str(spark.sparkContext.applicationId),
    )


def _lake(data: dict[str, Any], keytab: str | None) -> LakeConfig:
    """Read the lake's settings, with the keytab where Spark has put it for this driver."""
    config = LakeConfig.from_dict(data)
    if config.kerberos is None or not keytab:
        return config
    return replace(config, kerberos=replace(config.kerberos, keytab=keytab))


def _load(module: str) -> Any:
    if not _JOB.fullmatch(module):
        raise RuleViolation("job.module", f"{module!r} is no job of a room.", module=module)
    return importlib.import_module(module)


def _failed(outcome: str, error: dict[str, object]) -> dict[str, Any]:
    return {"outcome": outcome, "error": error, "result": {}}


def _unexpected(error: Exception) -> dict[str, object]:
    if isinstance(error, Py4JJavaError):
        said = str(error.java_exception).splitlines()[0]
        code, message = "spark.failed", f"Spark failed: {said}"
    elif isinstance(error, Py4JError | ConnectionError):
        code, message = "spark.jvm_gone", "The driver's JVM has gone."
    else:
        code, message = (
            "job.unexpected",
            f"The job stopped on {type(error).__name__}: {error}",
        )
    return {
        "code": code,
        "message": f"{message} The run's log has the details.",
        "fields": {},
    }


def job_session(name: str, *, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return the session of this process; under spark-submit its conf is there already."""
    remember_java_names()
    builder = SparkSession.builder.appName(name)
    shared = {
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.sources.partitionOverwriteMode": "static",
        "spark.sql.parquet.compression.codec": "zstd",
    }
    for key, value in {**shared, **(settings or {})}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    return spark


def _stop(spark: SparkSession) -> None:
    try:
        spark.stop()
    except (Py4JError, ConnectionError):
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
