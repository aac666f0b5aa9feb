"""Asks and ends the application of a run, wherever its driver is: on this host, or on a cluster."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from portal.lake.errors import ExternalFailure, PortalError
from portal.runs.execution.cluster_signs import is_beating
from portal.runs.execution.submitted import lake_of
from portal.runs.models import Run
from portal.runs.records.spools import log_file, open_spool
from portal.spark import launch
from portal.spark.launch import Launched
from portal.spark.masters.application import KILL_WAIT_SECONDS, Application
from portal.spark.masters.clusters import cluster_of
from portal.spark.masters.driver_output import OUTPUTS
from portal.spark.masters.settings import is_deployed, is_kubernetes, is_yarn
from portal.spark.process_table import host_identity

# Whoever polls asks again soon, and has other runs to look after.
_LOOK_SECONDS = 2.0
_LOG_BYTES = 256 * 1024


def launched_of(run: Run) -> Launched:
    """Return the stored place of a run's process: its driver, or what submitted it to a cluster."""
    return Launched(run.host, run.pid or 0, run.pid_started or 0.0, run.pgid or 0)


def has_driver_elsewhere(run: Run) -> bool:
    """Whether the driver of a run is on its lake's cluster."""
    return is_deployed(lake_of(run))


def is_on_cluster(run: Run) -> bool:
    """Whether the driver of a run is on a cluster, which can be asked for it."""
    return is_known_to_cluster(run) and has_driver_elsewhere(run)


def is_known_to_cluster(run: Run) -> bool:
    """Whether a run's cluster can be asked for it: YARN also where the driver is on this host."""
    config = lake_of(run)
    return is_yarn(config) or (is_kubernetes(config) and is_deployed(config))


def is_running(run: Run) -> bool:
    """Whether a run's application goes on: a process here, or an application of its tag.

    Raises:
        ExternalFailure: the cluster does not answer, so that nobody can say.
    """
    if run.pid and launch.is_alive(launched_of(run)):
        return True
    return is_running_on_cluster(run)


def is_running_on_cluster(run: Run) -> bool:
    """Whether the cluster has an application of the run's tag that has not ended.

    Raises:
        ExternalFailure: the cluster does not answer, or does not know a driver that beats.
    """
    return is_on_cluster(run) and any(not one.is_final for one in _known_applications(run))


def _known_applications(run: Run) -> list[Application]:
    """Return what the cluster knows of a run; that it knows nothing ends no driver that beats.

    A ResourceManager that lost its state, or an API server that was restored, has forgotten what
    its nodes still run.
    """
    found = applications_of(run)
    if not found and run.spool and is_beating(run):
        name = cluster_of(lake_of(run)).name
        asked = "ResourceManager" if is_yarn(lake_of(run)) else "API server"
        raise ExternalFailure(
            "spark.not_known",
            f"{name} knows no application of {run.tag}, and its driver beats: the run goes on, and "
            f"{name} is asked again. Look at the {asked}.",
            service="spark",
            retryable=True,
        )
    return found


def applications_of(run: Run) -> list[Application]:
    """Return what the cluster knows of a run's current epoch, the newest last."""
    return cluster_of(lake_of(run)).tagged(run.tag)


def kill(run: Run) -> None:
    """End a run's driver here or on its cluster; twice is safe.

    What a driver of this host has on YARN ends when the run is settled.

    Raises:
        ExternalFailure: something is still there, or the cluster does not answer, or does not know
            a driver that beats.
    """
    if run.pid and run.host == host_identity():
        launch.kill(launched_of(run))  # first, so that it submits nothing afterwards
    if is_on_cluster(run) and not end_on_cluster(run, seconds=_LOOK_SECONDS):
        _known_applications(run)


def end_on_cluster(run: Run, *, seconds: float = KILL_WAIT_SECONDS) -> list[str]:
    """End what the cluster has with a run's tag; gives the ids of what had to be ended.

    It then starts nothing more of it. A driver on a node that cannot be reached may go on, and
    is kept from acting by its fence alone.

    Raises:
        ExternalFailure: `spark.kill`, retryable: something is still there after `seconds`; or the
            cluster does not answer.
    """
    if not is_known_to_cluster(run):
        return []
    cluster = cluster_of(lake_of(run))
    deadline = time.monotonic() + seconds
    ended: set[str] = set()
    while going := [one.id for one in cluster.tagged(run.tag) if not one.is_final]:
        for application in going:
            if application not in ended:
                cluster.kill(application)
        ended.update(going)
        if time.monotonic() > deadline:
            raise ExternalFailure(
                "spark.kill",
                f"{cluster.name} was asked to end {', '.join(going)} and still has it.",
                service="spark",
                retryable=True,
            )
        time.sleep(0.1)
    return sorted(ended)


def keep_driver_log(run: Run) -> None:
    """Add the end of what a driver on a cluster wrote to the log that this host keeps of the run.

    It comes from the spool. The node of one that died has its last words too, as long as it serves
    them, and the cluster's own words follow.
    """
    if not is_on_cluster(run):
        return
    file = log_file(run)
    with suppress(PortalError, OSError):
        # Another host than the launching one has none yet.
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
        _append(file, run)


def _append(file: Path, run: Run) -> None:
    with file.open("ab") as log:
        for text in _driver_texts(run):
            log.write(text)


def _driver_texts(run: Run) -> Iterator[bytes]:
    cluster = cluster_of(lake_of(run))
    spool = open_spool(run)
    has_died = spool.read_manifest() is None
    for application in cluster.tagged(run.tag):
        for name in OUTPUTS:
            text = spool.read_output(name)
            if has_died or not text:
                served = cluster.driver_log(application, name, n_bytes=_LOG_BYTES)
                text = _whole_lines(served) or text
            if text:
                yield f"\n--- {name} of the driver, {application.id}\n".encode() + text + b"\n"
        if application.diagnostics:
            yield f"\n--- {cluster.name} on {application.id}\n{application.diagnostics}\n".encode()


def _whole_lines(text: bytes) -> bytes:
    """Return the lines without a first one that is cut: half a secret looks like none."""
    return text[text.find(b"\n") + 1 :] if len(text) == _LOG_BYTES else text
