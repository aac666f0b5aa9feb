"""Queries of visible incidents, of those that wait for a person, and of one with its history."""

from collections.abc import Sequence

import django_filters as filters
from django.db.models import Q, QuerySet

from portal.access.models import User
from portal.access.roles.domain import ADMIN, OPERATOR, lakes_with
from portal.access.visibility import answered_by
from portal.lake.errors import NotVisible
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import ListFilter, prefix
from quality.checks.domain.rules import Severity
from quality.incidents.domain.states import State, Team
from quality.models import Incident, IncidentEvent, IncidentWindow

ORDERS = {
    "-opened": ("-opened_at",),
    "opened": ("opened_at",),
    "-failed": ("-failed_at",),
    "failed": ("failed_at",),
}
ANY_UNCLOSED = "UNCLOSED"
MINE, NOBODY = "mine", "nobody"
MOST_EVENTS = 200
"""Of a history the newest are shown."""
SEVERITIES = [(one.value, one.value.capitalize()) for one in Severity if one is not Severity.NOTE]


def _states() -> list[tuple[str, str]]:
    words = [(one.value, badge_for(f"INCIDENT_{one}").word) for one in State]
    return [(ANY_UNCLOSED, "Not closed"), *words]


class IncidentFilter(ListFilter):
    """Incidents by state, severity, table, rule, and who has to look at them."""

    state = filters.ChoiceFilter(
        choices=_states, label="State", empty_label="Any", method="in_state"
    )
    severity = filters.ChoiceFilter(choices=SEVERITIES, label="Severity", empty_label="Any")
    db = prefix("db", "Database")
    table = prefix("table", "Table")
    rule = prefix("rule", "Rule")
    who = filters.ChoiceFilter(
        choices=[(MINE, "Me"), (NOBODY, "A team, nobody of it")],
        label="Assigned to",
        empty_label="Anybody",
        method="waiting_for",
    )
    assignee = filters.CharFilter(label="Person")

    class Meta:
        model = Incident
        fields: list[str] = []

    def __init__(self, *args: object, user: User, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def in_state(self, rows: QuerySet[Incident], _name: str, value: str) -> QuerySet[Incident]:
        """Keep those of one state, or all that are not closed."""
        if value == ANY_UNCLOSED:
            return rows.filter(is_open__in=(True,))
        return rows.filter(state=value)

    def waiting_for(self, rows: QuerySet[Incident], _name: str, value: str) -> QuerySet[Incident]:
        """Keep those that wait for the person who looks, or that no person has."""
        return rows.filter(mine(self.user) if value == MINE else Q(assignee=""))


def mine(user: User) -> Q:
    """Return the condition for what a person has to look at, alone or as one of a team."""
    of_team = Q(pk__in=[])
    for team, role in ((Team.OPERATORS, OPERATOR), (Team.ADMINS, ADMIN)):
        lakes = lakes_with(user.grants, {role})
        if lakes is None:
            of_team |= Q(team=team.value)
        elif lakes:
            of_team |= Q(team=team.value, lake__in=sorted(lakes))
    of_owner = Q(team=Team.OWNER.value) & answered_by(user.username)
    return Q(assignee=user.username) | Q(assignee="") & (of_team | of_owner)


def incidents_visible(lake: str, user: User) -> QuerySet[Incident]:
    """Return the incidents of a lake that the person may see."""
    return Incident.objects.for_user(user).filter(lake=lake)


def get_incident_for_user(incident_id: int, user: User) -> Incident:
    """Return one incident.

    Raises:
        NotVisible: `incident.unknown`, there is none for this person.
    """
    found = Incident.objects.for_user(user).filter(pk=incident_id).first()
    if found is None:
        raise NotVisible(
            "incident.unknown", "There is no such incident for you.", incident=incident_id
        )
    return found


def windows_of(row: Incident) -> Sequence[IncidentWindow]:
    """Return the windows that are kept of an incident, those that failed last first."""
    return list(row.windows.order_by("-failed_at", "-window"))


def events_of(row: Incident) -> Sequence[IncidentEvent]:
    """Return the newest steps of an incident, the last one first."""
    return list(row.events.order_by("-at", "-pk")[:MOST_EVENTS])


def n_unclosed(lake: str, user: User) -> int:
    """Count the incidents of a lake that the person may see and that are not closed."""
    return Incident.objects.unclosed().for_user(user).filter(lake=lake).count()
