"""Adds people, their roles and the databases they are responsible for to the portal."""

from collections.abc import Collection
from pathlib import Path

from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models.functions import Lower

from portal.access.models import DatabaseAdministrator, User
from portal.access.roles.domain import ROLES
from portal.connectors.directory import Directory
from portal.lake.errors import RuleViolation


def person_create(
    username: str, *, password: str, email: str, name: str = "", roles: Collection[str] = ()
) -> User:
    """Create a person or bring one up to date; called twice it changes nothing.

    Raises:
        RuleViolation: an unknown role, a name or mail address that is none, a weak password.
    """
    unknown = set(roles) - ROLES
    if unknown:
        raise RuleViolation("person.role", f"Unknown roles: {', '.join(sorted(unknown))}.")
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
        user.groups.set([Group.objects.get_or_create(name=role)[0] for role in roles])
    return user


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
