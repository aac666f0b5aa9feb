"""Applies advice by itself, where the policy of a table says so.

It is done in the name of who set that, with their rights as they are now. The rewrite that follows
keeps to the policy's budget and hours as every other.
"""

import logging
from datetime import datetime

from optimizer.advice.domain.layout_advice import LOW
from optimizer.advice.domain.states import AdviceState
from optimizer.advice.services.decisions import advice_apply
from optimizer.models import Advice, PolicyVersion
from optimizer.policies.domain.formats import TableFormat
from optimizer.policies.domain.policy import AdviceMode
from optimizer.policies.selectors.policies import policies_of
from portal.access.models import User
from portal.lake.errors import PortalError
from portal.safety.selectors import emergency_stop_wait

logger = logging.getLogger(__name__)


def advice_apply_automatic(lake: str, *, now: datetime) -> None:
    """Apply new advice of medium or high confidence on tables whose policy says `auto`.

    Nothing is applied while the emergency stop is on. What cannot be applied stays new, for a
    person to see.
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
            _apply(row, found.sources["advice"], now=now)


def _apply(row: Advice, scope: str, *, now: datetime) -> None:
    versions = PolicyVersion.objects.filter(lake=row.table.lake, format=TableFormat.ICEBERG)
    said = versions.filter(scope=scope, is_current=True).first()
    user = User.objects.filter(username=said.by, is_active=True).first() if said else None
    if user is None:
        return
    reason = (
        f"By itself: the policy of {scope} says auto, and the confidence is "
        f"{row.evidence['confidence']}."
    )
    try:
        advice_apply(row, user=user, reason=reason, now=now)
    except PortalError as error:
        logger.warning("Advice %s on %s is not applied: %s", row.pk, row.table, error.message)
