"""API of people and the names of service accounts."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.access.fresh import check_fresh
from portal.access.models import OwnerPerson, User
from portal.people.leavers import person_close, person_reopen
from portal.people.owners import MOST_PEOPLE, owner_set
from portal.people.selectors import owners_mapped, people_all
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person
from portal.ui.people_filters import OwnerFilter, PeopleFilter
from portal.ui.views import owners as owners_page
from portal.ui.views import people as people_page


class PersonSerializer(serializers.Serializer[User]):
    """One account."""

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
    left_why = serializers.CharField(read_only=True, allow_null=True)


class OwnerSerializer(serializers.Serializer[OwnerPerson]):
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


class OwnerPeopleSerializer(serializers.Serializer[object]):
    """Who stands behind a name now."""

    owner = serializers.CharField(read_only=True)
    people = serializers.ListField(child=serializers.CharField(), read_only=True)


class PersonList(APIView):
    """Accounts."""

    @extend_schema(
        operation_id="people_list",
        responses=page_of("Person", PersonSerializer),
        parameters=list_parameters("username", "role", "way", "state"),
    )
    def get(self, request: Request) -> Response:
        """List the accounts (admins and operators)."""
        people_page.check_keeper(request._request)
        return keyset_response(
            request,
            people_all(),
            filter_class=PeopleFilter,
            orders=people_page.ORDERS,
            show=lambda row: dict(PersonSerializer(people_page.named(row)).data),
        )


class PersonClose(APIView):
    """Closing an account."""

    @extend_schema(operation_id="people_close", request=ReasonSerializer, responses={204: None})
    def post(self, request: Request, username: str) -> Response:
        """Close an account (admins, with a fresh log-in)."""
        return _change(request, username, is_open=False)


class PersonReopen(APIView):
    """Opening an account again."""

    @extend_schema(operation_id="people_reopen", request=ReasonSerializer, responses={204: None})
    def post(self, request: Request, username: str) -> Response:
        """Open a closed account again (admins, with a fresh log-in)."""
        return _change(request, username, is_open=True)


class OwnerList(APIView):
    """People behind owners' names."""

    @extend_schema(
        operation_id="owners_list",
        responses=page_of("Owner", OwnerSerializer),
        parameters=list_parameters("owner", "username", "state"),
    )
    def get(self, request: Request) -> Response:
        """List who stands behind which name (admins and operators)."""
        people_page.check_keeper(request._request)
        return keyset_response(
            request,
            owners_mapped(current_lake(request)),
            filter_class=OwnerFilter,
            orders=owners_page.ORDERS,
            show=lambda row: dict(OwnerSerializer(row).data),
        )

    @extend_schema(
        operation_id="owners_set", request=OwnerChangeSerializer, responses=OwnerPeopleSerializer
    )
    def post(self, request: Request) -> Response:
        """Say who stands behind a name (admins, with a fresh log-in)."""
        people_page.check_keeper(request._request)
        now = timezone.now()
        check_fresh(request._request, now)
        body = OwnerChangeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        after = owner_set(
            current_lake(request),
            said["owner"],
            said["people"],
            user=person(request),
            reason=said["reason"],
            now=now,
        )
        return Response({"owner": said["owner"], "people": list(after)})


def _change(request: Request, username: str, *, is_open: bool) -> Response:
    people_page.check_keeper(request._request)
    now = timezone.now()
    check_fresh(request._request, now)
    reason = said_reason(request)
    step = person_reopen if is_open else person_close
    step(username, user=person(request), reason=reason, now=now)
    return Response(status=204)
