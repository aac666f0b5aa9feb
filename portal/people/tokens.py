"""Creates and ends API tokens of programs, and finds the owner of a token that was sent.

The secret is shown once and never kept: rows, logs and the audit record hold its digest or its
public id. A token acts as its owner, with the rights that the owner has at that moment.
"""

import logging
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from portal.access.models import OwnerMapping, User
from portal.access.scopes import METRICS_SCOPE, all_scopes
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation
from portal.people.models import ApiToken, Deactivation, SignInIdentity
from portal.people.provisioning import audit_person
from portal.people.selectors import tokens_at
from portal.people.token_rules import (
    MOST_LIVE,
    NOTE_USE_EVERY,
    TokenParams,
    TokenState,
    digest_of,
    is_use_noted,
    new_secret,
)

_log = logging.getLogger(__name__)
HOST = "manage.py"


class MadeToken(NamedTuple):
    """A new token, with the secret that is known only now."""

    token: ApiToken
    secret: str


def token_make(username: str, wish: TokenParams, *, user: User, now: datetime) -> MadeToken:
    """Make a token for oneself, or as an admin for a service account; twice makes two.

    Raises:
        NotAllowed: for somebody else; the scope of the metrics, for who keeps not all lakes.
        RuleViolation: the request breaks a rule; the account is a person's, closed or has too many.
    """
    if username != user.username:
        if not user.is_portal_admin:
            raise NotAllowed(
                "token.person",
                "You make tokens for yourself only. An admin makes those of service accounts.",
            )
        _check_service(username)
    elif METRICS_SCOPE in wish.scopes and not user.is_portal_staff:
        raise NotAllowed(
            "token.scope",
            "The metrics tell of all lakes: only an admin or operator of all of them makes a token "
            "for them. Leave that scope out.",
        )
    return _make(username, wish, by=user.username, now=now)


def token_make_on_host(username: str, wish: TokenParams, *, now: datetime) -> MadeToken:
    """Make a token for anybody, as whoever may run commands on the portal's host.

    Raises:
        RuleViolation: as for `token_make`.
    """
    return _make(username, wish, by=HOST, now=now)


def token_end(public_id: UUID, *, user: User, now: datetime) -> ApiToken:
    """End a token for good; twice it changes nothing.

    Raises:
        NotVisible: there is none, or it is another's.
    """
    with transaction.atomic():
        mine = ApiToken.objects.select_for_update()
        if not user.is_portal_staff:
            mine = mine.filter(owner=user)
        token = mine.filter(public_id=public_id).first()
        if token is None:
            raise NotVisible("token.unknown", "You have no such token.")
        if token.ended_at is None:
            _end(token, by=user.username, now=now)
    return token


def tokens_end_of(owner: User, *, by: str, now: datetime) -> None:
    """End every token of somebody who leaves; a closed account that opens again makes new ones."""
    with transaction.atomic():
        rows = ApiToken.objects.select_for_update().filter(owner=owner, ended_at__isnull=True)
        for token in rows.order_by("pk"):
            _end(token, by=by, now=now)


def token_of(secret: str, *, address: str, now: datetime) -> ApiToken | None:
    """Return the live token whose secret this is, and note its use; None for any other.

    It is looked up by the digest, so how long that takes says nothing about the secret. Why a
    token is refused stands in the log only.
    """
    found = tokens_at(now).filter(digest=digest_of(secret)).first()
    if found is None:
        _log.warning("API token refused from %s: it is none of ours", address)
        return None
    token: ApiToken = found
    if found.state != TokenState.LIVE:
        named = (token.public_id, token.owner.username, found.state)
        _log.warning("API token refused from %s: %s of %s is %s", address, *named)
        return None
    if not is_use_noted(token.last_used_at, now):
        unnoted = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - NOTE_USE_EVERY)
        ApiToken.objects.filter(unnoted, pk=token.pk).update(last_used_at=now)
    return token


def _check_service(username: str) -> None:
    """Refuse a person's name: an admin who could act as others would be two people alone."""
    is_mapped = OwnerMapping.objects.filter(owner=username).exists()
    signs_in = SignInIdentity.objects.filter(user__username=username).exists()
    has_been_in = User.objects.filter(username=username, last_login__isnull=False).exists()
    if not is_mapped or signs_in or has_been_in:
        raise RuleViolation(
            "token.service",
            f"{username[:100]!a} is no service account: it is not on the page Service "
            "accounts, or somebody has signed in with it. People make their own tokens.",
        )


def _make(username: str, wish: TokenParams, *, by: str, now: datetime) -> MadeToken:
    wish, secret = wish.checked([scope.name for scope in all_scopes()]), new_secret()
    with transaction.atomic():
        # Locked: a token must not be made while its owner's account is being closed.
        owner = _account(username)
        n_live = tokens_at(now).filter(owner=owner, state=TokenState.LIVE).count()
        if n_live >= MOST_LIVE:
            raise RuleViolation(
                "token.many", f"{username} has {n_live} tokens. End one that is not used any more."
            )
        token = ApiToken.objects.create(
            name=wish.name,
            digest=digest_of(secret),
            owner=owner,
            scopes=list(wish.scopes),
            made_by=by,
            made_at=now,
            expires_at=now + timedelta(days=wish.n_days),
        )
        _record("token.made", token, by=by, now=now)
    return MadeToken(token, secret)


def _account(username: str) -> User:
    owner = User.objects.select_for_update().filter(username=username).first()
    if owner is None:
        raise RuleViolation("token.owner", f"There is no account {username[:100]!a}.")
    if not owner.is_active or Deactivation.objects.filter(username=username).exists():
        raise RuleViolation("token.owner_left", f"The account {username} is closed.")
    return owner


def _end(token: ApiToken, *, by: str, now: datetime) -> None:
    token.ended_at, token.ended_by = now, by
    token.save(update_fields=["ended_at", "ended_by"])
    _record("token.ended", token, by=by, now=now)


def _record(action: str, token: ApiToken, *, by: str, now: datetime) -> None:
    data: dict[str, object] = {
        "token": str(token.public_id),
        "name": token.name,
        "scopes": token.scopes,
        "expires_at": token.expires_at.isoformat(),
    }
    audit_person(action, token.owner.username, actor=by, data=data, now=now)
