"""Decides if a person may run a service step now, on which instants, and if it needs approval.

Blackout windows, thresholds and what the policy does by itself do not bind people; what keeps
writer and services apart does, and so does damage that a service would make last.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import NoReturn

from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.domain.timeline import Silence, pending, silence_of
from optimizer.hudi.maintenance.domain.recovery import NOTHING_LEFT_OUT, left_out
from optimizer.hudi.maintenance.domain.services import Ruling, may, may_roll_back
from optimizer.hudi.maintenance.domain.tasks import ACTIONS, HudiTask, Service, Step, oldest_first
from optimizer.hudi.planner.domain.needs import Case, RecentActivity, compaction, executions
from optimizer.policies.domain.hudi_policy import HudiPolicy
from portal.lake.counts import count_words
from portal.lake.errors import RuleViolation, StaleState

_NOTHING = "hudi.nothing"


def wish_of(
    look: HudiInspection,
    policy: HudiPolicy,
    wish: HudiTask,
    *,
    lately: RecentActivity,
    now: datetime,
) -> HudiTask:
    """Return the task of a request, its instants, and whether people approve it first.

    A request without instants means all on which it may be done.

    Raises:
        RuleViolation: `hudi.` and the rule that forbids it.
        StaleState: `hudi.nothing`, `hudi.not-pending`, and where waiting helps.
    """
    case = Case.of(look, policy, replace(lately, failed={}), now)
    if wish.service is Service.ROLLBACK:
        return _rollback(case, wish)
    ruling = may(look, policy, wish.service, wish.step)
    _check(ruling)
    if wish.service is Service.TTL:
        return _by_age(case, wish, ruling)
    if wish.service is Service.RECOVERY:
        return _recovery(case, wish, ruling)
    if wish.step is Step.SCHEDULE:
        return _plan(case, wish)
    return _execution(case, wish, ruling)


def _plan(case: Case, wish: HudiTask) -> HudiTask:
    is_compaction = wish.service is Service.COMPACTION
    if compaction(case).code == "damaged" if is_compaction else bool(case.damaged):
        raise RuleViolation(
            "hudi.damaged",
            f"Damaged: {count_words(len(case.damaged), 'file group')}. {wish.service} would make "
            "the damage last; repair it first, as the findings of the table say.",
        )
    return replace(wish, instants=(), needs_approval=False)


def _by_age(case: Case, wish: HudiTask, ruling: Ruling) -> HudiTask:
    if not case.policy.ttl_days:
        raise RuleViolation(
            "hudi.ttl-days",
            "Its policy keeps partitions for ever, so none is too old: set ttl_days first.",
        )
    return replace(wish, instants=(), needs_approval=ruling.needs_approval)


def _recovery(case: Case, wish: HudiTask, ruling: Ruling) -> HudiTask:
    if not left_out(case.look):
        raise StaleState(_NOTHING, NOTHING_LEFT_OUT)
    return replace(wish, instants=(), needs_approval=ruling.needs_approval)


def _execution(case: Case, wish: HudiTask, ruling: Ruling) -> HudiTask:
    plans = [one.instant for one in pending(case.look, ACTIONS[wish.service])]
    chosen = oldest_first(plans, only=wish.instants or None)
    if not chosen:
        raise StaleState(_NOTHING, f"No plan of {wish.service.lower()} is pending.")
    refused = {
        instant: need
        for need in executions(case, wish.service)
        if not need.is_needed
        for instant in need.instants
    }
    held = [refused[one] for one in chosen if one in refused]
    free = tuple(one for one in chosen if one not in refused)
    if held and (wish.instants or not free):
        raise StaleState(f"hudi.{held[0].code}", held[0].reason)
    return replace(wish, instants=free, needs_approval=ruling.needs_approval)


def _rollback(case: Case, wish: HudiTask) -> HudiTask:
    ruled = list(_ruled(case, wish.instants))
    if not ruled:
        raise StaleState(_NOTHING, "No instant is stuck, so there is nothing to roll back.")
    refused = [ruling for _, ruling in ruled if not ruling.is_allowed]
    if refused and (wish.instants or len(refused) == len(ruled)):
        _check(refused[0])
    allowed = [(one, ruling) for one, ruling in ruled if ruling.is_allowed]
    return replace(
        wish,
        instants=tuple(one.instant.instant for one, _ in allowed),
        needs_approval=wish.step is Step.EXECUTE and any(one.needs_approval for _, one in allowed),
    )


def _ruled(case: Case, wanted: tuple[str, ...]) -> Iterable[tuple[Silence, Ruling]]:
    open_ones = {one.instant: one for one in case.look.instants if one.is_pending}
    for instant in sorted(wanted or open_ones):
        if instant not in open_ones:
            _gone(instant)
        silence = silence_of(
            case.look, open_ones[instant], patience=case.policy.patience, now=case.now
        )
        is_ours = instant in case.lately.running
        if silence.is_stuck and not is_ours:
            yield silence, may_roll_back(case.look, case.policy, silence)
        elif wanted:
            words = "A run of this portal executes it." if is_ours else silence.words(case.now)
            raise StaleState("hudi.at-work", f"{words} Only what is stuck is rolled back.")


def _gone(instant: str) -> NoReturn:
    raise StaleState(
        "hudi.not-pending",
        f"{instant} is not pending any more: somebody completed it or rolled it back. Read the "
        "table's "
        "status again and choose among what is pending now.",
    )


def _check(ruling: Ruling) -> None:
    if not ruling.is_allowed:
        raise RuleViolation(f"hudi.{ruling.code}", ruling.reason)
