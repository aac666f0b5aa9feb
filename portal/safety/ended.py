"""Checks that the application of a run has ended, so that nothing acts behind its fence."""

from datetime import datetime
from typing import Protocol

from portal.lake.errors import ExternalFailure
from portal.runs.domain import HOST_GONE_GRACE
from portal.runs.execution.applications import end_on_cluster, has_driver_elsewhere
from portal.runs.execution.processes import find_by_tag
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.spark.launch import Launched, is_alive
from portal.spark.process_table import host_identity


class Leased(Protocol):
    """A fence of any kind, as far as its lease goes."""

    @property
    def lease_until(self) -> datetime:
        """Return the end of its lease."""


def check_ended(run: Run, fence: Leased, *, now: datetime) -> None:
    """Make sure that nothing of the run's application is left to act.

    On the launching host its process group must be empty, also one that was started and never
    stored; where that host is gone, the lease must have been over for 60 s. The same holds for a
    driver on a cluster that has not said its end: what YARN calls killed may go on, on a node that
    cannot be reached.

    Raises:
        ExternalFailure: `act.alive`, retryable: look again later.
    """
    if _may_act(run, fence, now=now):
        raise ExternalFailure(
            "act.alive",
            "The run's application has not ended yet; it is settled as soon as it has.",
            service="spark",
            retryable=True,
        )


def _may_act(run: Run, fence: Leased, *, now: datetime) -> bool:
    if not run.tag and run.pid is None:
        return False
    if has_driver_elsewhere(run):
        end_on_cluster(run)
        has_said_its_end = bool(run.spool) and open_spool(run).read_manifest() is not None
        return not has_said_its_end and now < fence.lease_until + HOST_GONE_GRACE
    if run.host != host_identity():
        return now < fence.lease_until + HOST_GONE_GRACE
    if run.pid is None or run.pgid is None:
        return find_by_tag(run.tag) is not None
    return is_alive(Launched(run.host, run.pid, run.pid_started or 0.0, run.pgid))
