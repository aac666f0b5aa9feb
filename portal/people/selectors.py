"""Queries of accounts and their status, of owner mappings, and of API tokens."""

from datetime import datetime
from typing import Any

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Subquery, Value, When

from portal.access.models import OwnerMapping, User
from portal.people.domain import Way
from portal.people.models import ApiToken, Deactivation, SignInIdentity
from portal.people.token_rules import TokenState

HERE = "HERE"
LEFT = "LEFT"


def people_all() -> QuerySet[User]:
    """Give every account with its way in, its state, and why it left; for admins and operators."""
    identity = SignInIdentity.objects.filter(user=OuterRef("pk"))
    departure = Deactivation.objects.filter(username=OuterRef("username"))
    return User.objects.prefetch_related("groups", "lake_roles").annotate(
        way=Case(
            When(Exists(identity), then=Subquery(identity.values("way")[:1])),
            default=Value(Way.LOCAL.value),
        ),
        state=Case(
            When(Q(is_active=False) | Exists(departure), then=Value(LEFT)), default=Value(HERE)
        ),
        left_at=Subquery(departure.values("at")[:1]),
        left_reason=Subquery(departure.values("reason")[:1]),
    )


def owners_mapped(lake: str) -> QuerySet[OwnerMapping, Any]:
    """Return a row for each person behind an owner's name, with whether they have left."""
    gone = Deactivation.objects.filter(username=OuterRef("username"))
    closed = User.objects.filter(username=OuterRef("username"), is_active=False)
    return OwnerMapping.objects.filter(lake=lake).annotate(
        state=Case(When(Exists(gone) | Exists(closed), then=Value(LEFT)), default=Value(HERE))
    )


def tokens_at(now: datetime) -> QuerySet[Any]:
    """Return every token with its `state` at that time."""
    left = Deactivation.objects.filter(username=OuterRef("owner__username"))
    return ApiToken.objects.select_related("owner").annotate(
        state=Case(
            When(ended_at__isnull=False, then=Value(TokenState.ENDED.value)),
            When(expires_at__lte=now, then=Value(TokenState.EXPIRED.value)),
            When(Q(owner__is_active=False) | Exists(left), then=Value(TokenState.LEFT.value)),
            default=Value(TokenState.LIVE.value),
        )
    )


def tokens_for_user(user: User, *, now: datetime) -> QuerySet[Any]:
    """Return the tokens that a person may see and end: their own; all for admins and operators."""
    rows = tokens_at(now)
    return rows if user.is_portal_staff else rows.filter(owner=user)
