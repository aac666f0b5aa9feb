"""Narrows, orders and completes rows of proposals, of whichever kind."""

from typing import TypeVar

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from portal.access.models import User
from portal.approvals.models import Proposal

P = TypeVar("P", bound=Proposal)


def with_decisions(proposals: QuerySet[P]) -> QuerySet[P]:
    """Read the approvals and decisions along."""
    read = proposals.select_related("approval")
    return read.prefetch_related("approval__decisions__user")


def in_order(proposals: QuerySet[P]) -> QuerySet[P]:
    """Order by the time of waiting: the longest wait, which expires first, comes first."""
    return proposals.order_by(Coalesce("approval__created_at", "created_at"), "pk")


def named(text: str, prefix: str = "") -> Q:
    """Return the condition that a database or table, `db` or `db.table`, begins with a text."""
    db, dot, table = text.strip().partition(".")
    if dot:
        return Q(**{f"{prefix}db": db, f"{prefix}table__startswith": table})
    return Q(**{f"{prefix}db__startswith": db}) | Q(**{f"{prefix}table__startswith": db})


def may_be_open_to(proposal: Proposal, user: User) -> bool:
    """Whether it is worth asking who else counts as a requester: rules out the cheap cases."""
    approval = proposal.approval
    if approval is None or any(one.user_id == user.pk for one in approval.decisions.all()):
        return False
    return user.username.casefold() not in {name.casefold() for name in approval.requesters}
