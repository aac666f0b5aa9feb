"""Adds people, their roles and the databases they are responsible for to the portal."""

from collections.abc import Collection
from pathlib import Path

from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models.functions import Lower

from portal.access.lakes import all_lakes
from portal.access.models import DatabaseAdministrator, LakeRole, User
from portal.access.roles.domain import RoleGrant, read_grants
from portal.connectors.directory import Directory
from portal.lake.errors import RuleViolation


def person_create(
    username: str, *, password: str, email: str, name: str = "", roles: Collection[str] | None = ()
) -> User:
    """Create a person or bring one up to date; called twice it changes nothing.

    A role is on all lakes, or on one where it says so: `admin@archive`. They have exactly these
    roles then, and nothing records it; None leaves those that they have.

    Raises:
        RuleViolation: an unknown role or lake, no valid name or mail address, a weak password.
    """
    grants = None if roles is None else read_grants(roles, lakes=all_lakes())
    _check(User(username=username, email=email))
    with transaction.atomic():
        user, _ = User.objects.update_or_create(
            username=username, defaults={"email": email, "first_name": name[:150]}
        )
        if not user.check_password(password):
            try:
                validate_password(password, user)
            except ValidationError as error:
                raise RuleViolation("person.password", " ".join(error.messages)) from None
            user.set_password(password)
            user.save(update_fields=["password"])
        if grants is not None:
            roles_set(user, grants)
    return user


def roles_set(user: User, grants: Collection[RoleGrant]) -> None:
    """Give a person exactly these roles, in the caller's transaction; twice it changes nothing."""
    everywhere = sorted(grant.role for grant in grants if not grant.lake)
    user.groups.set([Group.objects.get_or_create(name=role)[0] for role in everywhere])
    wanted = {(grant.role, grant.lake) for grant in grants if grant.lake}
    known = {(row.role, row.lake): row.pk for row in LakeRole.objects.filter(user=user)}
    gone = [pk for key, pk in known.items() if key not in wanted]
    LakeRole.objects.filter(pk__in=gone).delete()
    LakeRole.objects.bulk_create(
        [LakeRole(user=user, role=role, lake=lake) for role, lake in sorted(wanted - set(known))]
    )
    # What was read of this person before is not so any more.
    user.__dict__.pop("grants", None)


def get_user(username: str) -> User | None:
    """Return the account of a name, whatever its case: the database tells `Ada` and `ada` apart."""
    rows = User.objects.annotate(plain=Lower("username")).filter(plain=username.lower())
    return rows.order_by("pk").first()


def _check(user: User) -> None:
    try:
        user.clean_fields(exclude=["password"])
    except ValidationError as error:
        words = " ".join(f"{field}: {' '.join(said)}" for field, said in error.message_dict.items())
        raise RuleViolation(
            "person.fields", f"{user.username[:150]!a} cannot be made: {words}"
        ) from None


def directory_sync(lake: str, *, path: Path) -> int:
    """Take over who administers which database; returns how many rows changed.

    The directory is the truth: rows it no longer has are removed. Twice it changes nothing.
    """
    directory = Directory.load(path)
    wanted = {
        (db, username) for db, names in directory.administrators.items() for username in names
    }
    with transaction.atomic():
        rows = DatabaseAdministrator.objects.filter(lake=lake)
        known = {(row.db, row.username): row.pk for row in rows}
        gone = [pk for key, pk in known.items() if key not in wanted]
        rows.filter(pk__in=gone).delete()
        new = [
            DatabaseAdministrator(lake=lake, db=db, username=username)
            for db, username in sorted(wanted - set(known))
        ]
        DatabaseAdministrator.objects.bulk_create(new)
    return len(gone) + len(new)
