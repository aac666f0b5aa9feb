"""API of people and the names of service accounts."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from portal.access.fresh import check_fresh
from portal.access.models import OwnerMapping, User
from portal.people.deprovisioning import person_close, person_reopen
from portal.people.owners import MOST_PEOPLE, owner_set
from portal.people.search import FoundPerson, people_found
from portal.people.selectors import owners_mapped, people_all
from portal.ui.api.old_names import OldNames
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer
from portal.ui.people_filters import OwnerFilter, PeopleFilter
from portal.ui.views import owners as owners_page
from portal.ui.views import people as people_page


class PersonSerializer(OldNames, serializers.Serializer[User]):
    """One account."""

    old_names = {
        "left_why": "left_reason",
    }

    username = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True, source="first_name")
    email = serializers.CharField(read_only=True)
    roles = serializers.ListField(
        child=serializers.CharField(), source="role_names", read_only=True
    )
    way = serializers.CharField(read_only=True, help_text="local, oidc or ldap")
    state = serializers.CharField(read_only=True, help_text="HERE or LEFT")
    last_login = serializers.DateTimeField(read_only=True, allow_null=True)
    left_at = serializers.DateTimeField(read_only=True, allow_null=True)
    left_reason = serializers.CharField(read_only=True, allow_null=True)


class OwnerSerializer(serializers.Serializer[OwnerMapping]):
    """One person behind an owner's name."""

    owner = serializers.CharField(read_only=True)
    username = serializers.CharField(read_only=True)
    state = serializers.CharField(read_only=True, help_text="HERE or LEFT")
    added_by = serializers.CharField(read_only=True)
    added_at = serializers.DateTimeField(read_only=True)


class OwnerChangeSerializer(ReasonSerializer):
    """Exactly these people stand behind the name; none takes it off the map."""

    owner = serializers.CharField(max_length=128)
    people = serializers.ListField(
        child=serializers.CharField(max_length=150), max_length=MOST_PEOPLE, allow_empty=True
    )


class FoundPersonSerializer(serializers.Serializer[FoundPerson]):
    """Somebody whose name begins as asked."""

    username = serializers.CharField(read_only=True)
    name = serializers.CharField(read_only=True)


class PersonSearch(ApiView):
    """People by the beginning of a name."""

    @operation(
        "person_search_list",
        answer=FoundPersonSerializer,
        many=True,
        parameters=[OpenApiParameter("q", str, description="How a name begins.")],
    )
    def get(self) -> object:
        """Return up to 20 people whose user name or name begins so; nothing for no text."""
        return people_found(self.request.query_params.get("q", ""))


class OwnerPeopleSerializer(serializers.Serializer[object]):
    """Who is behind a name now."""

    owner = serializers.CharField(read_only=True)
    people = serializers.ListField(child=serializers.CharField(), read_only=True)


class PersonList(KeysetList):
    """Accounts."""

    operation_id = "people_list"
    serializer_class = PersonSerializer
    filterset_class = PeopleFilter
    orders = people_page.ORDERS

    def get_queryset(self) -> Rows:
        """List the accounts (admins and operators)."""
        people_page.check_portal_staff(self.request._request)
        return people_all()

    def completed(self, rows: list[Any]) -> list[Any]:
        """Name how each account stands."""
        return [people_page.named(row) for row in rows]


class PersonClose(ApiView):
    """Closing an account."""

    @operation("people_close", body=ReasonSerializer, status=204)
    def post(self, username: str) -> None:
        """Close an account (admins, with a fresh log-in)."""
        now = timezone.now()
        _check_fresh_staff(self.request._request, now)
        person_close(username, user=self.user, reason=self.data["reason"], now=now)


class PersonReopen(ApiView):
    """Opening an account again."""

    @operation("people_reopen", body=ReasonSerializer, status=204)
    def post(self, username: str) -> None:
        """Open a closed account again (admins, with a fresh log-in)."""
        now = timezone.now()
        _check_fresh_staff(self.request._request, now)
        person_reopen(username, user=self.user, reason=self.data["reason"], now=now)


class OwnerList(KeysetList):
    """People behind owners' names."""

    operation_id = "owners_list"
    serializer_class = OwnerSerializer
    filterset_class = OwnerFilter
    orders = owners_page.ORDERS

    def get_queryset(self) -> Rows:
        """List who is behind which name (admins and operators)."""
        owners_page.check_lake_staff(self.user, self.lake)
        return owners_mapped(self.lake)

    @operation("owners_set", body=OwnerChangeSerializer, answer=OwnerPeopleSerializer)
    def post(self) -> object:
        """Say who is behind a name (admins, with a fresh log-in)."""
        now, data = timezone.now(), self.data
        owners_page.check_lake_staff(self.user, self.lake)
        check_fresh(self.request._request, now)
        after = owner_set(
            self.lake, data["owner"], data["people"], user=self.user, reason=data["reason"], now=now
        )
        return {"owner": data["owner"], "people": list(after)}


def _check_fresh_staff(request: HttpRequest, now: datetime) -> None:
    people_page.check_portal_staff(request)
    check_fresh(request, now)
