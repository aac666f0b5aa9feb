"""API of API tokens. It requires a log-in: no token creates another."""

from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.response import Response

from portal.access.fresh import check_fresh
from portal.people.models import ApiToken
from portal.people.selectors import tokens_for_user
from portal.people.token_rules import MOST_CHARS, MOST_DAYS, TokenParams
from portal.people.tokens import token_end, token_make
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
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


class TokenParamsSerializer(serializers.Serializer[None]):
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


class TokenList(KeysetList):
    """API tokens."""

    operation_id = "tokens_list"
    page_name = "Token"
    serializer_class = TokenRowSerializer
    filterset_class = TokenFilter
    orders = ORDERS

    def get_queryset(self) -> Rows:
        """List your tokens; admins and operators see all."""
        return tokens_for_user(self.user, now=timezone.now())

    @operation("tokens_make", body=TokenParamsSerializer, answer=TokenMadeSerializer, status=201)
    def post(self) -> object:
        """Make a token (with a fresh log-in); its secret is in this answer and nowhere else."""
        now = timezone.now()
        check_fresh(self.request._request, now)
        data = self.data
        wish = TokenParams(data["name"], tuple(data["scopes"]), data["days"])
        made = token_make(data["owner"] or self.user.username, wish, user=self.user, now=now)
        shown = {**TokenSerializer(made.token).data, "secret": made.secret}
        return Response(shown, status=201, headers={"Cache-Control": "no-store"})


class TokenEnd(ApiView):
    """Ending an API token."""

    @operation("tokens_end", answer=TokenSerializer)
    def post(self, token_id: UUID) -> object:
        """End a token of yours (admins and operators: any)."""
        return token_end(token_id, user=self.user, now=timezone.now())
