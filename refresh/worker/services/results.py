"""Records a statement's outcome on each front end, and decides what is next for its table.

One transaction writes it all. A result whose statement was given up meanwhile, because its worker
was taken for dead, is not counted.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from portal.reliability.retry import RetryPolicy, retry_at
from refresh.changes.services import record_changes
from refresh.clusters.domain.frontends import FeState
from refresh.core.domain.answers import (
    Answer,
    ErrorKind,
    FaultSource,
    FeOutcome,
    MetastoreCheck,
    NextStep,
    Outcome,
    RecoveryAction,
    outcomes,
    settle,
)
from refresh.core.services.metastore_reader import ask_again
from refresh.core.services.rate_limit import fe_answered, metastore_answered
from refresh.freshness.domain.coverage import CompletedRefresh, pruned, read_done, write_done
from refresh.freshness.domain.pending_refresh import TableChanges, pending_for, settled
from refresh.freshness.selectors.records import changes_of, records_of_all
from refresh.freshness.services.freshness import judge
from refresh.models import (
    Cluster,
    ClusterFrontEnd,
    Refresh,
    RefreshOutcome,
    RefreshTarget,
    TargetFrontEnd,
    WatchedTable,
)
from refresh.worker.domain.lanes import Lane, Waited, is_own_pace
from refresh.worker.domain.steps import StepKind
from refresh.worker.services.sending import Order, longest

POLICY = RetryPolicy()
UNTIL_MENDED = RetryPolicy(first=timedelta(seconds=10), most_tries=None)
# Whether it lets us in is seen at the next greeting.
_HELD = timedelta(seconds=5)
_PASTS = 5
_GONE = "The metastore has it no more, so the front end gave up what it had of it."
_LOTS = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Result:
    """An answer, and what the metastore said of it where the answer alone leaves a doubt."""

    answer: Answer | None
    asked: MetastoreCheck | None = None

    @property
    def is_taken_in(self) -> bool:
        """Whether the one that took it has it: also when it found out that the table is gone."""
        answer = self.answer
        return (
            answer is None
            or answer.meaning is ErrorKind.PARTIAL
            or (
                answer.meaning is ErrorKind.NAME_UNKNOWN and self.asked is MetastoreCheck.TABLE_GONE
            )
        )

    @property
    def may_still_run(self) -> bool:
        """Whether nobody knows if it ended."""
        return self.answer is not None and self.answer.meaning is ErrorKind.FE_SILENT


def load_result(order: Order, answer: Answer | None) -> Result:
    """Ask the metastore about a doubtful answer; outside any transaction."""
    if answer is None or answer.remedy is not RecoveryAction.ASK_METASTORE:
        return Result(answer)
    row = Refresh.objects.select_related("target__watched").get(pk=order.refresh_id)
    return Result(answer, ask_again(row.target.watched, list(order.partitions)))


def end(order: Order, result: Result, *, now: datetime) -> bool:
    """Write what came of a statement, once; False if it does not count any more."""
    with transaction.atomic():
        row = _claim(order.refresh_id)
        if row is None:
            return False
        # Whoever notes a change takes the same lock first: none comes in between unseen.
        row.target.watched = WatchedTable.objects.select_for_update().get(pk=row.target.watched_id)
        fes = list(ClusterFrontEnd.objects.filter(cluster_id=row.cluster_id))
        coordinator = next((fe for fe in fes if fe.name == row.coordinator), None)
        found = _outcomes(result, row, coordinator, fes)
        changes = changes_of(row.target.watched)
        _write_row(row, result, found, now=now)
        done = CompletedRefresh(row.began_at, now, frozenset(order.partitions))
        _write_fes(row, done, found, fes=fes, changes=changes)
        _write_target(row, result, changes, waited=_waited(row, found, fes), now=now)
    if coordinator is not None:
        _tell_breakers(row, coordinator, result, now=now)
    judge([row.target])
    return True


def give_up(refresh: Refresh, *, now: datetime) -> None:
    """Call a statement lost whose worker is gone; it may still run where it was sent."""
    with transaction.atomic():
        row = _claim(refresh.pk)
        if row is None:
            return
        row.ending, row.ended_at = RefreshOutcome.LOST, now
        row.message = "Its worker ended before the answer came."
        row.save(update_fields=["ending", "ended_at", "message"])
        row.target.watched = WatchedTable.objects.select_for_update().get(pk=row.target.watched_id)
        row.target.steps, row.target.problem = None, row.message
        _try_later(row, now=now, unsure=True)


# -- inside ----------------------------------------------------------------------------------


def _claim(pk: int) -> Refresh | None:
    # Locked by itself: MariaDB cannot lock one table of a join.
    locked = Refresh.objects.select_for_update().filter(pk=pk, ending=RefreshOutcome.RUNNING)
    if not locked.values_list("pk", flat=True):
        return None
    return Refresh.objects.select_related("target__watched", "target__cluster").get(pk=pk)


def _outcomes(
    result: Result, row: Refresh, coordinator: ClusterFrontEnd | None, fes: list[ClusterFrontEnd]
) -> Mapping[str, FeOutcome]:
    """Say by name what it came to; whoever failed for itself has asked nobody else."""
    answer = result.answer
    if coordinator is not None and (answer is None or answer.meaning is ErrorKind.PARTIAL):
        text = None if answer is None else answer.text
        return outcomes(text, coordinator=coordinator.as_listed, every=[fe.as_listed for fe in fes])
    others = Outcome.UNKNOWN if result.may_still_run else Outcome.NOT_ASKED
    found = {fe.name: FeOutcome(others) for fe in fes}
    reason = answer.short if answer else ""
    if result.is_taken_in:
        found[row.coordinator] = FeOutcome(Outcome.DONE, reason)
    else:
        mine = Outcome.UNKNOWN if result.may_still_run else Outcome.FAILED
        found[row.coordinator] = FeOutcome(mine, reason)
    return found


def _write_row(
    row: Refresh, result: Result, found: Mapping[str, FeOutcome], *, now: datetime
) -> None:
    answer = result.answer
    row.ended_at = now
    row.ending = RefreshOutcome.DONE if result.is_taken_in else RefreshOutcome.FAILED
    if answer is not None:
        row.code = answer.code
        row.message = _GONE if result.is_taken_in and result.asked is not None else answer.short
        if answer.meaning is ErrorKind.PARTIAL:
            row.ending = RefreshOutcome.PARTIAL
    row.on_fes = {name: [one.outcome.value, one.reason] for name, one in found.items()}
    row.save(update_fields=["ended_at", "ending", "code", "message", "on_fes"])


def _write_fes(
    row: Refresh,
    done: CompletedRefresh,
    found: Mapping[str, FeOutcome],
    *,
    fes: list[ClusterFrontEnd],
    changes: TableChanges,
) -> None:
    now = done.ended_at
    oldest = _oldest_change(changes)
    for fe in fes:
        one = found.get(fe.name)
        if one is None or one.outcome is Outcome.NOT_ASKED:
            continue
        mine, _ = TargetFrontEnd.objects.get_or_create(target=row.target, fe=fe)
        if one.outcome is Outcome.DONE:
            known = (*read_done(mine.done), done)
            mine.done = write_done(pruned(known, now=now, unsettled_since=oldest))
            mine.done_at, mine.n_tries, mine.problem = now, 0, ""
        else:
            mine.n_tries += 1
            mine.problem = one.reason
        mine.save(update_fields=["done", "done_at", "n_tries", "problem"])


def _waited(
    row: Refresh, found: Mapping[str, FeOutcome], fes: list[ClusterFrontEnd]
) -> list[Waited]:
    return [
        Waited(
            was_silent=fe.state is not FeState.ALIVE
            or (fe.silent_at is not None and fe.silent_at >= row.began_at),
            failure=one.reason if one.outcome is Outcome.FAILED else None,
        )
        for fe in fes
        if (one := found.get(fe.name)) is not None
    ]


def _oldest_change(changes: TableChanges) -> datetime | None:
    moments = [at for at, _ in changes.partitions.values()]
    return min([*moments, *filter(None, (changes.table_changed_at,))], default=None)


def _write_target(
    row: Refresh, result: Result, changes: TableChanges, *, waited: list[Waited], now: datetime
) -> None:
    target = row.target
    if result.is_taken_in:
        if is_own_pace(waited):
            _remember(row, now=now)
        target.steps = (target.steps or [])[1:]
        if target.steps:
            target.only_on = target.steps[0]["on"]
            target.n_tries = 0
            _release(row, not_before=None)
            return
        _settle(row, changes, now=now)
        return
    answer = result.answer
    target.problem = answer.short if answer else ""
    if answer is not None and answer.remedy is RecoveryAction.HOLD:
        held = ClusterFrontEnd.objects.filter(cluster_id=row.cluster_id, name=row.coordinator)
        held.update(login_refused=answer.short)
        target.steps = None
        _release(row, not_before=now + _HELD)
        return
    if answer is not None and answer.remedy is RecoveryAction.RETRY_UNTIL_MENDED:
        target.steps = None
        _try_later(row, now=now, policy=UNTIL_MENDED)
        return
    if answer is not None and answer.remedy is RecoveryAction.GIVE_UP:
        _rest(row, f"{answer.short} It is not tried again by itself.", now=now)
        return
    if answer is not None and answer.remedy is RecoveryAction.READ_NAMES:
        Cluster.objects.filter(pk=row.cluster_id).update(names_read_at=None)
    _retry(row, result, now=now)


def _retry(row: Refresh, result: Result, *, now: datetime) -> None:
    target = row.target
    target.steps = None
    is_planned_again = result.asked is not None and settle(result.asked) in (
        NextStep.PLAN_AGAIN,
        NextStep.DROP_TABLE,
    )
    if is_planned_again and not target.n_tries:
        # At once, but only once: a front end that contradicts the metastore is no reason to hurry.
        target.n_tries = 1
        _release(row, not_before=None)
    else:
        _try_later(row, now=now, unsure=result.may_still_run)


def _try_later(
    row: Refresh, *, now: datetime, unsure: bool = False, policy: RetryPolicy = POLICY
) -> None:
    target = row.target
    target.n_tries += 1
    at = retry_at(target.n_tries, now=now, lot=_LOTS.random(), policy=policy)
    if at is None:
        _rest(row, f"Given up after {target.n_tries} tries: {target.problem}", now=now)
    else:
        _release(row, not_before=at, unsure=unsure)


def _settle(row: Refresh, changes: TableChanges, *, now: datetime) -> None:
    """Forget what nobody owes any more; ask again those that can be asked and still owe."""
    target = row.target
    watched = target.watched
    found = records_of_all(list(watched.targets.all()))
    every = [record for fes in found.values() for _, record in fes]
    record_changes.settle(watched, settled(changes, every), read=changes)
    target.steps = None
    mine = [fe for _, fe in found[target.pk] if fe.state is FeState.ALIVE]
    owed = [at for fe in mine for at, _ in pending_for(fe, changes).values()]
    if owed:
        target.problem = row.message
        if target.waits_since is not None:
            # What it took in has waited; what came since has its own place behind the others, or
            # a table that changes all the time would come first for ever.
            target.waits_since = max(target.waits_since, min(now, *owed))
        if row.ending == RefreshOutcome.DONE:
            # A follower whose clock runs ahead: nothing sent before its instant can count.
            _release(row, not_before=watched.changed_at if watched.changed_at > now else None)
        else:
            _try_later(row, now=now)
        return
    _rest(row, "", now=now)


def _release(row: Refresh, *, not_before: datetime | None, unsure: bool = False) -> None:
    """Let the target wait again, at its old place."""
    target = row.target
    target.running_since, target.running_on = None, ""
    target.not_before = not_before
    if unsure:
        target.steps = None
        target.outcome_unknown_kind = row.kind
        target.outcome_unknown_until = row.began_at + timedelta(seconds=longest(Lane(row.lane)))
    target.save(
        update_fields=[
            "running_since", "running_on", "not_before", "steps", "only_on", "n_tries", "problem",
            "past", "outcome_unknown_kind", "outcome_unknown_until", "waits_since",
        ]
    )  # fmt: skip


def _rest(row: Refresh, problem: str, *, now: datetime) -> None:
    """Take the target out of the queue, unless more changed while the statement ran."""
    target = row.target
    target.problem, target.steps, target.n_tries = problem, None, 0
    if problem and target.watched.changed_at > row.began_at:
        _release(row, not_before=now + POLICY.longest)
        return
    _release(row, not_before=None)
    RefreshTarget.objects.filter(pk=target.pk).update(
        due_at=None, waits_since=None, lane=None, is_urgent=False
    )


def _remember(row: Refresh, *, now: datetime) -> None:
    """Keep how long the last few statements of this kind took, for the next one's lane."""
    target = row.target
    n = row.n_partitions if row.kind == StepKind.PARTITIONS else target.watched.n_partitions or 0
    seconds = (now - row.began_at).total_seconds()
    target.past = {
        **target.past,
        row.kind: [*target.past.get(row.kind, []), [round(seconds, 3), n]][-_PASTS:],
    }


def _tell_breakers(
    row: Refresh, coordinator: ClusterFrontEnd, result: Result, *, now: datetime
) -> None:
    suspect = result.answer.suspect if result.answer else FaultSource.NOBODY
    fe_answered(coordinator, is_well=suspect is not FaultSource.FRONT_END, now=now)
    if suspect is not FaultSource.FRONT_END:
        is_well = suspect is not FaultSource.METASTORE
        metastore_answered(row.target.watched.lake, is_well=is_well, now=now)
