"""Finds or creates the account of a person verified by a log-in server, and sets its roles."""

from collections.abc import Collection
from datetime import datetime

from django.db import IntegrityError, transaction

from portal.access.lakes import all_lakes
from portal.access.models import User
from portal.access.roles.domain import RoleGrant, read_grants
from portal.access.services import get_user, roles_set
from portal.audit.services import AuditEntry, audit_record_many
from portal.connectors.identity import Identity
from portal.connectors.sign_in_config import SignInConfig
from portal.lake.errors import NotAllowed
from portal.people.domain import Way, roles_of, username_of
from portal.people.models import SignInIdentity


def person_arrives(identity: Identity, way: Way, *, config: SignInConfig, now: datetime) -> User:
    """Return the account of somebody whom a log-in server vouches for, made at the first time.

    Roles become what the groups give now. Who is in no group any more loses them and their other
    sessions, and is refused. Twice it changes nothing.

    Raises:
        NotAllowed: in no group that is let in, the account is closed, or the name is another's.
    """
    try:
        return _arrives(identity, way, config=config, now=now)
    except IntegrityError:
        # The same newcomer came twice at one instant; the account of the first is found now.
        return _arrives(identity, way, config=config, now=now)


def _arrives(identity: Identity, way: Way, *, config: SignInConfig, now: datetime) -> User:
    names = roles_of(identity.groups, config.roles)
    roles = None if names is None else read_grants(names, lakes=all_lakes())
    with transaction.atomic():
        user = _account(identity, way, config=config, may_enter=roles is not None, now=now)
        if user is not None:
            _roles_set(user, roles or frozenset(), way=way, ends=roles is None, now=now)
    if user is None or roles is None:
        raise _no_group(identity)
    if not user.is_active:
        raise NotAllowed(
            "sign_in.closed",
            f"The account {user.username} is disabled. An admin can enable it again.",
        )
    return user


def audit_person(
    action: str, username: str, *, actor: str, data: dict[str, object], now: datetime
) -> None:
    """Write what happened to a person into the record of every lake: people are of them all."""
    audit_record_many(
        [
            AuditEntry(action, actor, lake, "person", username, data)
            for lake in sorted(all_lakes()) or [""]
        ],
        now=now,
    )


def _account(
    identity: Identity, way: Way, *, config: SignInConfig, may_enter: bool, now: datetime
) -> User | None:
    """Find the account, or make it; None for a newcomer who may not enter."""
    rows = SignInIdentity.objects.select_related("user")
    known = rows.filter(way=way, subject=identity.subject).first()
    if known is not None:
        SignInIdentity.objects.filter(pk=known.pk).update(last_at=now)
        return _brought_up_to_date(known.user, identity)
    if not may_enter:
        return None
    oidc = config.oidc
    domain = oidc.username_domain if way is Way.OIDC and oidc else ""
    username = username_of(identity.username, domain=domain)
    user = get_user(username)
    if user is None:
        user = User(username=username)
        user.set_unusable_password()
        user.save()
        audit_person("person.created", username, actor=username, data={"way": way}, now=now)
    else:
        _check_adoption(user, way, config)
        user.set_unusable_password()
        user.save(update_fields=["password"])
        audit_person("person.adopted", user.username, actor=username, data={"way": way}, now=now)
    SignInIdentity.objects.update_or_create(
        user=user,
        defaults={"way": way, "subject": identity.subject, "first_at": now, "last_at": now},
    )
    return _brought_up_to_date(user, identity)


def _check_adoption(user: User, way: Way, config: SignInConfig) -> None:
    """Refuse to hand an account that is there to somebody with nothing but the same name."""
    other = SignInIdentity.objects.filter(user=user).first()
    if other is not None and other.way == way:
        raise NotAllowed(
            "sign_in.other_person",
            f"The name {user.username} belongs to somebody else here (another person of the same "
            "name came in with it). An admin has to sort that out.",
        )
    if not config.adopt_local:
        raise NotAllowed(
            "sign_in.name_taken",
            f"There is an account {user.username} already, and it is not known to be yours. An "
            "operator can let such accounts be taken over (adopt_local).",
        )


def _brought_up_to_date(user: User, identity: Identity) -> User:
    name, email = identity.name[:150], identity.email[:254]
    if (user.first_name, user.email) != (name or user.first_name, email or user.email):
        user.first_name, user.email = name or user.first_name, email or user.email
        user.save(update_fields=["first_name", "email"])
    return user


def _roles_set(
    user: User, roles: frozenset[RoleGrant], *, way: Way, ends: bool, now: datetime
) -> None:
    """Give exactly these roles; what was taken away also ends the person's other sessions."""
    before = user.stored_grants()
    if before == roles and not ends:
        return
    if before != roles:
        roles_set(user, roles)
        data: dict[str, object] = {"way": way, "before": named(before), "after": named(roles)}
        audit_person("person.roles", user.username, actor=user.username, data=data, now=now)
    if ends or before - roles:
        sessions_end(user)


def named(grants: Collection[RoleGrant]) -> list[str]:
    """Return roles in words, each with its lake, as the audit record has them."""
    return [str(grant) for grant in sorted(grants)]


def sessions_end(user: User) -> None:
    """End every session of a person: each is bound to the password's hash, which is created again.

    A local account gets its password again by `manage.py create_people`.
    """
    user.set_unusable_password()
    user.save(update_fields=["password"])
    user.__dict__.pop("grants", None)


def _no_group(identity: Identity) -> NotAllowed:
    if identity.groups is None:
        return NotAllowed(
            "sign_in.no_groups",
            "The log-in server said who you are, but not in which groups. An operator must have "
            "it send them.",
        )
    return NotAllowed(
        "sign_in.no_group",
        f"You are known as {identity.username[:150]!a}, but in none of the groups that may use "
        "the portal. Ask an admin for one.",
    )
