"""Drop and restore by spark-submit: the same whole way on every form of the stack."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pyspark

from lifecycle.backup.domain.layout import SCRIPT
from portal.spark.kerberos import kerberos_environment, kerberos_settings
from portal.spark.masters.hadoop_conf import hadoop_environment
from tests.support.act_jobs import SUBMIT_SECONDS, drop_params, finished, restore_params, start
from tests.support.act_lake import ActLake


def drop_and_restore_by_spark(lake: ActLake, tmp_path: Path) -> None:
    """Drop by an application; one table comes back by its own program, the rest by another one."""
    values = [(value,) for value in lake.odd_values]
    name = lake.make_table("spark_parts", keys=("dt",), values=values, file_format="parquet")
    whole = lake.make_table("spark_whole")
    before, whole_before = lake.snapshot(name), lake.snapshot(whole)
    run, restore = str(uuid.uuid4()), str(uuid.uuid4())
    params = drop_params(lake, name, run, whole)
    log = tmp_path / "drop.log"
    job = start(lake.config, "lifecycle.drop.jobs", params, run=run, log=log)
    result = finished(*job, log)
    assert result["counts"] == {"DROPPED": len(values) + 1}, result
    assert lake.metastore.partition_names(name) == []
    lake.seal(run)
    said = restore_without_us(lake, run, tmp_path, "--table", f"{lake.db}.spark_whole")
    assert said == "done: 1 restore"
    assert lake.snapshot(whole) == whole_before
    params = restore_params(lake, run, restore)
    log = tmp_path / "restore.log"
    job = start(lake.config, "lifecycle.restore.jobs.restore", params, run=restore, log=log)
    result = finished(*job, log)
    assert result["counts"] == {"RESTORED": len(values), "SKIPPED": 1}, result
    lake.release(run, restore)
    assert (lake.snapshot(name), lake.snapshot(whole)) == (before, whole_before)


def restore_without_us(lake: ActLake, run: str, tmp_path: Path, *arguments: str) -> str:
    """Start the program beside the backup as its header says; returns the last line it says."""
    program = lake.day.sealed(run, 1).child(SCRIPT)
    home = Path(pyspark.__file__).parent
    environment = {name: os.environ[name] for name in ("PATH", "JAVA_HOME") if name in os.environ}
    environment |= {
        "LC_ALL": "C.UTF-8",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    if lake.config.hadoop_user:
        environment["HADOOP_USER_NAME"] = lake.config.hadoop_user
    environment |= kerberos_environment(lake.config)
    environment |= hadoop_environment(lake.config, tmp_path)
    settings = {"spark.ui.enabled": "false", **lake.config.spark_conf}
    settings |= kerberos_settings(lake.config, settings)
    confs = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    argv = [str(home / "bin" / "spark-submit"), "--master", "local[1]", *confs]
    done = subprocess.run(
        [*argv, program.path if program.scheme == "file" else str(program), *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=SUBMIT_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return done.stdout.strip().splitlines()[-1]
