"""API of API tokens. It requires a log-in: no token creates another."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.access.fresh import check_fresh
from portal.people.models import ApiToken
from portal.people.selectors import tokens_for_user
from portal.people.token_rules import MOST_CHARS, MOST_DAYS, TokenWish
from portal.people.tokens import token_end, token_make
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import page_of
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import person
from portal.ui.people_filters import TokenFilter
from portal.ui.views.tokens import ORDERS


class TokenSerializer(serializers.Serializer[ApiToken]):
    """One token, without its secret."""

    id = serializers.UUIDField(read_only=True, source="public_id")
    name = serializers.CharField(read_only=True)
    owner = serializers.CharField(read_only=True, source="owner.username")
    scopes = serializers.ListField(child=serializers.CharField(), read_only=True)
    made_by = serializers.CharField(read_only=True)
    made_at = serializers.DateTimeField(read_only=True)
    expires_at = serializers.DateTimeField(read_only=True)
    last_used_at = serializers.DateTimeField(read_only=True, allow_null=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True)
    ended_by = serializers.CharField(read_only=True)


class TokenRowSerializer(TokenSerializer):
    """One token of the list."""

    state = serializers.CharField(read_only=True, help_text="LIVE, EXPIRED, ENDED or LEFT")


class TokenMadeSerializer(TokenSerializer):
    """A new token with its secret, which is given only now."""

    secret = serializers.CharField(read_only=True)


class TokenWishSerializer(serializers.Serializer[None]):
    """What a token is for."""

    name = serializers.CharField(max_length=MOST_CHARS)
    scopes = serializers.ListField(child=serializers.CharField(max_length=32), max_length=20)
    days = serializers.IntegerField(min_value=1, max_value=MOST_DAYS)
    owner = serializers.CharField(
        max_length=150,
        required=False,
        allow_blank=True,
        default="",
        help_text="A service account, for admins; else yourself.",
    )


class TokenList(APIView):
    """API tokens."""

    @extend_schema(
        operation_id="tokens_list",
        responses=page_of("Token", TokenRowSerializer),
        parameters=list_parameters("name", "owner", "state"),
    )
    def get(self, request: Request) -> Response:
        """List your tokens; admins and operators see all."""
        return keyset_response(
            request,
            tokens_for_user(person(request), now=timezone.now()),
            filter_class=TokenFilter,
            orders=ORDERS,
            show=lambda row: dict(TokenRowSerializer(row).data),
        )

    @extend_schema(
        operation_id="tokens_make",
        request=TokenWishSerializer,
        responses={201: TokenMadeSerializer},
    )
    def post(self, request: Request) -> Response:
        """Make a token (with a fresh log-in); its secret is in this answer and nowhere else."""
        now, user = timezone.now(), person(request)
        check_fresh(request._request, now)
        body = TokenWishSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        wish = TokenWish(said["name"], tuple(said["scopes"]), said["days"])
        made = token_make(said["owner"] or user.username, wish, user=user, now=now)
        shown = {**TokenSerializer(made.token).data, "secret": made.secret}
        return Response(shown, status=201, headers={"Cache-Control": "no-store"})


class TokenEnd(APIView):
    """Ending an API token."""

    @extend_schema(operation_id="tokens_end", request=None, responses=TokenSerializer)
    def post(self, request: Request, token_id: UUID) -> Response:
        """End a token of yours (admins and operators: any)."""
        token = token_end(token_id, user=person(request), now=timezone.now())
        return Response(TokenSerializer(token).data)
