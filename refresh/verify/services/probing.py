"""Detects a front end that answers from other data than the metastore's. One probe of one table.

A probe can only disprove, and proves nothing while anything moves: it counts when the table was
quiet before and after it, and the metastore said the same both times.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction

from portal.lake.errors import PortalError
from portal.lake.lines import fitted
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import Change, note_change
from refresh.clusters.services.front_ends import login_of
from refresh.core.domain.clock import Clock
from refresh.core.domain.versions import Dialect, oldest
from refresh.core.services.metastore_reader import hive_of
from refresh.freshness.domain.coverage import read_done
from refresh.freshness.domain.freshness import Freshness
from refresh.freshness.services.freshness import judge
from refresh.models import (
    ClusterFrontEnd,
    Refresh,
    RefreshTarget,
    TargetFrontEnd,
    TargetProbe,
    WatchedTable,
)
from refresh.verify.domain.probing import disproofs
from refresh.verify.services.divergence_mails import divergences_tell
from refresh.verify.services.probe_reader import Pictures, Truth, pictures_of, truth_of

_log = logging.getLogger(__name__)
# What a refresh does not repair is shown, not refreshed again and again.
_MEND_EVERY = timedelta(hours=1)
_PROBLEM_LENGTH = 1000


def probe(target: RefreshTarget, *, clock: Clock) -> list[str] | None:
    """Probe a table on every front end that can be asked; returns the names of the disproved ones.

    None: nothing could be concluded. What contradicts is shown as diverged and refreshed whole.
    """
    began = clock()
    before = _quiet(target, now=began)
    if before is None or not _claimed(target, now=began):
        return None
    try:
        truth = truth_of(target, clock=clock)
        if truth is None:
            return None
        pictures = pictures_of(target, truth, login=login_of(target.cluster), now=began)
        if not pictures.found or truth_of(target, clock=clock) != truth:
            _keep_problem(target, pictures)
            return None
    except PortalError as error:
        _log.warning("%s was not probed: %s", target, error.message)
        TargetProbe.objects.filter(target=target).update(problem=error.message)
        return None
    wrong = _conclude(target, before, pictures, truth, began=began, now=clock())
    _keep_problem(target, pictures)
    if wrong is not None:
        divergences_tell(target, now=clock())
    return wrong


# -- inside ----------------------------------------------------------------------------------


def _quiet(target: RefreshTarget, *, now: datetime, lock: bool = False) -> datetime | None:
    """Give the table's last change if nothing is owed or runs; whoever notes one takes the lock."""
    rows = WatchedTable.objects.select_for_update() if lock else WatchedTable.objects.all()
    watched = rows.filter(pk=target.watched_id, is_deleted=False).first()
    resting = RefreshTarget.objects.filter(pk=target.pk, due_at=None, running_since=None)
    resting = resting.exclude(freshness=Freshness.STALE).exclude(outcome_unknown_until__gt=now)
    return watched.changed_at if watched is not None and resting.exists() else None


@transaction.atomic
def _conclude(
    target: RefreshTarget,
    before: datetime,
    pictures: Pictures,
    truth: Truth,
    *,
    began: datetime,
    now: datetime,
) -> list[str] | None:
    """Write what the probe has shown, if nothing moved while it ran."""
    ran = Refresh.objects.filter(target=target, began_at__gte=began)
    if _quiet(target, now=began, lock=True) != before or ran.exists():
        return None
    fes = ClusterFrontEnd.objects.in_bulk(pictures.found)
    places = {key: fe.place for key, fe in fes.items()}
    wrong = disproofs({place: pictures.found[key] for key, place in places.items()}, truth.picture)
    for key, fe in fes.items():
        row, _ = TargetFrontEnd.objects.get_or_create(target=target, fe=fe)
        row.probed_at = began
        if places[key] in wrong:
            row.diverged_at, row.divergence_reason = began, wrong[places[key]]
        elif _is_withdrawn(row):
            row.diverged_at, row.divergence_reason = None, ""
        row.save(update_fields=["probed_at", "diverged_at", "divergence_reason"])
    judge([target])
    if wrong:
        _log.warning("%s diverged: %s", target, wrong)
        _mend(target, truth, now=now)
    return sorted(wrong)


def _keep_problem(target: RefreshTarget, pictures: Pictures) -> None:
    """Keep why front ends could not be probed, so that their silence is not read as agreement."""
    said = "; ".join(dict.fromkeys(pictures.problems.values()))
    TargetProbe.objects.filter(target=target).update(problem=fitted(said, _PROBLEM_LENGTH))
    on_fes = TargetFrontEnd.objects.filter(target=target)
    on_fes.filter(fe__in=pictures.found).exclude(probe_problem="").update(probe_problem="")
    for key, problem in pictures.problems.items():
        row, _ = TargetFrontEnd.objects.get_or_create(target=target, fe_id=key)
        row.probe_problem = problem
        row.save(update_fields=["probe_problem"])


def _is_withdrawn(row: TargetFrontEnd) -> bool:
    """Whether an earlier disproof fell: the table was refreshed since, and a probe agrees now."""
    at = row.diverged_at
    return at is not None and any(
        one.began_at > at and not one.partitions for one in read_done(row.done)
    )


def _mend(target: RefreshTarget, truth: Truth, *, now: datetime) -> None:
    """Let the table be refreshed whole; before catalogs that takes naming each partition."""
    due = TargetProbe.objects.filter(target=target).exclude(repaired_at__gt=now - _MEND_EVERY)
    if not due.update(repaired_at=now):
        return
    fes = ClusterFrontEnd.objects.filter(cluster_id=target.cluster_id)
    is_old = oldest(fe.dialect for fe in fes) is Dialect.RESOURCES
    touched = dict.fromkeys(truth.names, PartitionChange.UPDATED) if is_old else {}
    change = Change(hive_of(target.watched), Cause.SWEEP, whole=True, partitions=touched)
    note_change(change, now=now)


def _claimed(target: RefreshTarget, *, now: datetime) -> bool:
    """Take the probe of this time; False if another took it."""
    row, _ = TargetProbe.objects.get_or_create(target=target)
    mine = TargetProbe.objects.filter(pk=row.pk, probed_at=row.probed_at)
    return bool(mine.update(probed_at=now))
