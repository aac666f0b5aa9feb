"""Start a Spark program, find it again, end it: spark-submit with an argv list, never a shell.

In client mode the Python driver outlives a killed JVM and the cluster's word does not count, so
a program is alive as long as its process group on the launching host holds a process.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pyspark

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure, StaleState
from portal.lake.readiness import SHOWS_ALL
from portal.spark.heartbeat import BEAT_VARIABLE, write_launched
from portal.spark.kerberos import kerberos_environment, kerberos_settings
from portal.spark.masters.hadoop_conf import hadoop_environment
from portal.spark.masters.settings import is_deployed, is_local
from portal.spark.masters.spool_access import spool_access
from portal.spark.masters.standalone import properties_arguments, standalone_settings
from portal.spark.process_table import group_members, host_identity, host_name, start_seconds

ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("portal", "lifecycle", "refresh", "optimizer", "quality", "pipelines")
_PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "JAVA_HOME",
    "HADOOP_CONF_DIR",
    "LAKEWARDEN_STACK",  # by which a demo ends all that it started
)
NICENESS = 10
_KILL_WAIT_SECONDS = 20.0
_ON_DEMAND = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.executorIdleTimeout": "60s",
    "spark.dynamicAllocation.cachedExecutorIdleTimeout": "60s",
    "spark.dynamicAllocation.shuffleTracking.timeout": "60s",
}
_UMASK = "spark.hadoop.fs.permissions.umask-mode"
# A writer closes its file before the DataNode has told the NameNode of the last block, nearly
# always by a few milliseconds, and waits 400 ms until it asks again. In sum it waits 10 s, as ever.
_SOON_CLOSED = {
    "spark.hadoop.dfs.client.block.write.locateFollowingBlock.initial.delay.ms": "10",
    "spark.hadoop.dfs.client.block.write.locateFollowingBlock.retries": "10",
}
# A local master runs small lakes: compiling well would take longer than the work. Compiled code
# gets the room that it has with all compilers, or it is swept again and again.
_QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"


@dataclass(frozen=True, slots=True)
class Launched:
    """A started program: its host's identity, first process with start time, and group.

    The start time is in seconds after boot.
    """

    host: str
    pid: int
    pid_started: float
    pgid: int


def submit(
    *,
    module: str,
    tag: str,
    spool: str,
    config: LakeConfig,
    log_file: Path,
    environment: Mapping[str, str],
) -> Launched:
    """Run `portal/spark/entry.py <module> <spool>` by spark-submit in its own session.

    Returns once the process exists; how the job ends stands in the spool's manifest.
    """
    log_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log_file.touch(mode=0o600)  # names, paths and values of the lake stand in it
    argv = submit_argv(module=module, tag=tag, spool=spool, config=config, log_file=log_file)
    with log_file.open("ab") as log:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=log_file.parent,
                env={
                    **driver_environment(config, environment),
                    **kerberos_environment(config),
                    **hadoop_environment(config, log_file.parent),
                    BEAT_VARIABLE: str(heartbeat_file(log_file)),
                },
                start_new_session=True,
            )
        except OSError as error:
            raise ExternalFailure(
                "spark.submit",
                f"spark-submit could not be started: {error.strerror}. Is a JDK installed?",
                service="spark",
                retryable=True,
            ) from error
    started = start_seconds(process.pid)
    if runs_driver_here(config):
        write_launched(heartbeat_file(log_file), process.pid)
    # Reaped by a thread: a zombie would stand in the process table as long as this worker lives.
    threading.Thread(target=process.wait, name=f"reap-{process.pid}", daemon=True).start()
    return Launched(host_identity(), process.pid, started or 0.0, process.pid)


def runs_driver_here(config: LakeConfig) -> bool:
    """Whether drivers run on the launching host; elsewhere they cannot beat where it looks."""
    return not is_deployed(config)


def heartbeat_file(log_file: Path) -> Path:
    """Return where a program beats, beside its log on the launching host."""
    return log_file.with_suffix(".beat")


def private(config: LakeConfig) -> LakeConfig:
    """Return a lake's settings for a program whose files are for the portal alone.

    Without it they get the file system's own permissions, for whoever reads a table has to be able
    to read its files. What the lake itself says of them holds in both cases.
    """
    return replace(config, spark_conf={_UMASK: "077", **config.spark_conf})


def waiting(config: LakeConfig) -> LakeConfig:
    """Return a lake's settings for a program that mostly waits: executors come when it works.

    Without it such a program would keep a cluster's cores from all others. What the lake itself
    says of them holds; a local master has none.
    """
    return replace(config, spark_conf={**_ON_DEMAND, **config.spark_conf})


def submit_argv(
    *, module: str, tag: str, spool: str, config: LakeConfig, log_file: Path
) -> list[str]:
    """Return the argv of a submission (also a way to see what would be run)."""
    quick = f" {_QUICK_JVM}" if is_local(config) else ""
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": f"-Duser.timezone=UTC{quick}",
        "spark.executor.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.executorEnv.LC_ALL": "C.UTF-8",
        **_SOON_CLOSED,
        **{f"spark.hadoop.{name}": value for name, value in config.hadoop_conf.items()},
        **config.spark_conf,
        # Readers may hide partitions that are not ready (jvm/ready-partitions); jobs see them all.
        f"spark.hadoop.{SHOWS_ALL}": "true",
        # What jobs read is upkeep; a listener of all drivers tells of people's queries.
        "spark.lakewarden.queries.enabled": "false",
        "spark.yarn.tags": tag,
        "spark.yarn.maxAppAttempts": "1",
        "spark.speculation": "false",
    }
    settings |= standalone_settings(config, settings)
    settings |= kerberos_settings(config, settings)
    argv = [
        str(_spark_home() / "bin" / "spark-submit"),
        "--master",
        config.spark_master,
    ]
    argv += ["--name", tag, *properties_arguments(config)]
    for key, value in sorted(settings.items()):
        argv += ["--conf", f"{key}={value}"]
    if config.spark_jars:
        argv += ["--jars", ",".join(config.spark_jars)]
    if not is_local(config):
        argv += [
            "--py-files",
            str(_zip_packages(log_file.with_suffix(".packages.zip"))),
        ]
    argv += [str(ROOT / "portal" / "spark" / "entry.py"), module, spool]
    return [*argv, *spool_access(config)]


def driver_environment(config: LakeConfig, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the driver's whole environment: nothing of the worker's own secrets is passed on."""
    found = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    found |= {
        "SPARK_HOME": str(_spark_home()),
        "SPARK_SCALA_VERSION": "2.12",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        # Without it the folder of entry.py itself would come first on sys.path.
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
        # The JVM reads file names by the locale: without UTF-8 an odd name is another name.
        "LC_ALL": "C.UTF-8",
    }
    if is_local(config) or "127.0.0.1" in config.spark_master:
        found["SPARK_LOCAL_IP"] = "127.0.0.1"
    if config.hadoop_user is not None:
        found["HADOOP_USER_NAME"] = config.hadoop_user
    return found | dict(environment)


def yield_to_others(launched: Launched, config: LakeConfig) -> None:
    """Let a program that was just started take what others on this machine leave.

    Only with a local master: on a cluster its queues decide.
    """
    if is_local(config):
        with contextlib.suppress(OSError):  # it has ended, or is lower already
            os.setpriority(os.PRIO_PGRP, launched.pgid, NICENESS)


def is_alive(launched: Launched) -> bool:
    """Whether any process of the program's group is left on this host.

    Raises:
        StaleState: the program was launched on another host; only that host can say.
    """
    _check_host(launched)
    leader = start_seconds(launched.pid)
    if leader is not None:
        # With another start time the number is someone else's: ours has gone, group and all.
        return leader == launched.pid_started
    return bool(group_members(launched.pgid))


def kill(launched: Launched) -> None:
    """End the program: SIGKILL to its group, then wait until the group is empty; twice is safe.

    Raises:
        ExternalFailure: processes are still there after 20 s.
    """
    deadline = time.monotonic() + _KILL_WAIT_SECONDS
    while is_alive(launched):
        try:
            os.killpg(launched.pgid, signal.SIGKILL)
        except ProcessLookupError:
            return
        if time.monotonic() > deadline:
            raise ExternalFailure(
                "spark.kill",
                f"Process group {launched.pgid} is still there after {_KILL_WAIT_SECONDS:.0f} s.",
                service="spark",
                retryable=True,
            )
        time.sleep(0.05)


def _check_host(launched: Launched) -> None:
    here = host_identity()
    if launched.host != here:
        raise StaleState(
            "launch.other_host",
            f"The program runs on {host_name(launched.host)}. This is {host_name(here)}, another "
            "host, container or boot, and cannot look there.",
            host=launched.host,
        )


def _spark_home() -> Path:
    return Path(pyspark.__file__).parent


def _zip_packages(target: Path) -> Path:
    """Pack the product's own packages for a driver or executor elsewhere."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in _PACKAGES:
            for file in sorted((ROOT / package).rglob("*.py")):
                archive.write(file, file.relative_to(ROOT))
    return target
