"""What waits for one person, over every kind of proposal that registered.

A kind that cannot be read is named, and hides nothing of the others.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from portal.access.models import User
from portal.approvals.domain import ApprovalState
from portal.approvals.models import Approval, Proposal
from portal.approvals.proposals import ProposalKind, proposal_kinds
from portal.audit.models import AuditHead

COUNT_KEPT = timedelta(minutes=1)
MOST_COUNTS = 5_000
_log = logging.getLogger(__name__)
_counted: dict[tuple[int, str], tuple[object, datetime, datetime, int]] = {}
"""What was counted for a person in a lake: at which end of the audit chain, from when to when."""

Kind = ProposalKind[Any]
Narrowed = Callable[[Kind, "QuerySet[Any]"], "QuerySet[Any]"]


@dataclass
class Found:
    """Proposals with their kinds, and the kinds that could not be read."""

    rows: list[tuple[Kind, Proposal]] = field(default_factory=list)
    broken: list[Kind] = field(default_factory=list)

    def read(self, kind: Kind, ask: Callable[[Kind], list[Any]]) -> None:
        """Add what a kind answers; its error, whatever it is, stays its own."""
        try:
            self.rows.extend((kind, one) for one in ask(kind))
        except Exception:  # an area's fault must not empty everybody's inbox
            _log.exception("The proposals of the kind %s could not be read", kind.name)
            self.broken.append(kind)


def needs_decision_of(
    user: User, lake: str, *, now: datetime, narrowed: Narrowed | None = None
) -> Found:
    """Return what waits for a person's decision, the longest wait first.

    This is what each kind's `to_decide` says, and nothing else. Kinds of which nothing waits are
    not asked: that costs one query for all of them.
    """
    found = Found()
    kinds = [kind for kind in proposal_kinds() if kind.may_decide(user, lake)]
    names: set[str] = set()
    if not all(kind.waits_unasked for kind in kinds):
        asked = Approval.objects.filter(lake=lake, state=ApprovalState.PENDING, expires_at__gt=now)
        names = set(asked.order_by().values_list("kind", flat=True).distinct())
    for kind in kinds:
        if kind.name in names or kind.waits_unasked:
            found.read(kind, _asking(lake, user, now, narrowed))
    found.rows.sort(key=lambda pair: _wait_of(*pair))
    return found


def n_needs_me(user: User, lake: str, *, now: datetime | None = None) -> int:
    """Count what waits for a person's decision: for the badge, Home and the inbox alike.

    Every page shows it, so a process keeps the number until anything happens: whatever may change
    it is written to the audit chain, and what expires does so at a known time.
    """
    now = now or timezone.now()
    head = AuditHead.objects.values_list("hash", flat=True).first()
    mark = (head, user.grants)
    known = _counted.get((user.pk, lake))
    if known is not None and known[0] == mark and known[1] <= now < known[2]:
        return known[3]
    found = needs_decision_of(user, lake, now=now)
    ends = [one.approval.expires_at for _, one in found.rows if one.approval is not None]
    if head is not None and not found.broken:
        if len(_counted) >= MOST_COUNTS:
            _counted.clear()
        until = min([*ends, now + COUNT_KEPT])
        _counted[user.pk, lake] = (mark, now, until, len(found.rows))
    return len(found.rows)


def _wait_of(kind: Kind, proposal: Proposal) -> tuple[datetime, str, int]:
    """Return what orders by the wait; a decision does not change it."""
    approval = proposal.approval
    since = proposal.created_at if approval is None else approval.created_at
    return (since, kind.name, proposal.pk.int)


def _asking(
    lake: str, user: User, now: datetime, narrowed: Narrowed | None
) -> Callable[[Kind], list[Any]]:
    def ask(kind: Kind) -> list[Any]:
        among = None if narrowed is None else (lambda rows: narrowed(kind, rows))
        return kind.to_decide(lake, user, now=now, among=among)

    return ask
