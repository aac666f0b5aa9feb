"""What waits for one person, over every kind of proposal that registered.

A kind that cannot be read is named, and hides nothing of the others.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from portal.access.models import User
from portal.approvals.domain import ApprovalState
from portal.approvals.models import Approval, Proposal
from portal.approvals.proposals import ProposalKind, proposal_kinds

_log = logging.getLogger(__name__)

Kind = ProposalKind[Any]
Narrowed = Callable[[Kind, "QuerySet[Any]"], "QuerySet[Any]"]
Place = tuple[datetime, str, int]
"""Where a proposal stands among those of all kinds: since when it waits, its kind, its id."""


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
    waiting = Approval.objects.filter(lake=lake, state=ApprovalState.PENDING, expires_at__gt=now)
    names = set(waiting.order_by().values_list("kind", flat=True).distinct())
    for kind in proposal_kinds():
        if kind.name in names or kind.waits_unasked:
            found.read(kind, _asking(lake, user, now, narrowed))
    found.rows.sort(key=lambda pair: place_of(*pair))
    return found


def n_needs_me(user: User, lake: str, *, now: datetime | None = None) -> int:
    """Count what waits for a person's decision: for the badge, Home and the inbox alike."""
    return len(needs_decision_of(user, lake, now=now or timezone.now()).rows)


def place_of(kind: Kind, proposal: Proposal) -> Place:
    """Return where a proposal stands; a decision on it does not move it."""
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
