"""Watches applied advice: from when its scans count, and whether it has paid.

One that has not is rolled back by itself, in the name of who applied it; the page says so before.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from optimizer.advice.domain.layout_advice import has_paid
from optimizer.advice.domain.states import AdviceState
from optimizer.advice.domain.subjects import Subject
from optimizer.advice.selectors import planned_since, stopped_cube_of
from optimizer.advice.services.advised_cubes import advised_cube_watch
from optimizer.advice.services.decisions import advice_roll_back, advice_stopped
from optimizer.advice.services.proposals import advice_outdate
from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.cubes.domain.states import CubeState
from optimizer.models import Advice, OptimizeTask
from portal.access.models import User
from portal.lake.errors import PortalError, StaleState

_LAID_OUT = (TaskKind.CLUSTER, TaskKind.FULL, TaskKind.MAJOR)
DONE_BY: Mapping[Subject, Sequence[TaskKind]] = {
    Subject.LAYOUT: _LAID_OUT,
    Subject.INDEXES: (TaskKind.INDEX, *_LAID_OUT),
}
"""Kinds of tasks that write rows in the order of the policy's layout, or build its indexes."""

logger = logging.getLogger(__name__)


def advice_watch(lake: str, *, now: datetime) -> None:
    """Begin to count where a rewrite or build has ended, count, and take back what does not pay.

    Called again at any time; what cannot be taken back stays applied, and is tried again.
    """
    applied = Advice.objects.filter(table__lake=lake, state=AdviceState.APPLIED, is_open=True)
    for row in applied.select_related("table"):
        if row.subject == Subject.CUBE:
            _watch_cube(row, now=now)
        elif row.measured_from is None:
            _start(row, now=now)
        else:
            _count(row, row.measured_from)
            if has_paid(row.measured, row.n_after or 0) is False:
                _take_back(row, _too_little(row), now=now)
    _outdate_stopped(lake, now=now)


def _watch_cube(row: Advice, *, now: datetime) -> None:
    """Take in what somebody did to the cube; else count, and take back what answers too little."""
    cube = stopped_cube_of(row)
    if cube is None:
        if reason := advised_cube_watch(row, now=now):
            _take_back(row, reason, now=now)
        return
    try:
        advice_stopped(row, cube, now=now)
    except StaleState:
        logger.info("Advice %s on %s was decided meanwhile.", row.pk, row.table)


def _outdate_stopped(lake: str, *, now: datetime) -> None:
    """Outdate advice to pause cubes that somebody paused or dropped already."""
    waiting = Advice.objects.filter(
        table__lake=lake, state=AdviceState.NEW, subject=Subject.CUBE, gives_up=True
    )
    for row in waiting.select_related("table"):
        active = row.table.cubes.filter(name=row.proposed, state=CubeState.ACTIVE)
        if not active.exists():
            advice_outdate(row.table, Subject.CUBE, gives_up=True, now=now)


def _start(row: Advice, *, now: datetime) -> None:
    """Count from the end of the first such task after the policy took it."""
    ended = OptimizeTask.objects.filter(
        table=row.table,
        kind__in=DONE_BY[Subject(row.subject)],
        state__in=[TaskState.DONE, TaskState.PARTIAL],
        ended_at__gt=row.applied_at,
    )
    if ended.exists():
        n, n_bytes = planned_since(row, now.astimezone(UTC).date())
        Advice.objects.filter(pk=row.pk, measured_from=None).update(
            measured_from=now, n_already=n, bytes_already=n_bytes
        )


def _count(row: Advice, since: datetime) -> None:
    """Keep what scans planned since; sums of days that are forgotten by now count no more."""
    n, n_bytes = planned_since(row, since.astimezone(UTC).date())
    if n > row.n_already:
        row.n_after, row.bytes_after = n - row.n_already, max(0, n_bytes - row.bytes_already)
        row.save(update_fields=["n_after", "bytes_after"])


def _too_little(row: Advice) -> str:
    return (
        f"By itself: {row.n_after} scans since planned {row.measured_percent:.0f} % of what such "
        f"scans planned before; {row.expected_percent:.0f} % were expected."
    )


def _take_back(row: Advice, reason: str, *, now: datetime) -> None:
    user = User.objects.filter(username=row.decided_by, is_active=True).first()
    if user is None:
        return
    try:
        advice_roll_back(row, user=user, reason=reason, now=now)
    except PortalError as error:
        logger.warning("Advice %s on %s stays applied: %s", row.pk, row.table, error.message)
