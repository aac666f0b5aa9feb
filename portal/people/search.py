"""Finds people by the beginning of a name, for fields that ask for a person."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from portal.access.models import User
from portal.connectors.directory import directory_read
from portal.people.deprovisioning import departed

MOST_FOUND = 20


@dataclass(frozen=True, slots=True)
class FoundPerson:
    """Somebody who is here: the user name, and the name as people write it."""

    username: str
    name: str


def people_found(text: str) -> list[FoundPerson]:
    """Return people whose user name, name or a further name begins so; at most `MOST_FOUND`.

    They are people of the directory and of the portal who have not left; nothing for no text.
    """
    wanted = text.strip().casefold()
    if not wanted:
        return []
    begins = Q(username__istartswith=wanted) | Q(first_name__istartswith=wanted)
    begins |= Q(first_name__icontains=f" {wanted}")
    users = User.objects.filter(begins, is_active=True).order_by("username")
    found = dict(users.values_list("username", "first_name")[:MOST_FOUND])
    for username, person in directory_read(Path(settings.LAKEWARDEN_DIRECTORY)).people.items():
        if any(part.startswith(wanted) for part in _parts(username, person.name)):
            found[username] = person.name
    gone = departed()
    return [
        FoundPerson(username, found[username]) for username in sorted(found) if username not in gone
    ][:MOST_FOUND]


def shown_name(username: str) -> str:
    """Return a person's name as a letter begins with it: the user name where none is known."""
    person = directory_read(Path(settings.LAKEWARDEN_DIRECTORY)).person(username)
    if person is not None and person.name.strip():
        return person.name.strip()
    names = User.objects.filter(username=username).values_list("first_name", "last_name")
    return " ".join(" ".join(names[0]).split() if names else []) or username


def _parts(username: str, name: str) -> list[str]:
    whole = name.casefold()
    return [username.casefold(), whole, *whole.split()]
