"""Finds piled-up plans, plans never executed, and instants that began and never ended."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from optimizer.core.domain.sizes import size_words
from optimizer.hudi.inspect.domain.damage import spared
from optimizer.hudi.inspect.domain.facts import HudiInspection, Instant, plain
from optimizer.hudi.inspect.domain.findings import (
    MEND_FIRST,
    Code,
    Finding,
    RecoveryAction,
    Severity,
    finding,
    remedy_of,
    span_words,
)
from optimizer.hudi.inspect.domain.timeline import WRITES, Silence, pending, stuck
from optimizer.hudi.maintenance.domain.services import may, may_roll_back
from optimizer.hudi.maintenance.domain.tasks import ACTIONS, Service, Step, oldest_first, service_of
from optimizer.policies.domain.hudi_policy import HudiPolicy
from portal.lake.counts import count_words

_SEVERE_TIMES = 4


def waiting_plans(look: HudiInspection, policy: HudiPolicy, now: datetime) -> Iterable[Finding]:
    """Say of each service that its plans pile up, or that one waits longer than is allowed."""
    for service in ACTIONS:
        plans = pending(look, ACTIONS[service])
        if not plans:
            continue
        rows = [_row(look, one, now) for one in plans]
        remedy = _executed(look, policy, service, [one.instant for one in plans])
        if len(plans) > policy.max_pending:
            yield finding(
                Code.PLANS_PILE_UP,
                Severity.WARNING,
                f"{count_words(len(plans), 'plan')} of {service.lower()} are pending, the oldest "
                f"{plans[0].instant}; {policy.max_pending} are allowed. File groups in a plan "
                "are taken by no other, so their logs grow until it is executed.",
                rows,
                remedy,
            )
        late = [one for one in plans if now - one.requested_at > policy.stale_after]
        if late:
            yield _never_executed(
                service, late, [_row(look, one, now) for one in late], remedy, now
            )


def stuck_instants(look: HudiInspection, policy: HudiPolicy, now: datetime) -> Iterable[Finding]:
    """Say what began, never ended and is silent; one finding each, for each has its own remedy."""
    for one in stuck(look, patience=policy.patience, now=now):
        is_write = one.instant.action in WRITES
        yield finding(
            Code.STUCK,
            Severity.WARNING,
            f"{one.words(now)} "
            + (
                "Its writer seems dead; its rows are not seen, and archiving waits for it."
                if is_write
                else "Whoever ran it seems dead; its file groups wait until it is rolled back."
            ),
            [plain(one.instant)],
            _stuck_remedy(look, policy, one),
        )


MEND_THOSE = (
    "it takes a damaged file group and waits until that is repaired.",
    "they take damaged file groups and wait until these are repaired.",
)


def _executed(
    look: HudiInspection, policy: HudiPolicy, service: Service, pending: list[str]
) -> RecoveryAction:
    free = pending if service is Service.CLEAN else spared(look, pending)
    if not free:
        return RecoveryAction(MEND_FIRST, holds=True)
    words = "Execute all that are pending, oldest first."
    if len(free) < len(pending):
        n = len(pending) - len(free)
        words = f"{words[:-1]}, but {n:,} of {len(pending):,}: {MEND_THOSE[n > 1]}"
    ruling = may(look, policy, service, Step.EXECUTE)
    return remedy_of(ruling, service, Step.EXECUTE, words, oldest_first(free))


def _never_executed(
    service: Service,
    late: list[Instant],
    rows: list[dict[str, object]],
    remedy: RecoveryAction,
    now: datetime,
) -> Finding:
    oldest = late[0]
    age = now - oldest.requested_at
    is_severe = age > timedelta(days=1) * _SEVERE_TIMES
    return finding(
        Code.NEVER_EXECUTED,
        Severity.CRITICAL if is_severe else Severity.WARNING,
        f"The plan {oldest.instant} of {service.lower()} waits for {span_words(age)} and was never "
        f"completed{f', and so do {len(late) - 1} more' if len(late) > 1 else ''}.",
        rows,
        remedy,
    )


def _row(look: HudiInspection, instant: Instant, now: datetime) -> dict[str, object]:
    plan = next((one for one in look.plans if one.instant == instant.instant), None)
    return {
        "instant": instant.instant,
        "action": instant.action.value,
        "state": instant.state.value,
        "waits": span_words(now - instant.requested_at),
        "partitions": len(plan.partitions) if plan else 0,
        "file_groups": len(plan.file_groups) if plan else instant.n_operations,
        "logs": size_words(plan.log_bytes) if plan else "",
    }


def _stuck_remedy(look: HudiInspection, policy: HudiPolicy, one: Silence) -> RecoveryAction:
    service = service_of(one.instant.action)
    if service is Service.CLEAN:
        return remedy_of(
            may(look, policy, service, Step.EXECUTE),
            service,
            Step.EXECUTE,
            "Execute it again: a clean that was broken off goes on where it was.",
            [one.instant.instant],
        )
    words = (
        "Roll back what it wrote, then execute its plan again."
        if service is not None
        else "Roll back what it wrote: its rows were never completed."
    )
    return remedy_of(
        may_roll_back(look, policy, one),
        Service.ROLLBACK,
        Step.EXECUTE,
        words,
        [one.instant.instant],
    )
