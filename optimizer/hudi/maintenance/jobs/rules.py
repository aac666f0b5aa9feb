"""Checks an act against a table's present state. The domain has the rules; a refusal raises."""

from datetime import datetime

from optimizer.hudi.inspect.domain.facts import Instant, InstantState
from optimizer.hudi.inspect.domain.timeline import Silence, heartbeat_limit, silence_of, unfit
from optimizer.hudi.maintenance.domain.services import Ruling, may, may_roll_back
from optimizer.hudi.maintenance.domain.tasks import Service
from optimizer.hudi.maintenance.jobs.orders import Order
from optimizer.hudi.maintenance.jobs.present import Present
from optimizer.hudi.tables.jobs.errors import at_work
from optimizer.policies.domain.hudi_policy import HudiPolicy
from portal.lake.errors import RuleViolation, StaleState

LOCK_PROVIDER = "hoodie.write.lock.provider"
_PASSES = frozenset({"writer-at-work"})


def policy_of(order: Order) -> HudiPolicy:
    """Return as much of the table's policy as the rules need."""
    return HudiPolicy(
        is_on=True,
        lock=order.lock.get(LOCK_PROVIDER, ""),
        writer_serialized=order.writer_serialized,
        kinds=frozenset(Service),
    )


def check_fit(present: Present, order: Order) -> None:
    """Refuse a table that is left alone altogether.

    Raises:
        RuleViolation: `hudi.broken`, `hudi.unsupported`.
    """
    found = unfit(present.look)
    if found is not None:
        _check(order, Ruling(found.code, found.reason))


def check_may(present: Present, order: Order) -> None:
    """Refuse what the rules do not allow.

    Raises:
        RuleViolation: `hudi.` and the rule's code.
        StaleState: the same, where waiting helps.
    """
    _check(order, may(present.look, policy_of(order), order.service, order.step))


def check_may_roll_back(present: Present, order: Order, one: Instant, now: datetime) -> None:
    """Refuse to roll an instant back that is not stuck, or that the rules leave to others.

    Raises:
        StaleState: `hudi.at_work`.
        RuleViolation: `hudi.` and the rule's code.
    """
    silence = _silence(present, order, one, now)
    if not silence.is_stuck:
        raise at_work(order.name, silence.words(now))
    _check(order, may_roll_back(present.look, policy_of(order), silence))


def check_silent(present: Present, order: Order, one: Instant, now: datetime) -> None:
    """Refuse an instant at which somebody may be working.

    Raises:
        StaleState: `hudi.at_work`.
    """
    silence = _silence(present, order, one, now)
    limit = heartbeat_limit(present.look.table)
    is_alive = silence.is_heartbeat and now - silence.since <= limit
    if is_alive or (one.state is InstantState.INFLIGHT and not silence.is_stuck):
        raise at_work(order.name, silence.words(now))


def _silence(present: Present, order: Order, one: Instant, now: datetime) -> Silence:
    return silence_of(present.look, one, patience=order.patience, now=now)


def _check(order: Order, ruling: Ruling) -> None:
    if ruling.is_allowed:
        return
    code, message = f"hudi.{ruling.code.replace('-', '_')}", f"{order.name}: {ruling.reason}"
    if ruling.code in _PASSES:
        raise StaleState(code, message, table=order.name)
    raise RuleViolation(code, message, table=order.name)
