"""Grants roles to local accounts and takes them away, on all lakes or on one; audited.

Who signs in by a log-in server has the roles that the server's groups give, and gets them again at
the next log-in; so they are changed there.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from portal.access.lakes import all_lakes
from portal.access.models import User
from portal.access.roles.domain import (
    ADMIN,
    ALL_LAKES,
    RoleGrant,
    check_lake,
    read_grant,
    read_grants,
)
from portal.access.services import person_create, roles_set
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation
from portal.lake.reasons import check_reason
from portal.people.models import SignInIdentity
from portal.people.provisioning import audit_person, named

HOST = "manage.py"
_BY_FILE = "named in the file of create_people"
Change = Callable[[frozenset[RoleGrant], RoleGrant], frozenset[RoleGrant]]


def role_grant(username: str, role: str, *, user: User, reason: str, now: datetime) -> None:
    """Let an account be operator, as an admin of all lakes; twice it changes nothing.

    Admins are made on the portal's host or by the log-in server: an admin who could make another
    one would be two people alone.

    Raises:
        NotAllowed: for others, for oneself, and for the role admin.
        NotVisible: nobody is called so.
        RuleViolation: no such role or lake, no reason, or the log-in server gives their roles.
    """
    _check_admin(user, username, reason)
    grant = read_grant(role)
    if grant.role == ADMIN:
        raise NotAllowed(
            "person.role",
            "An admin alone cannot make another admin: have an operator run manage.py person_role "
            "on the portal's host, or add the person to the log-in server's group.",
        )
    _change(username, grant, _with, by=user.username, reason=reason, now=now)


def role_take(username: str, role: str, *, user: User, reason: str, now: datetime) -> None:
    """Take a role from another account, as an admin of all lakes; twice it changes nothing.

    Raises:
        NotAllowed: for others, and for oneself.
        NotVisible: nobody is called so.
        RuleViolation: no such role, no reason, or the log-in server gives their roles.
    """
    _check_admin(user, username, reason)
    _change(username, read_grant(role), _without, by=user.username, reason=reason, now=now)


def role_change_on_host(
    username: str, role: str, *, is_granted: bool, reason: str, now: datetime
) -> None:
    """Grant or take any role, as whoever may run commands on the portal's host.

    Raises:
        NotVisible, RuleViolation: as for `role_grant`.
    """
    check_reason(reason, "person.reason", "Enter a reason; it is kept in the audit record.")
    change = _with if is_granted else _without
    _change(username, read_grant(role), change, by=HOST, reason=reason, now=now)


@dataclass(frozen=True, slots=True)
class Arrived:
    """What became of somebody's roles, by their names."""

    granted: tuple[str, ...]
    left: tuple[str, ...]
    """They have them, and were not asked to be given them."""
    not_given: tuple[str, ...]
    """The groups of the log-in server give the roles of this person."""


def person_create_on_host(
    username: str,
    *,
    password: str,
    email: str,
    name: str,
    roles: Collection[str],
    now: datetime,
) -> Arrived:
    """Create a person, or give one who is there what is missing; no role is taken.

    The password becomes the given one; a name or mail address that is left out stays as it is.
    What changed is in the audit record. Twice it changes nothing.

    Raises:
        RuleViolation: as for `person_create`.
    """
    wanted = read_grants(roles, lakes=all_lakes())
    with transaction.atomic():
        known = User.objects.select_for_update().filter(username=username).first()
        if known is not None:
            email, name = email or known.email, name or known.first_name
        user = person_create(username, password=password, email=email, name=name, roles=None)
        if known is None:
            audit_person("person.created", username, actor=HOST, data={"way": HOST}, now=now)
        elif known.password != user.password:
            audit_person("person.password_set", username, actor=HOST, data={}, now=now)
        before = user.stored_grants()
        missing = wanted - before
        left = tuple(named(before - wanted))
        if missing and _way_of(user) is not None:
            return Arrived((), left, tuple(named(missing)))
        for grant in sorted(missing):
            _change(username, grant, _with, by=HOST, reason=_BY_FILE, now=now)
    return Arrived(tuple(named(missing)), left, ())


def _with(before: frozenset[RoleGrant], grant: RoleGrant) -> frozenset[RoleGrant]:
    check_lake(grant, lakes=all_lakes())
    return before | {grant}


def _without(before: frozenset[RoleGrant], grant: RoleGrant) -> frozenset[RoleGrant]:
    return before - {grant}


def _change(
    username: str, grant: RoleGrant, change: Change, *, by: str, reason: str, now: datetime
) -> None:
    with transaction.atomic():
        account = User.objects.select_for_update().filter(username=username).first()
        if account is None:
            raise NotVisible("person.unknown", "There is no account of that name.")
        _check_local(account)
        before = account.stored_grants()
        after = change(before, grant)
        if after == before:
            return
        roles_set(account, after)
        action = "person.role_granted" if grant in after else "person.role_taken"
        data: dict[str, object] = {
            "role": grant.role,
            "lake": grant.lake or "all lakes",
            "before": named(_told(before, grant.lake)),
            "after": named(_told(after, grant.lake)),
            "reason": reason.strip(),
        }
        if grant.lake:
            audit_record(
                action,
                actor=by,
                lake=grant.lake,
                object_type="person",
                object_id=username,
                data=data,
                now=now,
            )
        else:
            audit_person(action, username, actor=by, data=data, now=now)


def _told(grants: frozenset[RoleGrant], lake: str) -> frozenset[RoleGrant]:
    """Return what the record of a lake says of somebody's roles: none on another lake."""
    return frozenset(one for one in grants if not lake or one.lake in (ALL_LAKES, lake))


def _way_of(account: User) -> str | None:
    """Return the log-in server's kind by which somebody signs in; None for a local account."""
    return SignInIdentity.objects.filter(user=account).values_list("way", flat=True).first()


def _check_local(account: User) -> None:
    way = _way_of(account)
    if way is not None:
        raise RuleViolation(
            "person.role_way",
            f"{account.username} signs in by {way}, whose groups give the roles. Change the "
            "groups there, or which role they give in sign_in.json.",
        )


def _check_admin(user: User, username: str, reason: str) -> None:
    if not user.is_portal_admin:
        raise NotAllowed("person.role", "Only an admin of all lakes grants and takes roles.")
    if username == user.username:
        raise NotAllowed("person.own", "You cannot change your own roles; ask another admin.")
    check_reason(reason, "person.reason", "Enter a reason; it is kept in the audit record.")
