"""Decisions of people on drop plans, in one call each."""

from datetime import datetime
from uuid import UUID

from lifecycle.drop.services.plans import PLANS
from lifecycle.models import DropPlan
from portal.access.models import User
from portal.approvals.domain import DecisionInput


def plan_approve(
    plan_id: UUID | str,
    *,
    user: User,
    digest: str,
    authenticated_at: datetime | None,
    now: datetime,
    reason: str = "",
    typed: str = "",
) -> DropPlan:
    """Let a person approve exactly the plan with this digest."""
    answer = DecisionInput("APPROVE", reason, digest, typed)
    return PLANS.decide(
        plan_id, user=user, answer=answer, authenticated_at=authenticated_at, now=now
    )


def plan_reject(
    plan_id: UUID | str,
    *,
    user: User,
    digest: str,
    authenticated_at: datetime | None,
    now: datetime,
    reason: str,
) -> DropPlan:
    """Let a person end a plan with a reason."""
    answer = DecisionInput("REJECT", reason, digest)
    return PLANS.decide(
        plan_id, user=user, answer=answer, authenticated_at=authenticated_at, now=now
    )
