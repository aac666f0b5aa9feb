"""Finds who has to look at an incident: a table's owner, who stands for them, or the staff."""

from collections.abc import Iterable

from portal.access.models import OwnerMapping, User
from portal.access.roles.domain import ADMIN, OPERATOR
from portal.access.selectors import people_of_lake
from portal.access.visibility import may_see
from portal.notices.reached import people_reached
from portal.people.deprovisioning import departed
from quality.incidents.domain.states import Team
from quality.models import CheckSet, Incident


def first_assignee(row: CheckSet) -> tuple[Team, str]:
    """Return who gets a new incident of a table: its owner, those behind it, or the operators."""
    people = _present(_behind(row.lake, row.owner))
    if not people:
        return Team.OPERATORS, ""
    return Team.OWNER, people[0].username if len(people) == 1 else ""


def seeing_person(username: str, incident: Incident) -> User | None:
    """Return a person who is here and may see the incident's table."""
    found = _seeing([username], incident)
    return found[0] if found else None


def recipients_of(incident: Incident) -> dict[str, str]:
    """Return who is written to of an incident now, with their addresses; all may see its table.

    Where nobody of them can be written to it is the operators, then the admins.
    """
    for names in (
        _responsible(incident),
        _members(OPERATOR, incident.lake),
        _members(ADMIN, incident.lake),
    ):
        found = people_reached(one.username for one in _seeing(names, incident))
        if found:
            return found
    return {}


def _responsible(incident: Incident) -> list[str]:
    if incident.assignee:
        return [incident.assignee]
    if incident.team == Team.OWNER:
        return _behind(incident.lake, incident.owner)
    role = OPERATOR if incident.team == Team.OPERATORS else ADMIN
    return _members(role, incident.lake)


def _behind(lake: str, owner: str) -> list[str]:
    """Return who answers for an owner's name: those whom an admin named, else its own person."""
    if not owner:
        return []
    rows = OwnerMapping.objects.filter(lake=lake, owner=owner).order_by("username")
    return list(rows.values_list("username", flat=True)) or [owner]


def _members(role: str, lake: str) -> list[str]:
    return list(people_of_lake({role}, lake).values_list("username", flat=True))


def _present(names: Iterable[str]) -> list[User]:
    left = departed()
    rows = User.objects.filter(username__in=set(names), is_active=True).order_by("username")
    return [one for one in rows if one.username not in left]


def _seeing(names: Iterable[str], incident: Incident) -> list[User]:
    hive = incident.hive
    return [one for one in _present(names) if may_see(one, hive, owner=incident.owner)]
