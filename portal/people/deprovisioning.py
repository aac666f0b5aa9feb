"""Handles people who left the company: who reports it, and what ends with it.

Closing an account ends its sessions and API tokens at once and takes its password; its approvals
count no longer (`portal.approvals.domain.count_standing`). Notices of its data go to the database's
owner, then to the admins, because whoever is `departed` cannot be written to.
"""

import logging
from datetime import datetime
from pathlib import Path

from django.db import transaction

from portal.access.models import User
from portal.connectors.directory import Directory
from portal.connectors.ldap import Ldap
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation
from portal.lake.reasons import check_reason
from portal.people.domain import Way, too_many_left
from portal.people.login_methods import sign_in_config
from portal.people.models import Deactivation, DirectoryPerson, SignInIdentity
from portal.people.provisioning import audit_person, person_arrives, sessions_end
from portal.people.tokens import tokens_end_of

_log = logging.getLogger(__name__)
DIRECTORY = "directory"
LDAP = "ldap"
_REASON_LENGTH = 300


def departed() -> frozenset[str]:
    """Return the names of everybody who left, whether or not they ever had an account."""
    closed = User.objects.filter(is_active=False).values_list("username", flat=True)
    return frozenset(closed) | frozenset(Deactivation.objects.values_list("username", flat=True))


def person_close(username: str, *, user: User, reason: str, now: datetime) -> None:
    """Close an account; twice it changes nothing.

    Raises:
        NotAllowed: for anyone but an admin, and for one's own account.
        NotVisible: nobody is called so.
        RuleViolation: without a reason.
    """
    _check_admin(user, reason)
    if username == user.username:
        raise NotAllowed("person.own", "You cannot disable your own account; ask another admin.")
    _account(username)
    _leave(username, by=user.username, reason=reason, now=now)


def person_reopen(username: str, *, user: User, reason: str, now: datetime) -> None:
    """Open a closed account again; twice it changes nothing.

    A local account needs a new password (`manage.py create_people`); its roles are as they were.

    Raises:
        NotAllowed: for anyone but an admin.
        NotVisible: nobody is called so.
        RuleViolation: without a reason.
    """
    _check_admin(user, reason)
    with transaction.atomic():
        account = _account(username)
        Deactivation.objects.filter(username=username).delete()
        if account.is_active:
            return
        account.is_active = True
        account.save(update_fields=["is_active"])
        audit_person(
            "person.reopened", username, actor=user.username, data={"reason": reason}, now=now
        )


def directory_leavers(path: Path, *, now: datetime) -> list[str]:
    """Close the accounts of those whom the directory knew and no longer does; gives their names.

    Who is in it again counts as here; a closed account stays closed until an admin opens it. When
    half of the people are gone at once the directory is broken, and nobody has left.
    """
    listed = frozenset(Directory.load(path).people)
    known = frozenset(DirectoryPerson.objects.values_list("username", flat=True))
    gone = sorted(known - listed)
    if too_many_left(len(gone), of=len(known)):
        _log.error("directory: %d of %d people are gone; nobody is closed", len(gone), len(known))
        return []
    for username in gone:
        _leave(username, by=DIRECTORY, reason="No longer in the company's directory.", now=now)
    with transaction.atomic():
        DirectoryPerson.objects.filter(username__in=gone).delete()
        DirectoryPerson.objects.bulk_create(
            [DirectoryPerson(username=name, seen_at=now) for name in sorted(listed - known)],
            ignore_conflicts=True,
        )
        closed = User.objects.filter(is_active=False).values_list("username", flat=True)
        back = Deactivation.objects.filter(by=DIRECTORY, username__in=sorted(listed))
        back.exclude(username__in=list(closed)).delete()
    return gone


def ldap_leavers(*, now: datetime) -> list[str]:
    """Look every LDAP account up: close who is gone, bring the roles of the others up to date.

    Does nothing without a service account. Stops at the first failure of the server.

    Raises:
        ExternalFailure: the server does not answer.
    """
    # Who is gone is closed also while a role names a lake that is governed no more.
    config = sign_in_config(check_lakes=False)
    ldap = Ldap(config.ldap) if config.ldap else None
    if ldap is None or not ldap.can_look_up:
        return []
    rows = SignInIdentity.objects.filter(way=Way.LDAP, user__is_active=True)
    accounts = list(rows.select_related("user").order_by("pk"))
    found = [(row, ldap.look_up(row.user.username)) for row in accounts]
    gone = [
        row.user.username
        for row, identity in found
        # Another person by the same name is not this one.
        if identity is None or identity.subject != row.subject
    ]
    if too_many_left(len(gone), of=len(accounts)):
        _log.error("ldap: %d of %d people are gone; nobody is closed", len(gone), len(accounts))
        return []
    for username in gone:
        _leave(username, by=LDAP, reason="No longer in the LDAP directory.", now=now)
    for row, identity in found:
        if identity is not None and identity.subject == row.subject:
            try:
                person_arrives(identity, Way.LDAP, config=config, now=now)
            except (NotAllowed, RuleViolation) as error:
                _log.info("%s: %s", row.user.username, error.code)
    return gone


def _leave(username: str, *, by: str, reason: str, now: datetime) -> None:
    with transaction.atomic():
        _, is_new = Deactivation.objects.get_or_create(
            username=username,
            defaults={"at": now, "by": by, "reason": reason.strip()[:_REASON_LENGTH]},
        )
        account = User.objects.select_for_update().filter(username=username).first()
        if account is not None:
            tokens_end_of(account, by=by, now=now)
        if account is not None and account.is_active:
            account.is_active = False
            account.save(update_fields=["is_active"])
            sessions_end(account)
        elif not is_new:
            return
        audit_person("person.left", username, actor=by, data={"reason": reason}, now=now)


def _account(username: str) -> User:
    account = User.objects.filter(username=username).first()
    if account is None:
        raise NotVisible("person.unknown", "There is no account of that name.")
    return account


def _check_admin(user: User, reason: str) -> None:
    if not user.is_portal_admin:
        raise NotAllowed("person.role", "Only an admin disables or enables accounts.")
    check_reason(reason, "person.reason", "Enter a reason; it is kept in the audit record.")
