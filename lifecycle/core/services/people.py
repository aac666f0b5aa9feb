"""Who can be written to about the lake's data: people of the directory and of the portal."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from django.conf import settings

from lifecycle.models import TableFinding
from lifecycle.notices.domain.notice import Responsible, people_behind, responsible_for
from portal.access.models import DatabaseAdministrator, User
from portal.access.roles.domain import ADMIN, OPERATOR
from portal.access.selectors import people_of_lake
from portal.connectors.directory import directory_read
from portal.notices.addresses import address_problem
from portal.people.deprovisioning import departed
from portal.people.owners import owner_map


@dataclass(frozen=True)
class People:
    """Mail addresses by user name, a database's administrators, and the lake's admins."""

    addresses: dict[str, str]
    admins: tuple[str, ...]
    administrators: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stand_for: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The people behind an owner's name that is no person's."""
    left: frozenset[str] = frozenset()

    def behind(self, *names: str) -> tuple[str, ...]:
        """Return the people that owners' names mean, each once."""
        return tuple(dict.fromkeys(people_behind(names, self.stand_for)))

    @classmethod
    def of(cls, lake: str) -> "People":
        """Read who is known now; an address in the directory goes before the portal's own.

        Who has left (their account is closed, or the directory has them no longer) and whose
        address is none cannot be written to.
        """
        users = User.objects.filter(is_active=True).exclude(email="")
        addresses = dict(users.values_list("username", "email"))
        directory = directory_read(Path(settings.LAKEWARDEN_DIRECTORY))
        addresses |= {name: person.email for name, person in directory.people.items()}
        admins = people_of_lake({ADMIN}, lake).values_list("username", flat=True)
        rows = DatabaseAdministrator.objects.filter(lake=lake).order_by("db", "username")
        administrators: dict[str, tuple[str, ...]] = {}
        for db, username in rows.values_list("db", "username"):
            administrators[db] = (*administrators.get(db, ()), username)
        left = departed()
        reachable = {
            name: address
            for name, address in addresses.items()
            if name not in left and not address_problem(address)
        }
        return cls(
            addresses=reachable,
            admins=tuple(name for name in admins if name in reachable),
            administrators=administrators,
            stand_for=owner_map(lake),
            left=left,
        )


def keepers(people: People, lake: str) -> list[str]:
    """Return a lake's admins and operators who can be written to."""
    operators = people_of_lake({OPERATOR}, lake)
    names = {*people.admins, *operators.values_list("username", flat=True)}
    return sorted(name for name in names if name in people.addresses)


def responsible_of(table: TableFinding, people: People) -> Responsible:
    """Return who is told about a table; the lake's admins when nobody named for it is known."""
    found = responsible_for(
        table_owner=table.owner,
        db_owner=table.db_owner,
        db_administrators=people.administrators.get(table.db, ()),
        known=people.addresses.keys(),
        fallback=people.admins,
        stand_for=people.stand_for,
    )
    return replace(found, left=tuple(name for name in found.unknown if name in people.left))
