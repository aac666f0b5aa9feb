"""API of incidents. It does all that the pages do."""

from django.utils import timezone

from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from quality.incidents.api.serializers import (
    AssignIncidentSerializer,
    IncidentDetailSerializer,
    IncidentSerializer,
    IncidentVersionSerializer,
    ReopenIncidentSerializer,
    ResolveIncidentSerializer,
)
from quality.incidents.domain.states import Resolution
from quality.incidents.selectors.incidents import (
    ORDERS,
    IncidentFilter,
    get_incident_for_user,
    incidents_visible,
)
from quality.incidents.services.acting import (
    Act,
    incident_acknowledge,
    incident_assign,
    incident_reopen,
    incident_resolve,
)
from quality.models import Incident


class IncidentList(KeysetList):
    """Incidents."""

    operation_id = "incidents_list"
    serializer_class = IncidentSerializer
    filterset_class = IncidentFilter
    orders = ORDERS

    def get_queryset(self) -> Rows:
        """List the incidents of tables that you may see."""
        self.filter_values = {"user": self.user}
        return incidents_visible(self.lake, self.user)


class IncidentView(ApiView):
    """What the operations on one incident share."""

    def found(self, incident_id: int) -> Incident:
        """Return the incident, if the person may see it."""
        return get_incident_for_user(incident_id, self.user)

    @property
    def act(self) -> Act:
        """Who acts, and on which version."""
        return Act(self.user, self.data["version"], timezone.now())


class IncidentDetail(IncidentView):
    """One incident."""

    @operation("incidents_get", answer=IncidentDetailSerializer)
    def get(self, incident_id: int) -> object:
        """Return an incident with its windows and steps."""
        return self.found(incident_id)


class IncidentAcknowledge(IncidentView):
    """Acknowledging."""

    @operation(
        "incidents_acknowledge", body=IncidentVersionSerializer, answer=IncidentDetailSerializer
    )
    def post(self, incident_id: int) -> object:
        """Take an incident, so that it does not escalate; it is assigned to you."""
        return incident_acknowledge(self.found(incident_id), self.act)


class IncidentAssign(IncidentView):
    """Assigning."""

    @operation("incidents_assign", body=AssignIncidentSerializer, answer=IncidentDetailSerializer)
    def post(self, incident_id: int) -> object:
        """Give an incident to somebody who may see the table, and who gets a mail."""
        return incident_assign(self.found(incident_id), self.act, to=self.data["assignee"])


class IncidentResolve(IncidentView):
    """Resolving."""

    @operation("incidents_resolve", body=ResolveIncidentSerializer, answer=IncidentDetailSerializer)
    def post(self, incident_id: int) -> object:
        """Close an incident with a reason."""
        return incident_resolve(
            self.found(incident_id),
            self.act,
            resolution=Resolution(self.data["resolution"]),
            reason=self.data["reason"],
        )


class IncidentReopen(IncidentView):
    """Reopening."""

    @operation("incidents_reopen", body=ReopenIncidentSerializer, answer=IncidentDetailSerializer)
    def post(self, incident_id: int) -> object:
        """Open a closed incident again."""
        return incident_reopen(self.found(incident_id), self.act, reason=self.data["reason"])
