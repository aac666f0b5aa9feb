"""Who can be written to about the lake's data: people of the directory and of the portal."""

from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from portal.access.models import ADMIN, DatabaseAdministrator, User
from portal.connectors.directory import Directory
from portal.notices.addresses import address_problem


@dataclass(frozen=True)
class People:
    """Mail addresses by user name, a database's administrators, and the lake's admins."""

    addresses: dict[str, str]
    admins: tuple[str, ...]
    administrators: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, lake: str) -> "People":
        """Read who is known now; an address in the directory goes before the portal's own.

        Who has left (their account is closed) and whose address is none cannot be written to.
        """
        users = User.objects.filter(is_active=True).exclude(email="")
        addresses = dict(users.values_list("username", "email"))
        directory = directory_read()
        addresses |= {name: person.email for name, person in directory.people.items()}
        admins = User.objects.filter(is_active=True, groups__name=ADMIN).order_by("username")
        rows = DatabaseAdministrator.objects.filter(lake=lake).order_by("db", "username")
        administrators: dict[str, tuple[str, ...]] = {}
        for db, username in rows.values_list("db", "username"):
            administrators[db] = (*administrators.get(db, ()), username)
        left = set(User.objects.filter(is_active=False).values_list("username", flat=True))
        reachable = {
            name: address
            for name, address in addresses.items()
            if name not in left and not address_problem(address)
        }
        return cls(
            addresses=reachable,
            admins=tuple(
                name for name in admins.values_list("username", flat=True) if name in reachable
            ),
            administrators=administrators,
        )


def directory_read() -> Directory:
    """Read the company's directory; a deployment without one has no people in it."""
    path = Path(settings.LAKEWARDEN_DIRECTORY)
    return Directory.load(path) if path.exists() else Directory({}, {})
