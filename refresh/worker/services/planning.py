"""Plans the statements of a waiting table, and their lane, from rows and one inspection.

The plan is stored with the target; changes that come later make the next plan. Planning twice
does no harm, and nothing is sent here.
"""

from collections import defaultdict
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from portal.lake.errors import ExternalFailure, PortalError
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import record_change, settle
from refresh.clusters.domain.frontends import FeState
from refresh.core.domain.versions import oldest
from refresh.core.services.metastore_reader import Look, hive_of, look
from refresh.core.services.rate_limit import metastore_answered, metastore_may
from refresh.freshness.domain.freshness import is_renewed_whole
from refresh.freshness.domain.pending_refresh import (
    Attempt,
    TableChanges,
    as_in_metastore,
    next_attempt,
    settled,
)
from refresh.freshness.domain.visibility import FeRecord
from refresh.freshness.selectors.records import changes_of, records_of, records_of_all
from refresh.freshness.services.freshness import judge
from refresh.models import RefreshTarget, TargetFrontEnd, WatchedTable
from refresh.worker.domain.lanes import (
    Pace,
    Past,
    expected_seconds,
    lane_of,
    measured,
    n_loaded,
    statement_size,
)
from refresh.worker.domain.steps import (
    OutcomeUnknown,
    Step,
    StepKind,
    StepLimits,
    follow,
    steps_for,
)

PACE = Pace()
LIMITS = StepLimits()
# A table of which nothing is known is renewed whole once, so that it can be called fresh at all.
_WHOLE_AT_FIRST = 5_000
_HOLD_SECONDS = 5.0
_AGAIN = timedelta(seconds=5)
_OTHERS = 20


def plan(target: RefreshTarget, *, now: datetime) -> None:
    """Look at the metastore and store what is to be sent; a metastore that is away is waited for.

    A target that no front end that can be asked owes anything leaves the queue.
    """
    watched = target.watched
    if not metastore_may(watched.lake, now=now):
        _wait(target, "The metastore does not answer; it is asked again in a while.", now=now)
        return
    changes = changes_of(watched)
    try:
        seen = look(hive_of(watched), sorted(changes.partitions))
    except PortalError as error:
        if isinstance(error, ExternalFailure):
            metastore_answered(watched.lake, is_well=False, now=now)
        _wait(target, error.message, now=now)
        return
    metastore_answered(watched.lake, is_well=True, now=now)
    with transaction.atomic():
        changes = _correct(watched, changes, seen, now=now)
    fes = records_of(target)
    attempt = _attempt(target, changes, fes)
    if attempt is None:
        _leave(target)
        return
    asked = [fe for fe in fes if fe.state is FeState.ALIVE and attempt.only_on in ("", fe.name)]
    is_known = all(is_renewed_whole(changes, fe) for fe in asked)
    if not is_known and seen.n_partitions <= _WHOLE_AT_FIRST:
        attempt = replace(attempt, pending=replace(attempt.pending, whole=True))
    _store(target, attempt, seen, fes=fes, now=now)


def _correct(
    watched: WatchedTable, changes: TableChanges, seen: Look, *, now: datetime
) -> TableChanges:
    """Write what the metastore has: of a table that is gone only the table itself is owed."""
    watched.is_deleted = not seen.found.exists
    watched.inspected_at = now
    watched.n_partitions = seen.n_partitions
    if seen.found.exists:
        watched.owner = seen.owner
        watched.is_partitioned = seen.found.is_partitioned
        watched.save(
            update_fields=["is_deleted", "inspected_at", "n_partitions", "owner", "is_partitioned"]
        )
    else:
        watched.save(update_fields=["is_deleted", "inspected_at", "n_partitions"])
    changes = replace(changes, is_partitioned=seen.found.is_partitioned)
    if changes.partitions and not seen.found.is_partitioned:
        return _as_whole(watched, changes)
    corrected = as_in_metastore(changes, seen.found.partitions, unready=seen.unready)
    wrong = defaultdict[PartitionChange, list[str]](list)
    for name, (_, touch) in corrected.partitions.items():
        if changes.partitions[name][1] is not touch:
            wrong[touch].append(name)
    newest = max((at for at, _ in changes.partitions.values()), default=now)
    for touch, names in wrong.items():
        record_change(watched, names, touch, until=newest)
    return corrected


def _as_whole(watched: WatchedTable, changes: TableChanges) -> TableChanges:
    """Make changes of partitions that can be none one of the table, if none came meanwhile."""
    newest = max(at for at, _ in changes.partitions.values())
    table_changed_at = max(filter(None, (changes.table_changed_at, newest)))
    WatchedTable.objects.filter(pk=watched.pk, table_changed_at=changes.table_changed_at).update(
        table_changed_at=table_changed_at
    )
    watched.changed.filter(at__lte=newest).delete()
    return replace(changes, table_changed_at=table_changed_at, partitions={})


def _attempt(target: RefreshTarget, changes: TableChanges, fes: list[FeRecord]) -> Attempt | None:
    rows = TargetFrontEnd.objects.filter(target=target)
    return next_attempt(
        target.external,
        changes,
        fes,
        tries=dict(rows.values_list("fe__name", "n_tries")),
        causes=frozenset(map(Cause, target.watched.causes)),
    )


def _store(
    target: RefreshTarget, attempt: Attempt, seen: Look, *, fes: list[FeRecord], now: datetime
) -> None:
    dialect = oldest(fe.dialect for fe in fes)
    steps = steps_for(
        attempt.pending, found=seen.found, dialect=dialect, limits=_limits(target, seen)
    )
    unsure = None
    if target.outcome_unknown_until is not None:
        unsure = OutcomeUnknown(StepKind(target.outcome_unknown_kind), target.outcome_unknown_until)
    steps, not_before = follow(steps, unsure, dialect=dialect, now=now)
    if not_before is not None:
        _wait(target, "An earlier statement may still run.", now=now, until=not_before)
        return
    alive = [fe.name for fe in fes if fe.state is FeState.ALIVE]
    sent = [one for step in steps for one in _sent(step, attempt.only_on, alive)]
    seconds = max((_expected(target, step, seen) for step in steps), default=0.0)
    # A plan for another hour than this one's is not stored over one that runs.
    RefreshTarget.objects.filter(pk=target.pk, running_since=None).update(
        steps=sent,
        only_on=sent[0]["on"],
        lane=lane_of(seconds, pace=PACE),
        expected_seconds=seconds,
        is_urgent=attempt.pending.is_urgent,
        not_before=None,
    )


def _limits(target: RefreshTarget, seen: Look) -> StepLimits:
    past = _past(target, StepKind.PARTITIONS)
    pace = max((one.seconds / max(1, one.n_partitions) for one in past), default=0.0)
    size = statement_size(
        seconds_a_partition=pace, hold_seconds=_HOLD_SECONDS, most=LIMITS.per_statement
    )
    # Naming most of a small table is dearer than all of it.
    by_name = min(LIMITS.most_by_name, max(size, seen.n_partitions // 2))
    return StepLimits(most_by_name=by_name, per_statement=size)


def _sent(step: Step, only_on: str, alive: list[str]) -> list[dict[str, Any]]:
    takers = alive if step.everywhere else [only_on]
    return [
        {"kind": step.kind.value, "partitions": list(step.partitions), "on": coordinator}
        for coordinator in takers
    ]


def _expected(target: RefreshTarget, step: Step, seen: Look) -> float:
    n = n_loaded(step, n_in_table=seen.n_partitions)
    past = _past(target, step.kind)
    pace = PACE if past else measured(PACE, _pasts_of_others(target, step.kind))
    return expected_seconds(n, past=past, pace=pace)


def _pasts_of_others(target: RefreshTarget, kind: StepKind) -> list[Past]:
    """Return what the largest tables of the catalog took lately."""
    rows = RefreshTarget.objects.filter(cluster=target.cluster_id, catalog=target.catalog)
    rows = rows.filter(watched__n_partitions__gte=1).order_by("-watched__n_partitions")[:_OTHERS]
    return [
        Past(seconds, n)
        for past in rows.values_list("past", flat=True)
        for seconds, n in past.get(kind.value, [])
    ]


def _past(target: RefreshTarget, kind: StepKind) -> list[Past]:
    return [Past(seconds, n) for seconds, n in target.past.get(kind.value, [])]


def _wait(
    target: RefreshTarget, reason: str, *, now: datetime, until: datetime | None = None
) -> None:
    RefreshTarget.objects.filter(pk=target.pk).update(
        not_before=until or now + _AGAIN, problem=reason
    )


def _leave(target: RefreshTarget) -> None:
    """Take a target out of the queue, unless more changed since it was read.

    What was heard of only after a refresh had taken it in is forgotten, if nobody else owes it.
    """
    with transaction.atomic():
        watched = WatchedTable.objects.select_for_update().get(pk=target.watched_id)
        if watched.changed_at == target.watched.changed_at:
            RefreshTarget.objects.filter(pk=target.pk, running_since=None).update(
                due_at=None,
                waits_since=None,
                steps=None,
                lane=None,
                is_urgent=False,
                n_tries=0,
                problem="",
            )
            changes = changes_of(watched)
            found = records_of_all(list(watched.targets.all()))
            every = [record for fes in found.values() for _, record in fes]
            settle(watched, settled(changes, every), read=changes)
    judge([target])
