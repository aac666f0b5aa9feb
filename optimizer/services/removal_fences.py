"""Gives removing runs their lease and fence, and seals both when they have ended.

The fence is a directory in the run's spool with the lease in it, and for each list of orphan files
the quarantine directory beside its table. Both are renamed when the run is settled, after its
application has ended: a driver that was given up can announce, move or delete nothing more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from optimizer.domain.policy import DEFAULT
from optimizer.domain.quarantine import QuarantineState
from optimizer.domain.removal_papers import ACTING, FENCE, SEALED
from optimizer.domain.removal_states import RemovalState
from optimizer.domain.tasks import TaskKind
from optimizer.models import Quarantine, RemovalPlan
from optimizer.services.quarantine_places import QUARANTINE_OF, OpenedQuarantine, quarantine_make
from portal.lake.errors import NotVisible
from portal.runs.kinds import RunKind
from portal.runs.models import Run
from portal.runs.spools import open_spool
from portal.safety.ended import check_ended
from portal.safety.fence import LEASE_LENGTH, move_directory, open_fence, read_lease, write_lease
from portal.safety.selectors import red_button_wait


@dataclass(frozen=True, slots=True)
class _Lease:
    lease_until: datetime


class FencedKind(RunKind):
    """A run that deletes: it has a lease, and is settled like every run that acts."""

    acting = True

    def request(self, run: Run) -> dict[str, Any]:
        """Tell the job that it acts under the run's lease."""
        return {**super().request(run), ACTING: True}

    def beat(self, run: Run) -> None:
        """Pass a stop on, then renew the lease."""
        pressed = red_button_wait(run.lake)
        if pressed and run.spool:
            open_spool(run).write_control({"cancel": True, "by": "red button", "why": pressed})
        else:
            super().beat(run)
        fence_beat(run, now=timezone.now())

    def settle(self, run: Run) -> None:
        """Seal what the run could act on."""
        fence_settle(run, now=timezone.now())


def fence_open(run: Run, *, now: datetime) -> None:
    """Make the fence of a run with its lease, and the quarantines of its lists; twice = the same.

    Raises:
        PortalError: a directory could not be made; the run does not start.
    """
    spool = open_spool(run)
    open_fence(spool.fs, spool.root.child(FENCE), lease_until=now + LEASE_LENGTH)
    for plan in _orphan_lists(run.pk):
        quarantine_make(plan)


def fence_beat(run: Run, *, now: datetime) -> None:
    """Renew the lease of a run; one that was sealed stays so."""
    if run.spool:
        spool = open_spool(run)
        write_lease(spool.fs, spool.root.child(FENCE), until=now + LEASE_LENGTH)


def fence_settle(run: Run, *, now: datetime) -> None:
    """Seal the fence and the quarantines of a run whose application has ended; twice = the same.

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
    for plan in _orphan_lists(run.pk):
        if QUARANTINE_OF in plan.facts:
            quarantine_keep(plan, now=now)


def quarantine_keep(plan: RemovalPlan, *, now: datetime) -> Quarantine | None:
    """Seal the quarantine of a list and record what lies there; None where nothing does.

    The row is made from the directory, whatever the run says of it. Twice gives the same row.
    """
    opened = OpenedQuarantine.of(plan)
    if not opened.seal():
        return None
    if opened.is_empty(opened.place.held):
        opened.clear(opened.place.held)
        return None
    files = opened.files(opened.place.held)
    # A list that was drawn up before there was a quarantine states no days.
    days = int(plan.facts.get("quarantine_days", DEFAULT.quarantine_days))
    row, _ = Quarantine.objects.get_or_create(
        plan=plan,
        defaults={
            "directory": str(opened.place.held),
            "state": QuarantineState.HELD,
            "n_files": len(files),
            "n_bytes": sum(one.size for one in files),
            "moved_at": now,
            "delete_after": now + timedelta(days=days),
        },
    )
    return row


def _orphan_lists(run_id: UUID) -> Iterator[RemovalPlan]:
    plans = RemovalPlan.objects.filter(run=run_id, kind=TaskKind.ORPHANS, table__isnull=False)
    yield from plans.filter(state=RemovalState.RUNNING).select_related("table")
