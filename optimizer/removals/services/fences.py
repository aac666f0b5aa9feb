"""Gives removing runs their lease and fence, and seals both when they have ended.

The fence is a directory in the run's spool with the lease in it. It is renamed when the run is
settled, after its application has ended: a driver that was given up can announce or delete nothing
more. Quarantines of orphan files (`iceberg.maintenance`) are sealed with it.
"""

from dataclasses import dataclass
from datetime import datetime

from optimizer.removals.domain.papers import FENCE, SEALED
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.safety.ended import check_ended
from portal.safety.fence import LEASE_LENGTH, move_directory, open_fence, read_lease, write_lease


@dataclass(frozen=True, slots=True)
class _Lease:
    lease_until: datetime


def fence_open(run: Run, *, now: datetime) -> None:
    """Make the fence of a run with its lease; twice = the same.

    Raises:
        PortalError: a directory could not be made; the run does not start.
    """
    spool = open_spool(run)
    open_fence(spool.fs, spool.root.child(FENCE), lease_until=now + LEASE_LENGTH)


def fence_beat(run: Run, *, now: datetime) -> None:
    """Renew the lease of a run; one that was sealed stays so."""
    if run.spool:
        spool = open_spool(run)
        write_lease(spool.fs, spool.root.child(FENCE), until=now + LEASE_LENGTH)


def fence_settle(run: Run, *, now: datetime) -> None:
    """Seal the fence of a run whose application has ended; twice = the same.

    Raises:
        ExternalFailure: `act.alive`, retryable: the application has not ended yet.
    """
    if not run.spool:
        return
    spool = open_spool(run)
    fence, sealed = spool.root.child(FENCE), spool.root.child(SEALED)
    try:
        lease = _Lease(read_lease(spool.fs, fence))
    except NotVisible:
        lease = _Lease(now)
    check_ended(run, lease, now=now)
    if spool.fs.status(fence) is not None:
        move_directory(spool.fs, fence, sealed)
