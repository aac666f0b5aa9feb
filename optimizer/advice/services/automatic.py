"""Applies advice by itself, where the policy of a table says so.

It is done in the name of who set that, with their rights as they are now. A layout is tried on a
branch before: one that the trial speaks for is applied, one that it speaks against is dismissed,
and where it could not tell, a person decides. The rewrite that follows keeps to the policy's
budget and hours as every other.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from optimizer.advice.domain.layout_advice import LOW
from optimizer.advice.domain.states import AdviceState, TrialState
from optimizer.advice.domain.subjects import Subject, value_of
from optimizer.advice.services.decisions import MAX_REASON, advice_apply, advice_dismiss
from optimizer.advice.services.trials import trial_request
from optimizer.models import Advice, PolicyVersion
from optimizer.policies.domain.formats import TableFormat
from optimizer.policies.domain.policy import AdviceMode
from optimizer.policies.selectors.policies import policies_of
from portal.access.models import User
from portal.lake.errors import PortalError
from portal.safety.selectors import emergency_stop_wait

AFTER_A_FAILURE = timedelta(days=1)
"""A trial that failed is asked for again by itself."""
logger = logging.getLogger(__name__)


def advice_apply_automatic(lake: str, *, now: datetime) -> None:
    """Try, then apply new advice of medium or high confidence where the policy says `auto`.

    Nothing is done while the emergency stop is on. What cannot be applied stays new, for a person
    to see.
    """
    waiting = Advice.objects.filter(table__lake=lake, state=AdviceState.NEW)
    waiting = waiting.exclude(evidence__confidence=LOW)
    rows = list(waiting.select_related("table"))
    if not rows or emergency_stop_wait(lake):
        return
    policies = policies_of(lake)
    for row in rows:
        found = policies.of(row.table.db, row.table.table)
        if found.policy.is_on and found.policy.advice is AdviceMode.AUTO:
            _act(row, found.sources["advice"], now=now)


def _act(row: Advice, scope: str, *, now: datetime) -> None:
    versions = PolicyVersion.objects.filter(lake=row.table.lake, format=TableFormat.ICEBERG)
    said = versions.filter(scope=scope, is_current=True).first()
    user = User.objects.filter(username=said.by, is_active=True).first() if said else None
    if user is None:
        return
    try:
        _next_step(row, scope, user, now=now)
    except PortalError as error:
        logger.warning("Advice %s on %s is not applied: %s", row.pk, row.table, error.message)


def _next_step(row: Advice, scope: str, user: User, *, now: datetime) -> None:
    """Do what comes next: a trial of a new layout first, then what it speaks for."""
    by_itself = f"By itself: the policy of {scope} says auto"
    confidence = f"the confidence is {row.evidence['confidence']}"
    if row.gives_up and not _was_advised(row):
        return
    if row.subject != Subject.LAYOUT or row.gives_up:
        advice_apply(row, user=user, reason=f"{by_itself}, and {confidence}.", now=now)
        return
    last = row.trials.order_by("-pk").first()
    if last is None or (last.state == TrialState.FAILED and _is_past(last.ended_at, now)):
        trial_request(row, user=user, reason=f"{by_itself}, and {confidence}.", now=now)
    elif last.state == TrialState.KEEP:
        reason = f"{by_itself}, {confidence}, and the trial showed: {last.outcome}"
        advice_apply(row, user=user, reason=reason[:MAX_REASON], now=now)
    elif last.state == TrialState.ROLL_BACK:
        reason = f"{by_itself}, and the trial showed: {last.outcome}"
        advice_dismiss(row, user=user, reason=reason[:MAX_REASON], now=now)


def _was_advised(row: Advice) -> bool:
    """Whether what an advice gives up came of advice; what people declared is theirs to end."""
    applied = row.table.advice.filter(subject=row.subject, gives_up=False, applied_at__isnull=False)
    if row.subject == Subject.CUBE:
        cube = row.table.cubes.filter(name=row.proposed, is_there=True).first()
        return cube is not None and any(one.evidence.get("cube") == cube.pk for one in applied)
    subject = Subject(row.subject)
    came = {part for one in applied for part in _parts(subject, one.proposed)}
    gone = set(_parts(subject, row.before)) - set(_parts(subject, row.proposed)) - {""}
    return bool(gone) and gone <= came


def _parts(subject: Subject, text: str) -> Sequence[str]:
    said = value_of(subject, text)
    return (said,) if isinstance(said, str) else said


def _is_past(ended_at: datetime | None, now: datetime) -> bool:
    return ended_at is not None and ended_at + AFTER_A_FAILURE < now
