"""Finds who can be notified, and at which address."""

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet

from portal.access.models import User
from portal.access.roles.domain import STAFF
from portal.access.selectors import people_of_lake
from portal.connectors.directory import directory_read
from portal.notices.addresses import address_problem
from portal.people.deprovisioning import departed


def notified_staff(lake: str) -> dict[str, str]:
    """Return a lake's admins and operators who can be written to, with their addresses."""
    return _reached(people_of_lake(STAFF, lake))


def people_reached(names: Iterable[str]) -> dict[str, str]:
    """Return those of the named people who have an account and can be written to."""
    return _reached(User.objects.filter(username__in=set(names)))


def get_notified_user(username: str) -> str:
    """Return the address of a person; nothing for who left, is unknown, or has none."""
    if username in departed():
        return ""
    people = directory_read(Path(settings.LAKEWARDEN_DIRECTORY)).people
    if username in people:
        email = people[username].email
    else:
        user = User.objects.filter(username=username, is_active=True).first()
        email = user.email if user is not None else ""
    return "" if address_problem(email) else email


def _reached(users: QuerySet[User]) -> dict[str, str]:
    people = directory_read(Path(settings.LAKEWARDEN_DIRECTORY)).people
    left = departed()
    found = {
        user.username: people[user.username].email if user.username in people else user.email
        for user in users.filter(is_active=True).order_by("username")
        if user.username not in left
    }
    return {name: email for name, email in found.items() if not address_problem(email)}
